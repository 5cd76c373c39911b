import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, before, describe, test } from 'node:test';

import { type ApiAnswer, type ConsoleClient, signInByLink, tokenClient } from '../admin/console-client.ts';
import { eventually, post } from '../support/http.ts';
import { skipPostgres } from '../support/start-postgres.ts';
import { type ObjectStore, startObjectStore } from '../support/start-object-store.ts';
import type { ServedWeir } from '../support/start-weir.ts';
import { serveShared, useSharedParts } from './shared-weir.ts';

const phrase = 'a question that the bucket keeps';
const permissions = [
  'limits:write',
  'keys:read',
  'keys:write',
  'calls:read',
  'usage:read',
  'upstreams:write',
  'upstreams:read',
  'credits:write',
];

describe('two consoles and two gateways on one PostgreSQL, each with a role that has the least rights', { skip: skipPostgres }, () => {
  const parts = useSharedParts();
  const opened = new AsyncDisposableStack();
  let objects: ObjectStore;
  let gateways: readonly ServedWeir[];
  let operator: ConsoleClient;
  /** One operator at each console. */
  let operators: readonly ConsoleClient[];

  before(async () => {
    objects = opened.use(await startObjectStore());
    const config = {
      console: { readContent: true },
      content: { ceiling: 'full', batchSeconds: 1, sinks: { bucket: { type: 's3', s3: { ...objects.settings, prefix: 'weir/' } } } },
    };
    const serve = async (command: 'gateway' | 'console') =>
      opened.use(await serveShared(parts(), { command, config, environment: { WEIR_CONSOLE_PORT: '0' } }));
    gateways = [await serve('gateway'), await serve('gateway')];
    const consoles = [await serve('console'), await serve('console')];
    operator = await signInByLink(consoles[0]?.consoleUrl ?? '', consoles[0]?.consoleLink ?? '');
    operators = await Promise.all(
      consoles.map(async ({ consoleUrl }, number) => {
        const made = await operator.send('POST', '/api/v1/admin_tokens', { name: `operator ${number}`, permissions });
        assert.equal(made.status, 201, made.text);
        return tokenClient(consoleUrl, String(made.body['secret']));
      }),
    );
  });
  after(() => opened.disposeAsync());

  const ask = (gateway: ServedWeir, model = 'gpt-5-mini', content = 'Hello', secret = gateways[0]?.apiKey ?? '') =>
    post(
      `${gateway.gatewayUrl}/v1/chat/completions`,
      { model, messages: [{ role: 'user', content }] },
      { authorization: `Bearer ${secret}` },
    );
  const at = (number: number): ConsoleClient => operators[number] ?? assert.fail();
  const itemsOf = ({ body }: ApiAnswer) => body['items'] as readonly Readonly<Record<string, any>>[];

  test('a target that one console takes out gets calls of no gateway, until the other console puts it back', async () => {
    for (const gateway of gateways) assert.equal((await ask(gateway)).status, 200);
    const path = '/api/v1/targets/openai%2Fgpt-5-mini/override';
    const out = { state: 'out', until: new Date(Date.now() + 3_600_000).toISOString(), reason: 'maintenance' };
    const taken = await at(0).send('PUT', path, out, { 'if-match': '*' });
    assert.equal(taken.status, 200, taken.text);
    for (const gateway of gateways) {
      const refused = await eventually(
        () => ask(gateway),
        (answer) => answer.status !== 200,
      );
      assert.match(refused.text, /out of use/);
      assert.equal((await ask(gateway, 'gpt-4.1')).status, 200, 'other targets are used');
    }
    const before = parts().simulator.records().length;
    for (const gateway of gateways) await ask(gateway);
    assert.equal(parts().simulator.records().length, before, 'no call reached the vendor');
    const put = await at(1).send('DELETE', path, undefined, { 'if-match': String(taken.headers.get('etag')) });
    assert.equal(put.status, 204, put.text);
    for (const gateway of gateways)
      await eventually(
        () => ask(gateway),
        (answer) => answer.status === 200,
      );
  });

  test('of operators who change the same thing at two consoles at once one wins, and the other one gets what it has become', async () => {
    const path = '/api/v1/users/shared-nina';
    assert.equal((await operator.send('POST', '/api/v1/users', { name: 'shared-nina' })).status, 201);
    for (let round = 0; round < 10; round += 1) {
      const etag = String((await operator.send('GET', path)).headers.get('etag'));
      const limits = [{ requests_per_minute: 100 + round }, { requests_per_minute: 200 + round }];
      const answers = await Promise.all(
        operators.map((each, number) => each.send('PATCH', path, { limits: limits[number] }, { 'if-match': etag })),
      );
      const winner = answers.findIndex(({ status }) => status === 200);
      const [won, lost] = [answers[winner] ?? assert.fail(answers[0]?.text), answers[1 - winner] ?? assert.fail()];
      assert.deepEqual([won.status, lost.status, lost.body['code']], [200, 412, 'version_mismatch'], lost.text);
      assert.equal(lost.headers.get('etag'), won.headers.get('etag'));
      assert.deepEqual((lost.body['current'] as { limits: object }).limits, won.body['limits']);
      const present = await operator.send('GET', path);
      assert.equal((present.body['limits'] as { requests_per_minute: number }).requests_per_minute, limits[winner]?.requests_per_minute);
    }
    const rows = itemsOf(await operator.send('GET', '/api/v1/audit?subject=user:shared-nina&limit=50'));
    assert.equal(rows.length, 11, 'one row of its making, and one for each change that won');
  });

  test('a call of either gateway is captured, sealed, and read at either console', async () => {
    const [key] = itemsOf(await operator.send('GET', '/api/v1/keys'));
    const ordered = await operator.send('POST', '/api/v1/captures', { key_id: key?.['id'], calls: 100, minutes: 5 });
    assert.equal(ordered.status, 201, ordered.text);
    const kept = async () => itemsOf(await operator.send('GET', '/api/v1/captures')).flatMap((order) => order['kept'] as readonly any[]);
    const captured = new Set<string>();
    for (const gateway of gateways) {
      const ids = new Set<string>();
      await eventually(
        async () => {
          ids.add(String((await ask(gateway, 'gpt-5-mini', phrase)).headers['x-weir-request-id']));
          return (await kept()).map(({ call_id: id }) => String(id)).find((id) => ids.has(id));
        },
        (found) => found !== undefined && captured.add(found) !== undefined,
      );
    }
    for (const id of captured) {
      const wires = await operator.send('GET', `/api/v1/calls/${id}/wires`);
      assert.equal(wires.status, 200, wires.text);
      assert.match((wires.body['client_request'] as { body: string }).body, new RegExp(phrase));
      assert.match((wires.body['upstream_request'] as { body: string }).body, new RegExp(phrase));
    }
    assert.equal(captured.size, 2);
    const stored = await parts().server.query("select string_agg(encode(sealed, 'escape'), '') from captured_calls");
    assert.ok(stored.length > 100 && !stored.includes(phrase), 'nothing is readable in the database');
  });

  test('content goes to a bucket from every gateway, and an erasure takes it away', async () => {
    const made = await operator.send('POST', '/api/v1/keys', { user: 'shared-olaf', name: 'kept', content: 'full' });
    assert.equal(made.status, 201, made.text);
    const secret = String(made.body['secret']);
    for (const [number, gateway] of gateways.entries())
      assert.equal((await ask(gateway, 'gpt-5-mini', `${phrase} ${number}`, secret)).status, 200);
    const names = () => objects.requests.flatMap((one) => /^PUT \/[^/]+\/(weir\/content-[^?]+)/.exec(one)?.[1] ?? []);
    const texts = () => names().map((name) => readOr(objects.pathOf(name)));
    for (const number of gateways.keys())
      await eventually(
        async () => texts().some((text) => text.includes(`${phrase} ${number}`)),
        (isThere) => isThere,
      );
    const erased = await operator.send('POST', '/api/v1/content/erasures', { user: 'shared-olaf' });
    assert.ok(erased.status < 300, erased.text);
    await eventually(
      async () => texts().some((text) => text.includes(phrase)),
      (isThere) => !isThere,
    );
  });
});

/** The text of a file; empty if it was deleted. */
function readOr(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return '';
    throw error;
  }
}

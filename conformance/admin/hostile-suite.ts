import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';

import fc from 'fast-check';

import type { Operation } from '../../src/admin/operation.ts';
import { operations } from '../../src/admin/resources/registry.ts';
import { usualOrLong } from '../support/scale.ts';
import { type ServedConsole, serveConsole } from '../console/serve-console.ts';
import { type ConsoleClient, openBrowser, signInByLink } from './console-client.ts';

type Sent = { readonly params: readonly string[]; readonly query: string; readonly body: unknown };

/** A value near what a schema wants: of the right type and wrong, of another type, or too large. */
const anyValue = fc.oneof(
  fc.constantFrom<unknown>(
    null,
    true,
    -1,
    0,
    1e15,
    0.5,
    '',
    'x',
    'none',
    '25',
    '2026-11-26T00:00:00Z',
    '2026-02-30T00:00:00Z',
    [],
    {},
    ['x'],
    { a: 1 },
  ),
  fc.string({ unit: 'binary', maxLength: 20 }),
  fc.constant('x'.repeat(3000)),
);

/** Bodies that have the members of the operation's schema, with values that may not fit. */
function bodiesOf({ schemas }: Operation<never>): fc.Arbitrary<unknown> {
  if (schemas.body === undefined) return fc.constant(undefined);
  const names = Object.keys((schemas.body as { properties?: object }).properties ?? {});
  const members = fc.record(Object.fromEntries(names.map((name) => [name, anyValue])), { requiredKeys: [] });
  return fc.oneof(members, anyValue);
}

function requestsOf(operation: Operation<never>): fc.Arbitrary<Sent> {
  const places = operation.path.match(/\{\w+\}/g)?.length ?? 0;
  const text = fc.oneof(
    fc.constantFrom('admin', '0', '%00', '../..', '__proto__', 'req_01jd8', 'x'.repeat(300)),
    fc.string({ minLength: 1, maxLength: 20 }),
  );
  const names = [...Object.keys(operation.schemas.query?.properties ?? {}), 'other'];
  const query = fc
    .array(fc.tuple(fc.constantFrom(...names), fc.oneof(text, fc.constantFrom('-1', '1e9', 'true', '2026-13-01T00:00:00Z'))), {
      maxLength: 3,
    })
    .map((pairs) => new URLSearchParams(pairs).toString());
  return fc.record({ params: fc.array(text, { minLength: places, maxLength: places }), query, body: bodiesOf(operation) });
}

/** Wrong and repeated requests to every operation, on one engine. */
export function hostileSuite(store: 'sqlite' | 'postgres', skip: string | false): void {
  describe(`hostile requests to the admin API on ${store}`, { skip }, () => {
    let weir: ServedConsole;
    let operator: ConsoleClient;
    before(async () => {
      const config = 'console: { readContent: true, requestsPerMinute: 100000 }\n';
      weir = await serveConsole({ store, config });
      operator = await signInByLink(weir.consoleUrl, weir.consoleLink);
    });
    after(() => weir[Symbol.asyncDispose]());

    // These would end the session that the others need.
    const kept = operations.filter(({ id }) => !['session.delete', 'session.set_password', 'people.end_sessions'].includes(id));

    /** Requests that succeed, by the id of their operation, in an order in which each finds what it needs. */
    const succeeding: Readonly<Record<string, { readonly path?: string; readonly body?: object }>> = {
      'users.create': { body: { name: 'twice' } },
      'teams.create': { body: { name: 'twice-team' } },
      'keys.create': { body: { user: 'twice', name: 'key' } },
      'keys.import': { body: { user: 'twice', name: 'imported', sha256: 'ab'.repeat(32) } },
      'keys.batch': { body: { ids: ['key_none'], disabled: true } },
      'admin_tokens.create': { body: { name: 'twice', permissions: ['usage:read'] } },
      'billing_tokens.create': { body: { name: 'twice' } },
      'credits.post': { path: '/users/twice/transactions', body: { kind: 'top_up', usd: '5', reference: 'once' } },
      'credits.post_team': { path: '/teams/twice-team/transactions', body: { kind: 'grant', usd: '5', reference: 'once' } },
      'credits.post_organization': { path: '/organization/transactions', body: { kind: 'correct', usd: '-1', reference: 'once' } },
      'credits.verify': {},
      'audit.verify': {},
      'content.erase': { body: { user: 'twice' } },
      'callbacks.read_secret': { path: '/users/twice/callback_secret/read' },
      'callbacks.rotate_secret': { path: '/users/twice/callback_secret/rotate' },
      'config.check': { body: { yaml: 'limits: {}' } },
      'config.reload': {},
      'models.explain': { path: '/models/gpt-5-mini/explain', body: {} },
    };
    const posts = kept.filter(({ method, access, streams }) => method === 'POST' && access !== 'anybody' && streams === undefined);
    const rows = async () => ((await operator.send('GET', '/api/v1/audit?limit=1')).body['items'] as { sequence: number }[])[0]?.sequence;

    test('each POST that is sent again with its Idempotency-Key is done once, and another body under this key is refused', async () => {
      assert.deepEqual(
        Object.keys(succeeding).filter((id) => !posts.some((operation) => operation.id === id)),
        [],
      );
      const order = [...Object.keys(succeeding), ...posts.map(({ id }) => id).filter((id) => !(id in succeeding))];
      for (const id of order) {
        const operation = posts.find((each) => each.id === id) ?? assert.fail(id);
        const { path = operation.path.replaceAll(/\{\w+\}/g, 'none'), body } = succeeding[id] ?? {};
        const send = (sent?: object) =>
          operator.send('POST', `/api/v1${path}`, sent, { 'if-match': '*', 'idempotency-key': `twice-${id}` });
        const first = await send(body);
        const after = await rows();
        const second = await send(body);
        assert.equal(second.status, first.status, `${id}: ${first.text} ${second.text}`);
        if (id in succeeding) assert.ok(first.status < 300, `${id}: ${first.text}`);
        if (first.status >= 300) {
          assert.equal(second.body['code'], first.body['code'], id);
          continue;
        }
        assert.deepEqual([second.text, second.headers.get('idempotent-replayed')], [first.text, 'true'], id);
        assert.equal(await rows(), after, `${id}: the repetition is not in the audit log`);
        assert.equal((await send({ another: 'body' })).body['code'], 'idempotency_conflict', id);
      }
      const { body } = await operator.send('GET', '/api/v1/credits/balances?user=twice');
      assert.equal((body['items'] as { balance: { usd: string } }[])[0]?.balance.usd, '5');
    });

    for (const operation of kept) {
      test(`${operation.id}: wrong values of any kind are refused, and never a failure of the server`, async () => {
        await fc.assert(
          fc.asyncProperty(requestsOf(operation), async ({ params, query, body }) => {
            const values = [...params];
            const path = operation.path.replaceAll(/\{\w+\}/g, () => encodeURIComponent(values.shift() ?? ''));
            const answer = await operator.send(operation.method, `/api/v1${path}?${query}`, body, { 'if-match': '*' });
            assert.ok(answer.status < 500 && answer.status !== 429, `${answer.status} ${answer.text}`);
            if (answer.status >= 400) assert.equal(typeof answer.body['code'], 'string', answer.text);
          }),
          { numRuns: usualOrLong(4, 12) },
        );
      });

      test(`${operation.id}: without a session it is refused`, async () => {
        if (operation.access === 'anybody') return;
        const path = operation.path.replaceAll(/\{\w+\}/g, 'x');
        const answer = await openBrowser(weir.consoleUrl).send(operation.method, `/api/v1${path}`, undefined, { 'if-match': '*' });
        assert.deepEqual([answer.status, answer.body['code']], [401, 'unauthenticated']);
      });
    }
  });
}

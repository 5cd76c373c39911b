import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { pathToFileURL } from 'node:url';

import { openDatabase } from '../../src/main/assembly/open-data-directory.ts';
import { openPlaygroundKeys } from '../../src/main/assembly/open-playground.ts';
import { readEnvironment } from '../../src/main/environment.ts';
import { systemClock } from '../../src/platform/clock.ts';
import type { Store } from '../../src/store/store.ts';
import { eventually } from '../support/http.ts';
import { serveWeir } from '../support/serve-weir.ts';
import type { ServedWeir } from '../support/start-weir.ts';
import { type ApiAnswer, type ConsoleClient, signInByLink } from './console-client.ts';

const message = (text: string, more: object = {}) => ({
  model: 'claude-haiku-4-5',
  max_tokens: 40,
  messages: [{ role: 'user', content: text }],
  ...more,
});
const version = { 'anthropic-version': '2023-06-01' };

// The requests of docs/guide/admin-api.md are made here too, with other values.
describe('the playground', () => {
  let weir: ServedWeir;
  let store: Store;
  let operator: ConsoleClient;
  let owner: ConsoleClient;
  let viewer: ConsoleClient;
  const answers: string[] = [];
  const opened = new AsyncDisposableStack();

  before(async () => {
    weir = opened.use(
      await serveWeir({ environment: { WEIR_CONSOLE_PORT: '0' }, config: 'console: { requestsPerMinute: 100000 }\n', monitor: false }),
    );
    operator = await signInByLink(weir.consoleUrl, weir.consoleLink);
    await operator.send('PUT', '/api/v1/session/password', { password: 'a long enough passphrase' });
    for (const name of ['play-iris', 'play-jo']) await operator.send('POST', '/api/v1/users', { name });
    owner = await addPerson('owner', ['play-iris']);
    viewer = await addPerson('viewer');
    store = await openDatabase(readEnvironment({ WEIR_DATA_DIR: weir.dataDirectory }));
    opened.defer(() => store.close());
  });
  after(() => opened.disposeAsync());

  async function addPerson(role: string, users: readonly string[] = []): Promise<ConsoleClient> {
    const body = { name: `player ${role}`, role, ...(role === 'owner' && { users }) };
    const person = await operator.send('POST', '/api/v1/people', body);
    assert.equal(person.status, 201, person.text);
    return await signIn(String(person.body['id']));
  }
  async function signIn(personId: string): Promise<ConsoleClient> {
    const link = await operator.send('POST', `/api/v1/people/${personId}/link`);
    return await signInByLink(weir.consoleUrl, String(link.body['url']));
  }
  const noting = (answer: ApiAnswer): ApiAnswer => {
    answers.push(answer.text, JSON.stringify([...answer.headers]));
    return answer;
  };
  const makeKey = async (client: ConsoleClient, body: object): Promise<ApiAnswer> =>
    noting(await client.send('POST', '/api/v1/playground/keys', body));
  const relay = async (client: ConsoleClient, key: string, path: string, body?: object, method = body === undefined ? 'GET' : 'POST') =>
    noting(await client.send(method, `/api/v1/playground/relay${path}`, body, { 'x-weir-playground-key': key, ...version }));
  /** The secrets of a session as only the server can read them. */
  async function secretsOf(keyId: string): Promise<string> {
    const environment = readEnvironment({ WEIR_DATA_DIR: weir.dataDirectory });
    const keys = openPlaygroundKeys({ environment, store, clock: systemClock });
    const people = await store.listPeople();
    const sessions = (await Promise.all(people.map(({ id }) => store.listSessions(id)))).flat();
    const all = (await Promise.all(sessions.map(({ id }) => keys.list(id)))).flat();
    return keys.secretOf(all.find((key) => key.keyId === keyId) ?? assert.fail(keyId)) ?? assert.fail(keyId);
  }
  const callWith = async (secret: string): Promise<number> =>
    (await fetch(`${weir.gatewayUrl}/v1/models`, { headers: { 'x-api-key': secret } })).status;

  test('a person calls with a key whose secret is in no answer and no log of the console, nor in the database in clear', async () => {
    const made = await makeKey(owner, { user: 'play-iris', spend_total_usd: '1' });
    assert.deepEqual([made.status, made.body['user'], 'secret' in made.body], [201, 'play-iris', false], made.text);
    const id = String(made.body['id']);
    const secret = await secretsOf(id);
    assert.equal(await callWith(secret), 200);
    const called = await relay(owner, id, '/v1/messages', message('Hello'));
    assert.deepEqual([called.status, called.body['type']], [200, 'message'], called.text);
    const stream = await relay(owner, id, '/v1/messages', message('Hello', { stream: true }));
    assert.match(stream.text, /event: message_start[\s\S]*event: message_stop/);
    assert.match(stream.headers.get('content-type') ?? '', /^text\/event-stream/);
    const missing = await relay(owner, id, '/v1/messages', { model: 'nothing' });
    assert.deepEqual([missing.status, missing.body['type']], [400, 'error'], 'errors of the gateway are its own');
    for (const path of ['/health', '/v1/unknown', '/v1/callbacks/secret/rotate'])
      assert.equal((await relay(owner, id, path, {})).body['code'], 'not_found', path);
    noting(await owner.send('GET', '/api/v1/playground/keys'));
    noting(await operator.send('GET', '/api/v1/keys?user=play-iris'));
    noting(await operator.send('GET', '/api/v1/audit?limit=500'));
    const call = called.headers.get('x-weir-request-id') ?? '';
    await eventually(
      () => owner.send('GET', `/api/v1/calls/${call}`),
      ({ status, text }) => status === 200 && text.includes('play-iris'),
    );
    for (const text of [...answers, weir.output()]) assert.ok(!text.includes(secret), 'the secret is nowhere');
    const rows = await store.listPlaygroundKeys((await store.listSessions(await personOf('player owner')))[0]?.id ?? '', Date.now());
    assert.ok(rows.length > 0 && rows.every(({ sealed }) => !Buffer.from(sealed).includes(secret)));
  });

  const personOf = async (name: string): Promise<string> => (await store.findPerson({ name }))?.id ?? assert.fail(name);

  test('an owner pays with own users alone, others need the permission, and a key is of one session', async () => {
    assert.equal((await makeKey(owner, { user: 'play-jo', spend_total_usd: '1' })).status, 404);
    assert.equal((await makeKey(owner, { user: 'nobody', spend_total_usd: '1' })).status, 404);
    assert.equal((await makeKey(operator, { user: 'nobody', spend_total_usd: '1' })).status, 404);
    assert.equal((await makeKey(viewer, { user: 'play-iris', spend_total_usd: '1' })).body['code'], 'permission_required');
    assert.equal((await relay(viewer, 'x', '/v1/models')).body['code'], 'permission_required');
    for (const wrong of ['1001', '-1', '1e3', ''])
      assert.equal((await makeKey(owner, { user: 'play-iris', spend_total_usd: wrong })).body['code'], 'invalid_request', wrong);
    const made = await makeKey(operator, { user: 'play-iris', spend_total_usd: '1' });
    const id = String(made.body['id']);
    assert.equal((await relay(operator, id, '/v1/models')).status, 200);
    assert.equal((await relay(owner, id, '/v1/models')).status, 404, 'a key of the same user, of another session');
    assert.equal((await owner.send('DELETE', `/api/v1/playground/keys/${id}`)).status, 404);
    const token = await operator.send('POST', '/api/v1/admin_tokens', { name: 'player', permissions: ['playground:use'] });
    const asToken = await fetch(`${weir.consoleUrl}/api/v1/playground/keys`, {
      headers: { authorization: `Bearer ${String(token.body['secret'])}` },
    });
    assert.equal(((await asToken.json()) as { code: string }).code, 'conflict');
    assert.equal((await operator.send('DELETE', `/api/v1/playground/keys/${id}`)).status, 204);
    assert.equal((await relay(operator, id, '/v1/models')).status, 404);
  });

  test('limits of another key apply, and a key stops at its spend limit with the refusal of the interface', async () => {
    const limits = { models: ['claude-haiku-4-5'], requests_per_minute: 500, addresses: ['192.0.2.1'] };
    const other = await operator.send('POST', '/api/v1/keys', { user: 'play-jo', name: 'limited', limits });
    assert.equal((await makeKey(owner, { user: 'play-iris', spend_total_usd: '1', limits_of: other.body['id'] })).status, 404);
    const made = await makeKey(operator, { user: 'play-jo', spend_total_usd: '0.002', limits_of: other.body['id'] });
    const id = String(made.body['id']);
    const listed = (await operator.send('GET', '/api/v1/keys?user=play-jo')).body['items'] as {
      id: string;
      limits: Record<string, unknown>;
    }[];
    const own = listed.find((key) => key.id === id)?.limits;
    assert.deepEqual(
      [own?.['models'], own?.['requests_per_minute'], own?.['addresses'], own?.['spend_total_usd']],
      [['claude-haiku-4-5'], 500, null, '0.002'],
    );
    assert.equal((await relay(operator, id, '/v1/messages', message('Hi', { model: 'claude-sonnet-4-5' }))).status, 404);
    let refused: ApiAnswer | undefined;
    let answered = false;
    for (let calls = 0; calls < 20 && refused === undefined; calls += 1) {
      const answer = await relay(operator, id, '/v1/messages', message('Hi'));
      if (answer.status === 200) answered = true;
      else refused = answer;
    }
    assert.equal(answered, true);
    assert.deepEqual(
      [refused?.body['type'], (refused?.body['error'] as { code?: string } | undefined)?.code],
      ['error', 'spend_limit_reached'],
    );
  });

  test('the wires of a call are there for its session, and each reading is audited', async () => {
    const id = String((await makeKey(owner, { user: 'play-iris', spend_total_usd: '1' })).body['id']);
    // Gateways follow a capture within two seconds.
    const wires = await eventually(
      async () => {
        const called = await relay(owner, id, '/v1/messages', message('wires please'));
        return noting(await owner.send('GET', `/api/v1/playground/calls/${called.headers.get('x-weir-request-id')}/wires`));
      },
      ({ status }) => status === 200,
    );
    assert.deepEqual(Object.keys(wires.body).toSorted(), ['client_reply', 'client_request', 'upstream_reply', 'upstream_request']);
    assert.ok(!wires.text.includes(await secretsOf(id)));
    assert.equal((await owner.send('POST', `/api/v1/playground/keys/${id}/captures`)).body['code'], 'conflict');
    const [row] = (await operator.send('GET', '/api/v1/audit?action=content.read')).body['items'] as { actor: string; subject: string }[];
    assert.equal(row?.actor, 'person:player owner');
    const call = row?.subject.replace('call:', '') ?? '';
    assert.equal((await operator.send('GET', `/api/v1/playground/calls/${call}/wires`)).status, 404, 'of another session');
  });

  test('a file of 5 MB passes in both directions', async () => {
    const id = String((await makeKey(operator, { user: 'play-jo', spend_total_usd: '1' })).body['id']);
    const bytes = Buffer.alloc(5 * 1024 * 1024, 'weir ');
    const form = new FormData();
    form.set('purpose', 'user_data');
    form.set('file', new Blob([bytes]), 'large.txt');
    const headers = { cookie: operator.cookie(), 'sec-fetch-site': 'same-origin', 'x-weir-playground-key': id, 'x-weir-console': '1' };
    const path = `${weir.consoleUrl}/api/v1/playground/relay/v1/files`;
    const uploaded = await fetch(path, { method: 'POST', headers, body: form });
    const file = (await uploaded.json()) as { id: string; bytes: number };
    assert.deepEqual([uploaded.status, file.bytes], [200, bytes.length], JSON.stringify(file));
    const content = await fetch(`${path}/${file.id}/content`, { headers });
    assert.ok(Buffer.from(await content.arrayBuffer()).equals(bytes));
    assert.match(content.headers.get('content-security-policy') ?? '', /sandbox/);
    assert.equal((await fetch(`${path}/${file.id}`, { method: 'DELETE', headers })).status, 200);
  });

  test('a key ends with its session, in every gateway', async () => {
    const personId = await personOf('player owner');
    const second = await signIn(personId);
    const kept = String((await makeKey(owner, { user: 'play-iris', spend_total_usd: '1' })).body['id']);
    const ending = String((await makeKey(second, { user: 'play-iris', spend_total_usd: '1' })).body['id']);
    const [keptSecret, endingSecret] = [await secretsOf(kept), await secretsOf(ending)];
    assert.deepEqual([await callWith(keptSecret), await callWith(endingSecret)], [200, 200]);
    assert.equal((await second.send('DELETE', '/api/v1/session')).status, 204);
    await eventually(
      () => callWith(endingSecret),
      (status) => status === 401,
    );
    assert.equal(await callWith(keptSecret), 200);
    const keys = (await operator.send('GET', '/api/v1/keys?user=play-iris')).body['items'] as { id: string }[];
    assert.ok(!keys.some(({ id }) => id === ending) && keys.some(({ id }) => id === kept));
    const { body } = await operator.send('GET', `/api/v1/people/${personId}`);
    await operator.send('PATCH', `/api/v1/people/${personId}`, { disabled: true }, { 'if-match': '*' });
    await eventually(
      () => callWith(keptSecret),
      (status) => status === 401,
    );
    assert.equal(body['role'], 'owner');
  });

  test('the lines for TypeScript work with the official SDKs', async () => {
    const key = await operator.send('POST', '/api/v1/keys', { user: 'play-jo', name: 'snippets' });
    const folder = mkdtempSync(join(tmpdir(), 'weir-snippets-'));
    opened.defer(() => rmSync(folder, { recursive: true }));
    symlinkSync(join(import.meta.dirname, '../../node_modules'), join(folder, 'node_modules'));
    const requests: readonly (readonly [string, object, RegExp])[] = [
      ['/v1/messages', message('Hello', { stream: true }), /message_stop/],
      ['/v1/responses', { model: 'gpt-5-mini', input: 'Hello' }, /"object":"response"/],
      ['/v1/chat/completions', { model: 'gpt-5-mini', messages: [{ role: 'user', content: 'Hi' }] }, /chat\.completion/],
      [
        '/v1beta/models/gemini-2.5-flash:generateContent',
        { contents: [{ role: 'user', parts: [{ text: 'Hi' }] }], generationConfig: { maxOutputTokens: 20 } },
        /candidates/,
      ],
    ];
    const printed: string[] = [];
    const { log } = console;
    process.env['WEIR_API_KEY'] = String(key.body['secret']);
    // oxlint-disable-next-line no-console -- the lines print their answers
    console.log = (...values) => void printed.push(JSON.stringify(values));
    try {
      for (const [index, [path, body, shown]] of requests.entries()) {
        const lines = noting(await operator.send('POST', '/api/v1/playground/snippet', { path, body }));
        assert.equal(lines.status, 200, lines.text);
        const file = join(folder, `snippet-${index}.mjs`);
        writeFileSync(file, String(lines.body['typescript']));
        printed.length = 0;
        await import(pathToFileURL(file).href);
        assert.match(printed.join('\n'), shown, path);
        assert.ok(!lines.text.includes(String(key.body['secret'])));
      }
    } finally {
      // oxlint-disable-next-line no-console -- the console of the test again
      console.log = log;
      delete process.env['WEIR_API_KEY'];
    }
    const wrong = await operator.send('POST', '/api/v1/playground/snippet', { path: '/v1/../x', body: {} });
    assert.equal(wrong.body['code'], 'invalid_request');
  });
});

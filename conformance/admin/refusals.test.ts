import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect } from 'node:net';
import { after, before, describe, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';

import { serveWeir } from '../support/serve-weir.ts';
import type { ServedWeir } from '../support/start-weir.ts';
import { type ConsoleClient, signInByLink } from './console-client.ts';

type Item = Readonly<Record<'code' | 'message' | 'path' | 'request_id' | 'interface', string>> & {
  readonly status: number;
  readonly key_id: string | null;
  readonly user: string | null;
  readonly address: string | null;
  readonly model: string | null;
};

/** Requests that are sent at once on one connection, and how many of their answers have this status. */
async function pipeline(url: URL, request: string, count: number, status: string): Promise<number> {
  const socket = connect(Number(url.port), url.hostname);
  let seen = 0;
  let text = '';
  socket.on('data', (piece: Buffer) => {
    text += piece.toString('latin1');
    const parts = text.split(`HTTP/1.1 ${status}`);
    seen += parts.length - 1;
    text = parts.at(-1)?.slice(-20) ?? '';
    if (seen === count) socket.end();
  });
  for (let sent = 0; sent < count; sent += 100) if (!socket.write(request.repeat(100))) await once(socket, 'drain');
  await once(socket, 'close');
  return seen;
}

describe('the refusal log', () => {
  let weir: ServedWeir;
  let operator: ConsoleClient;
  let owner: ConsoleClient;
  let limited = '';
  let secret = '';
  let keyId = '';
  before(async () => {
    weir = await serveWeir({ environment: { WEIR_CONSOLE_PORT: '0' } });
    operator = await signInByLink(weir.consoleUrl, weir.consoleLink);
    await operator.send('PUT', '/api/v1/session/password', { password: 'a long enough passphrase' });
    const key = await operator.send('POST', '/api/v1/keys', { user: 'nora', name: 'ci', limits: { requests_per_minute: 1 } });
    limited = String(key.body['secret']);
    secret = String((await operator.send('POST', '/api/v1/keys', { user: 'nora', name: 'dev' })).body['secret']);
    keyId = String(key.body['id']);
    const person = await operator.send('POST', '/api/v1/people', { name: 'Olga', role: 'owner', users: ['nora'] });
    owner = await signInByLink(
      weir.consoleUrl,
      String((await operator.send('POST', `/api/v1/people/${String(person.body['id'])}/link`)).body['url']),
    );
  });
  after(() => weir[Symbol.asyncDispose]());

  const call = async (path: string, headers: Record<string, string>, body?: unknown) => {
    const response = await fetch(`${weir.gatewayUrl}${path}`, {
      method: body === undefined ? 'GET' : 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    return { status: response.status, text: await response.text(), id: response.headers.get('x-weir-request-id') ?? '' };
  };
  /** Refusals are written within about a second. */
  async function find(client: ConsoleClient, query: string, count: number): Promise<readonly Item[]> {
    for (let tries = 0; tries < 100; tries += 1) {
      const answer = await client.send('GET', `/api/v1/refusals?${query}`);
      assert.equal(answer.status, 200, answer.text);
      const items = answer.body['items'] as Item[];
      if (items.length >= count) return items;
      await delay(50);
    }
    return assert.fail(`never ${count} refusals of ${query}`);
  }

  test('401, 400, 404 and 429 are explained by the sentence that the client got, without what it sent', async () => {
    const bearer = { authorization: `Bearer ${secret}` };
    const messages = [{ role: 'user', content: 'zebra zebra' }];
    const unknown = await call(
      '/v1/chat/completions?zebra=1',
      { authorization: 'Bearer sk-weir-zebra' },
      { model: 'gpt-5-mini', messages },
    );
    const chat = (body: object, headers = bearer) => call('/v1/chat/completions', headers, { model: 'gpt-5-mini', messages, ...body });
    const wrong = [
      await chat({ messages: [{ role: 'zebra dust', content: 'x' }] }),
      await chat({ temperature: 'zebra 7' }),
      await call(
        '/v1/messages',
        { 'x-api-key': secret, 'anthropic-version': '2023-06-01' },
        { model: 'claude-haiku-4-5', max_tokens: 'zebra', messages },
      ),
      await call('/v1beta/models/gemini-2.5-flash:generateContent', bearer, { contents: [{ role: 'zebra', parts: [{ text: 'zebra' }] }] }),
      await call('/v1/responses', bearer, { model: 'gpt-5-mini', input: [{ role: 'zebra', content: 'zebra' }], zebra_field: 1 }),
      await chat({ model: 'zebra-1' }),
      await call('/v1/zebra-9', bearer, {}),
      await call('/v1/responses/resp_zebra0000000000', bearer),
    ];
    for (const { status, text } of wrong) assert.ok(status === 400 || status === 404, `${status} ${text}`);
    const once = { authorization: `Bearer ${limited}` };
    assert.equal((await chat({}, once)).status, 200);
    const second = await chat({}, once);
    assert.deepEqual([unknown.status, second.status], [401, 429]);

    const all = await find(operator, 'limit=500', wrong.length + 2);
    assert.deepEqual(
      all.map(({ request_id }) => request_id),
      [unknown, ...wrong, second].map(({ id }) => id).toReversed(),
    );
    assert.doesNotMatch(JSON.stringify(all), /zebra/i);
    const [newest] = all;
    assert.deepEqual(
      { ...newest, message: undefined },
      {
        at: (newest as unknown as { at: string }).at,
        code: 'rate_limited',
        status: 429,
        message: undefined,
        key_id: keyId,
        user: 'nora',
        key: 'ci',
        address: '127.0.0.1',
        interface: 'openai-chat',
        path: '/v1/chat/completions',
        model: 'gpt-5-mini',
        request_id: second.id,
      },
    );
    assert.match(newest?.message ?? '', /requests/);
    const oldest = all.at(-1);
    assert.deepEqual([oldest?.code, oldest?.key_id, oldest?.user, oldest?.path], ['invalid_api_key', null, null, '/v1/chat/completions']);
    assert.equal(new Set(all.slice(0, -1).map(({ user }) => user)).size, 1, 'the key of every other request is known');
  });

  test('an owner sees the refusals of its own keys, and no unknown keys', async () => {
    const own = await find(owner, 'limit=500', 9);
    assert.deepEqual(new Set(own.map(({ user }) => user)), new Set(['nora']));
    assert.deepEqual((await owner.send('GET', '/api/v1/refusals?code=invalid_api_key')).body['items'], []);
    const page = await owner.send('GET', '/api/v1/refusals?limit=2');
    const next = await owner.send('GET', `/api/v1/refusals?limit=2&cursor=${String(page.body['next_cursor'])}`);
    assert.equal((next.body['items'] as Item[])[0]?.request_id, own[2]?.request_id);
    const foreign = await operator.send('GET', `/api/v1/refusals?limit=2&cursor=${String(page.body['next_cursor'])}`);
    assert.equal(foreign.body['code'], 'cursor_mismatch');
  });

  test('a flood of 10,000 refusals is answered, and at most 100 and 20 a second of it are kept', async () => {
    const url = new URL(weir.gatewayUrl);
    const request = `GET /v1/models HTTP/1.1\r\nhost: ${url.host}\r\nauthorization: Bearer sk-weir-flood\r\n\r\n`;
    const startedMs = performance.now();
    const answered = await Promise.all(Array.from({ length: 4 }, () => pipeline(url, request, 2500, '401')));
    const seconds = (performance.now() - startedMs) / 1000;
    assert.deepEqual(answered, [2500, 2500, 2500, 2500]);
    await find(operator, 'limit=500&code=invalid_api_key', 50);
    await delay(1100);
    const kept = (await find(operator, 'limit=500&code=invalid_api_key', 50)).length - 1;
    assert.ok(kept <= 100 + 20 * (seconds + 1), `${kept} in ${seconds} s`);
  });
});

import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';

import OpenAI from 'openai';
import { ResponsesWS } from 'openai/resources/responses/ws';

import { type Ledger, openLedger } from '../support/read-ledger.ts';
import { eventually, rawExchange } from '../support/http.ts';
import { type SimulatedWeir, startSimulatedProgram, startSimulatedGateway } from '../support/start-simulated-weir.ts';
import { openSocket, type SocketEvent } from './open-socket.ts';

const model = 'gpt-4.1';
const textOf = (events: readonly SocketEvent[]): string =>
  events
    .filter(({ type }) => type === 'response.output_text.delta')
    .map(({ delta }) => delta)
    .join('');
const steered = (text: string): string => `[[simulator ${text}]] Hello`;

describe('Responses over a WebSocket', () => {
  let running: SimulatedWeir;
  let ledger: Ledger;
  /** The rows of the calls to a model, once there are any. */
  const entriesOf = (name: string) =>
    eventually(
      async () => (await ledger.all()).filter(({ requestedModel }) => requestedModel === name),
      (all) => all.length > 0,
    );
  const open = (headers: Readonly<Record<string, string>> = {}) => openSocket(running.weir.gatewayUrl, running.weir.apiKey, headers);
  before(async () => {
    running = await startSimulatedGateway({
      models: Object.fromEntries(['slow', 'counted', 'warmed'].map((name) => [name, { targets: [{ upstream: 'openai', model }] }])),
    });
    ledger = await openLedger(running.weir.dataDirectory);
  });
  after(async () => {
    await ledger.close();
    await running[Symbol.asyncDispose]();
  });

  test('a response is the events of a stream, each a message, and is booked once', async () => {
    const socket = await open();
    socket.create({ model: 'counted', input: steered('text=Over%20the%20socket') });
    const events = await socket.rest();
    assert.equal(textOf(events), 'Over the socket');
    assert.deepEqual(
      events.map(({ sequence_number }) => sequence_number),
      events.map((_, index) => index),
    );
    assert.equal(events[0]?.type, 'response.created');
    assert.equal(events.at(-1)?.type, 'response.completed');
    const [entry, ...others] = await entriesOf('counted');
    assert.deepEqual(others, []);
    // A client of a socket does not receive a request id.
    const { id } = (events[0]?.response ?? assert.fail()) as { readonly id: string };
    const headers = { authorization: `Bearer ${running.weir.apiKey}` };
    const receipt = await fetch(`${running.weir.gatewayUrl}/v1/receipts/${id}`, { headers });
    assert.equal(((await receipt.json()) as { readonly request_id: string }).request_id, entry?.callId);
    await socket.close();
  });

  for (const [dialect, other] of [
    ['Messages', 'claude-sonnet-4-5'],
    ['generate-content', 'gemini-2.5-flash'],
  ] as const) {
    test(`an upstream of ${dialect} answers over it too`, async () => {
      const socket = await open();
      socket.create({ model: other, input: steered('text=Translated') });
      assert.equal(textOf(await socket.rest()), 'Translated');
      await socket.close();
    });
  }

  test('requests follow each other on one connection, also if they are sent at once', async () => {
    const socket = await open();
    for (const word of ['one', 'two', 'three']) socket.create({ model, input: steered(`text=${word}`) });
    for (const word of ['one', 'two', 'three']) assert.equal(textOf(await socket.rest()), word);
    await socket.close();
  });

  test('an unstored response can be continued on its connection and nowhere else', async () => {
    const socket = await open();
    socket.create({ model, store: false, input: steered('text=First') });
    const first = (await socket.rest()).at(-1)?.['response'];
    running.simulator.reset();
    socket.create({ model, store: false, previous_response_id: first.id, input: 'And then?' });
    const second = (await socket.rest()).at(-1)?.['response'];
    assert.equal(second.status, 'completed');
    assert.equal(second.previous_response_id, first.id);
    const [sent] = running.simulator.records();
    const items = (sent?.requestBody as { input: { role: string }[] } | undefined)?.input ?? [];
    assert.equal(items.length, 3);
    assert.equal(items[1]?.role, 'assistant');

    const other = await open();
    other.create({ model, store: false, previous_response_id: second.id, input: 'Here?' });
    const [error] = await other.rest();
    assert.deepEqual([error?.type, error?.['status'], error?.['error'].code], ['error', 400, 'previous_response_not_found']);
    assert.equal(error?.['error'].param, 'previous_response_id');
    // Only the last one is remembered.
    socket.create({ model, store: false, previous_response_id: first.id, input: 'Back?' });
    assert.equal((await socket.rest()).at(-1)?.['error'].code, 'previous_response_not_found');
    // And it is forgotten after the first failure.
    socket.create({ model, store: false, previous_response_id: second.id, input: 'Again?' });
    assert.equal((await socket.rest()).at(-1)?.['error'].code, 'previous_response_not_found');
    await Promise.all([socket.close(), other.close()]);
  });

  test('a request that generates nothing is free, and can be continued', async () => {
    const socket = await open();
    socket.create({
      model: 'warmed',
      store: false,
      generate: false,
      input: [{ type: 'message', role: 'developer', content: 'Be brief.' }],
    });
    const events = await socket.rest();
    const warm = events.at(-1)?.['response'];
    assert.deepEqual([warm.status, warm.output, warm.usage.total_tokens], ['completed', [], 0]);
    socket.create({ model: 'warmed', store: false, previous_response_id: warm.id, input: steered('text=Warm') });
    assert.equal(textOf(await socket.rest()), 'Warm');
    assert.equal((await entriesOf('warmed')).length, 1);
    await socket.close();
  });

  test('an invalid message is answered with an error event, and the connection stays open', async () => {
    const socket = await open();
    const wrong: readonly (readonly [string, string | null])[] = [
      ['nonsense', 'invalid_json'],
      ['[]', 'invalid_json'],
      ['{"type":"response.create","type":"response.create"}', 'duplicate_key'],
      ['{"type":"session.update"}', 'invalid_value'],
      [JSON.stringify({ type: 'response.create', model, input: 'x', background: true }), 'unsupported_parameter'],
      [JSON.stringify({ type: 'response.create', model, input: 'x', stream_id: 'a' }), 'unsupported_parameter'],
      [JSON.stringify({ type: 'response.create', input: 'x' }), 'missing_required_parameter'],
      [JSON.stringify({ type: 'response.create', model: 'nobody', input: 'x' }), 'model_not_found'],
    ];
    for (const [text, code] of wrong) {
      socket.webSocket.send(text);
      const event = await socket.next();
      assert.equal(event.type, 'error', text);
      assert.ok(event['status'] >= 400 && event['status'] < 500, text);
      assert.equal(event['error'].code, code, text);
    }
    socket.create({ model, input: steered('text=Still%20here') });
    assert.equal(textOf(await socket.rest()), 'Still here');
    await socket.close();
  });

  test('a failure of the upstream has its status', async () => {
    const socket = await open();
    socket.create({ model, input: steered('fault=status;status=429;retry-after=3') });
    const [error] = await socket.rest();
    assert.deepEqual([error?.type, error?.['status'], error?.['headers']['retry-after']], ['error', 429, '3']);
    socket.create({ model, input: steered('fault=reset-mid-stream') });
    const events = await socket.rest();
    assert.equal(events.at(-1)?.type, 'error');
    await socket.close();
  });

  test('a client that disconnects ends its call at the upstream, and pays for the received output', async () => {
    const socket = await open();
    socket.create({ model: 'slow', input: steered('output-tokens=1000 pace=tokensPerSecond=50;tokensPerFrame=1') });
    while ((await socket.next()).type !== 'response.output_text.delta');
    socket.webSocket.terminate();
    assert.deepEqual(
      (await entriesOf('slow')).map(({ end }) => end),
      ['client-left'],
    );
  });

  test('without a key, and on other paths, the upgrade is answered in HTTP', async () => {
    const upgrade = (path: string, key: string): string =>
      `GET ${path} HTTP/1.1\r\nhost: x\r\n${key}connection: Upgrade\r\nupgrade: websocket\r\nsec-websocket-version: 13\r\nsec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n`;
    const key = `authorization: Bearer ${running.weir.apiKey}\r\n`;
    const answers: readonly (readonly [string, string, RegExp])[] = [
      ['/v1/responses', '', /^HTTP\/1\.1 401 Unauthorized\r\n[^]*"error"/],
      ['/v1/responses', 'authorization: Bearer nobody\r\n', /^HTTP\/1\.1 401 /],
      ['/v1/chat/completions', key, /^HTTP\/1\.1 426 Upgrade Required\r\n[^]*"error"/],
      ['/v1/responses/resp_1', key, /^HTTP\/1\.1 426 /],
    ];
    for (const [path, header, expected] of answers)
      assert.match(await rawExchange(running.weir.gatewayUrl, upgrade(path, header)), expected);
  });

  test('a message above the size limit closes the connection', async () => {
    const socket = await open();
    socket.webSocket.on('error', () => {});
    socket.webSocket.send(Buffer.alloc(33 * 1024 * 1024, 0x20).toString());
    assert.ok([1006, 1009].includes(await socket.closed));
  });

  test('the official SDK can use it', async () => {
    const client = new OpenAI({ baseURL: `${running.weir.gatewayUrl}/v1`, apiKey: running.weir.apiKey });
    const socket = new ResponsesWS(client);
    const done = Promise.withResolvers<OpenAI.Responses.Response>();
    socket.on('response.completed', ({ response }) => done.resolve(response));
    socket.on('error', done.reject);
    socket.send({ type: 'response.create', model, input: steered('text=Official') });
    const response = await done.promise;
    const [item] = response.output;
    assert.equal(item?.type === 'message' && item.content[0]?.type === 'output_text' && item.content[0].text, 'Official');
    socket.close();
  });
});

test('a gateway that stops lets a response finish and closes idle connections', async () => {
  await using running = await startSimulatedProgram();
  const { gatewayUrl, apiKey } = running.weir;
  const [idle, busy] = [await openSocket(gatewayUrl, apiKey), await openSocket(gatewayUrl, apiKey)];
  busy.create({ model, input: steered('output-tokens=60 pace=tokensPerSecond=40;tokensPerFrame=1') });
  while ((await busy.next()).type !== 'response.output_text.delta');
  const stopped = running.weir.stop();
  assert.equal(await idle.closed, 1001);
  assert.equal((await busy.rest()).at(-1)?.type, 'response.completed');
  assert.equal(await busy.closed, 1001);
  assert.equal(await stopped, 0);
});

import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';

import OpenAI from 'openai';

import { type Ledger, openLedger } from '../support/read-ledger.ts';
import { call, eventually, post } from '../support/http.ts';
import { type SimulatedWeir, startSimulatedGateway } from '../support/start-simulated-weir.ts';

const model = 'gpt-4.1';
const text = Array.from({ length: 60 }, (_, index) => `word${index}`).join(' ');
const pacedAs = (words: string, tokensPerSecond: number) => ({
  headers: { 'x-simulator-text': encodeURIComponent(words), 'x-simulator-pace': `tokensPerSecond=${tokensPerSecond};tokensPerFrame=1` },
});
const slow = pacedAs(text, 20);
const saying = (words: string) => ({ headers: { 'x-simulator-text': encodeURIComponent(words) } });

type StreamEvent = OpenAI.Responses.ResponseStreamEvent;

/** The official SDK with background responses: polled, streamed, disconnected, resumed, cancelled. */
describe('background responses', () => {
  let running: SimulatedWeir;
  let client: OpenAI;
  let ledger: Ledger;
  const names = ['polled', 'streamed', 'left', 'cancelled', 'failing'];
  const rowsOf = (name: string) =>
    eventually(
      async () => (await ledger.all()).filter(({ requestedModel }) => requestedModel === name),
      (rows) => rows.length > 0,
    );
  const poll = (id: string): Promise<OpenAI.Responses.Response> =>
    eventually(
      () => client.responses.retrieve(id),
      ({ status }) => status !== 'queued' && status !== 'in_progress',
      60_000,
    );
  before(async () => {
    const models = Object.fromEntries(names.map((name) => [name, { targets: [{ upstream: 'openai', model }] }]));
    running = await startSimulatedGateway({ models });
    client = new OpenAI({ baseURL: `${running.weir.gatewayUrl}/v1`, apiKey: running.weir.apiKey, maxRetries: 0 });
    ledger = await openLedger(running.weir.dataDirectory);
  });
  after(async () => {
    await ledger.close();
    await running[Symbol.asyncDispose]();
  });

  test('a background request is answered at once as queued, polled to its end, and booked once', async () => {
    const queued = await client.responses.create({ model: 'polled', input: 'Hello', background: true }, pacedAs(text, 8));
    assert.deepEqual([queued.status, queued.output, queued.background], ['queued', [], true]);
    assert.equal(queued.usage, null);
    const early = await client.responses.retrieve(queued.id);
    assert.ok(['queued', 'in_progress'].includes(early.status ?? ''), String(early.status));
    const done = await poll(queued.id);
    assert.deepEqual([done.status, done.output_text, done.id, done.background], ['completed', text, queued.id, true]);
    assert.ok((done.usage?.output_tokens ?? 0) > 0);
    const [row, ...more] = await rowsOf('polled');
    assert.deepEqual([row?.end, row?.usage?.outputTokens, more.length], ['finished', done.usage?.output_tokens, 0]);
  });

  for (const other of ['claude-sonnet-4-5', 'gemini-2.5-flash']) {
    test(`a background response of ${other}`, async () => {
      const queued = await client.responses.create({ model: other, input: 'Hello', background: true }, saying('Translated'));
      const done = await poll(queued.id);
      assert.deepEqual([done.status, done.output_text], ['completed', 'Translated']);
    });
  }

  test('a stream whose client disconnects continues, and can be resumed any number of times', async () => {
    const stream = await client.responses.create({ model: 'left', input: 'Hello', background: true, stream: true }, slow);
    const seen: StreamEvent[] = [];
    for await (const event of stream) {
      seen.push(event);
      if (seen.length === 15) break;
    }
    assert.deepEqual(
      seen.slice(0, 3).map(({ type }) => type),
      ['response.created', 'response.queued', 'response.in_progress'],
    );
    const [first] = seen;
    assert.ok(first?.type === 'response.created');
    const { id } = first.response;
    // Cut a second time, and resumed a third time.
    const again = await client.responses.retrieve(id, { stream: true, starting_after: 14 });
    for await (const event of again) {
      seen.push(event);
      if (seen.length === 30) break;
    }
    const last = await client.responses.retrieve(id, { stream: true, starting_after: 29 });
    for await (const event of last) seen.push(event);
    assert.deepEqual(
      seen.map(({ sequence_number }) => sequence_number),
      seen.map((_, index) => index),
    );
    const joined = seen.map((event) => (event.type === 'response.output_text.delta' ? event.delta : '')).join('');
    assert.equal(joined, text);
    const end = seen.at(-1);
    assert.ok(end?.type === 'response.completed' && end.response.id === id);
    // The store has the whole stream, and nothing after its end.
    const replayed: StreamEvent[] = [];
    for await (const event of await client.responses.retrieve(id, { stream: true })) replayed.push(event);
    assert.deepEqual(replayed, seen);
    for (const after of [seen.length - 1, 100_000])
      for await (const event of await client.responses.retrieve(id, { stream: true, starting_after: after })) assert.fail(event.type);
    const rows = await rowsOf('left');
    assert.deepEqual([rows.length, rows[0]?.end], [1, 'finished']);
  });

  test('a cancelled response stops its upstream, keeps and charges its output, and can be cancelled again with the same result', async () => {
    // It is far from its end when it is cancelled, however long that takes.
    const long = pacedAs(text.repeat(10), 20);
    const stream = await client.responses.create({ model: 'cancelled', input: 'Hello', background: true, stream: true }, long);
    let id = '';
    let deltas = '';
    const types: string[] = [];
    let cancelling: Promise<OpenAI.Responses.Response> | undefined;
    for await (const event of stream) {
      if (event.type === 'response.created') id = event.response.id;
      if (event.type === 'response.output_text.delta') deltas += event.delta;
      types.push(event.type);
      if (deltas.length > 30) cancelling ??= client.responses.cancel(id);
    }
    const cancelled = await cancelling;
    assert.equal(cancelled?.status, 'cancelled');
    assert.equal(types.at(-1), 'response.cancelled');
    assert.deepEqual(await client.responses.cancel(id), cancelled);
    const kept = await client.responses.retrieve(id);
    assert.deepEqual([kept.status, kept.output_text], ['cancelled', deltas]);
    const rows = await rowsOf('cancelled');
    assert.deepEqual([rows.length, rows[0]?.end], [1, 'client-left']);
  });

  test('a failing upstream makes a failed response with a reason', async () => {
    for (const fault of ['status;status=429;message=Slow%20down', 'reset-before-headers', 'reset-mid-stream', 'error-event']) {
      const queued = await client.responses.create(
        { model: 'failing', input: 'Hello', background: true },
        { headers: { 'x-simulator-fault': fault } },
      );
      const done = await poll(queued.id);
      assert.equal(done.status, 'failed', fault);
      assert.ok((done.error?.message ?? '') !== '', fault);
      // The SDK throws at the first error event; the test reads the following events directly.
      const replayed = await call(`${running.weir.gatewayUrl}/v1/responses/${queued.id}?stream=true`, { headers: headers() });
      assert.equal([...replayed.text.matchAll(/^event: (.*)$/gm)].at(-1)?.[1], 'response.failed', fault);
    }
  });

  test('an invalid request is refused at once', async () => {
    const refused = async (body: object, status: number, param: string): Promise<void> => {
      const answer = await post(`${running.weir.gatewayUrl}/v1/responses`, { model, input: 'x', background: true, ...body }, headers());
      assert.deepEqual([answer.status, answer.json.error.param], [status, param]);
    };
    await refused({ store: false }, 400, 'store');
    await refused({ model: 'nobody' }, 400, 'model');
    await refused({ temperature: 'hot' }, 400, 'temperature');
  });

  test('unknown, finished and synchronous responses cannot be cancelled', async () => {
    const cancel = (id: string) => call(`${running.weir.gatewayUrl}/v1/responses/${id}/cancel`, { method: 'POST', headers: headers() });
    const unknown = await cancel('resp_unknown');
    assert.equal(unknown.status, 404);
    const shown = await call(`${running.weir.gatewayUrl}/v1/responses/resp_unknown`, { headers: headers() });
    assert.equal(unknown.text, shown.text);
    const queued = await client.responses.create({ model, input: 'Hello', background: true }, saying('Done'));
    await poll(queued.id);
    const late = await cancel(queued.id);
    assert.deepEqual([late.status, late.json.error.message], [400, 'Cannot cancel a completed response.']);
    const streamed = await call(`${running.weir.gatewayUrl}/v1/responses/${queued.id}?stream=true&starting_after=x`, {
      headers: headers(),
    });
    assert.deepEqual([streamed.status, streamed.json.error.param], [400, 'starting_after']);
  });

  function headers(): Record<string, string> {
    return { authorization: `Bearer ${running.weir.apiKey}` };
  }
});

import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';

import fc from 'fast-check';

import { type Answer, call, eventually, post } from '../support/http.ts';
import { chatInterfaces } from '../support/interfaces.ts';
import { openCall } from '../support/open-call.ts';
import { type SimulatedProgram, startSimulatedProgram } from '../support/start-simulated-weir.ts';
import { isExact } from '../support/audit.ts';
import { openLedger } from '../support/read-ledger.ts';

const workers = 2;
/** The numbers of bytes after which clients disconnect. */
const leavingPlaces = fc.sample(fc.noBias(fc.integer({ min: 1, max: 4000 })), 2 * chatInterfaces.length);

/** Two processes on one data directory: each knows the keys of the other. */
describe('Idempotency-Key', () => {
  let running: SimulatedProgram;
  before(async () => {
    running = await startSimulatedProgram({
      weir: { command: 'gateway', commandArguments: ['--workers', String(workers)] },
      config: { idempotency: { waitMs: 20_000, replyBytesMax: 200_000 }, disconnect: 'deliver' },
    });
  });
  after(() => running[Symbol.asyncDispose]());

  const headersOf = (key: string, more: Readonly<Record<string, string>> = {}) => ({
    authorization: `Bearer ${running.weir.apiKey}`,
    'content-type': 'application/json',
    'idempotency-key': key,
    'x-simulator-tag': key,
    ...more,
  });
  const requestsOf = (tag: string) => running.simulator.records().filter((record) => record.tag === tag);
  const idOf = ({ headers }: Pick<Answer, 'headers'>) => String(headers['x-weir-request-id']);

  for (const { dialect, path, model, body, headers: own, terminal } of chatInterfaces)
    for (const stream of [false, true])
      test(`M10: ${dialect} at ${path(model, stream)}, ${stream ? 'streamed' : 'whole'}: a repetition gets the same answer from one call`, async () => {
        const key = `${dialect}${path(model, stream)}-${stream}`;
        const send = (text = 'Hello', more = {}) =>
          post(`${running.weir.gatewayUrl}${path(model, stream)}`, body(model, text, stream), headersOf(key, { ...own, ...more }));
        const first = await send();
        assert.equal(first.status, 200, first.text);
        if (stream) assert.match(first.text, terminal);
        assert.equal(first.headers['idempotent-replayed'], undefined);
        for (let again = 0; again < 3; again += 1) {
          const answer = await send();
          assert.equal(answer.status, 200);
          assert.equal(answer.text, first.text);
          assert.equal(answer.headers['content-type'], first.headers['content-type']);
          assert.equal(idOf(answer), idOf(first));
          assert.equal(answer.headers['idempotent-replayed'], 'true');
          assert.notEqual(answer.headers['x-weir-replay-request-id'], undefined);
        }
        const other = await send('Something else');
        assert.equal(other.status, 409);
        assert.match(other.text, /Idempotency-Key/);
        assert.equal(other.headers['x-should-retry'], 'false');
        assert.equal(requestsOf(key).length, 1);
      });

  test('M10: a hundred simultaneous requests to two processes are one call, one row and one answer', async () => {
    const chat = chatInterfaces.find(({ dialect }) => dialect === 'openai-chat') ?? assert.fail();
    const key = 'hundred';
    const url = `${running.weir.gatewayUrl}${chat.path(chat.model, true)}`;
    const send = () =>
      openCall(url, {
        headers: headersOf(key, { 'x-simulator-pace': 'firstTokenMs=300' }),
        body: JSON.stringify(chat.body(chat.model, 'Hello', true)),
        limitMs: 30_000,
      }).done;
    const answers = await Promise.all(Array.from({ length: 100 }, send));
    assert.deepEqual(
      answers.map(({ status }) => status).filter((status) => status !== 200),
      [],
    );
    assert.equal(new Set(answers.map(({ text }) => text)).size, 1);
    assert.equal(new Set(answers.map(({ headers }) => headers['x-weir-request-id'])).size, 1);
    assert.equal(answers.filter(({ headers }) => headers['idempotent-replayed'] === undefined).length, 1);
    assert.equal(requestsOf(key).length, 1);
    const id = String(answers[0]?.headers['x-weir-request-id']);
    const ledger = await openLedger(running.weir.dataDirectory);
    try {
      await ledger.row(id);
      const rows = (await ledger.all()).filter(({ callId }) =>
        answers.some(({ headers }) => headers['x-weir-replay-request-id'] === callId),
      );
      assert.deepEqual(rows, []);
    } finally {
      await ledger.close();
    }
  });

  for (const [index, chat] of chatInterfaces.entries())
    test(`M8 and M10, ${chat.dialect}: a client that leaves a stream anywhere gets the whole answer at once and later, from one call that is charged in full`, async () => {
      const key = `left-${chat.dialect}`;
      const url = `${running.weir.gatewayUrl}${chat.path(chat.model, true)}`;
      const steered = { 'x-simulator-pace': 'tokensPerSecond=200;tokensPerFrame=4', 'x-simulator-output-tokens': '150' };
      const headers = headersOf(key, { ...chat.headers, ...steered });
      const body = JSON.stringify(chat.body(chat.model, 'Hello', true));
      const leave = async (bytes: number): Promise<void> => {
        const lost = openCall(url, { headers, body });
        await lost.until((text) => text.length >= bytes);
        lost.leave(index % 2 === 0 ? 'rst' : 'fin');
      };
      await leave(leavingPlaces[index] ?? 1);
      const send = () => call(url, { headers, body });
      const answers = await Promise.all([send(), send(), leave(0).then(send)]);
      // A client may also leave a recorded reply at any byte.
      await leave(leavingPlaces.at(-1 - index) ?? 1);
      for (const answer of [...answers, await send()]) {
        assert.equal(answer.status, 200);
        assert.match(answer.text, chat.terminal);
        assert.equal(answer.text, answers[0].text);
        assert.equal(answer.headers['idempotent-replayed'], 'true');
      }
      const [truth, ...others] = requestsOf(key);
      assert.deepEqual([truth?.ending, others], ['completed', []]);
      const ledger = await openLedger(running.weir.dataDirectory);
      const entry = await ledger.row(idOf(answers[0]));
      await ledger.close();
      assert.ok(truth !== undefined && isExact(entry, truth));
      // For the call, no client has disconnected.
      assert.deepEqual([entry.end, entry.disconnect], ['finished', undefined]);
    });

  test('a free result that may change is computed again; a final one is not', async () => {
    const chat = chatInterfaces.find(({ dialect }) => dialect === 'openai-chat') ?? assert.fail();
    const url = `${running.weir.gatewayUrl}${chat.path(chat.model)}`;
    const send = (key: string, fault?: string) =>
      post(url, chat.body(chat.model, 'Hello'), headersOf(key, fault === undefined ? {} : { 'x-simulator-fault': fault }));
    for (const status of [429, 500, 503]) {
      const key = `passing-${status}`;
      assert.notEqual((await send(key, `status;status=${status}`)).status, 200);
      assert.equal((await send(key)).status, 200);
      assert.equal(requestsOf(key).length, 2);
    }
    const refused = await send('final', 'status;status=422');
    assert.equal(refused.status, 422);
    const again = await send('final');
    assert.deepEqual([again.status, again.text, again.headers['idempotent-replayed']], [422, refused.text, 'true']);
    assert.equal(requestsOf('final').length, 1);
    const wrong = await post(url, { model: chat.model }, headersOf('invalid'));
    assert.equal(wrong.status, 400);
    // Nothing was done under this key; it is released with the answer or, if the store is slow, a moment after it.
    await eventually(
      () => post(url, chat.body(chat.model, 'Hello'), headersOf('invalid')),
      ({ status }) => status === 200,
    );
  });

  test('a stream that broke was charged: it is repeated as it was, and no second call is made', async () => {
    const chat = chatInterfaces.find(({ dialect }) => dialect === 'openai-chat') ?? assert.fail();
    const url = `${running.weir.gatewayUrl}${chat.path(chat.model, true)}`;
    const send = () =>
      post(url, chat.body(chat.model, 'Hello', true), headersOf('broken', { 'x-simulator-fault': 'reset-mid-stream;after=3' }));
    const first = await send();
    assert.match(first.text, chat.errorEvent);
    const again = await send();
    assert.equal(again.text, first.text);
    assert.equal(requestsOf('broken').length, 1);
  });

  test('an answer that is too long to be recorded is not requested again', async () => {
    const chat = chatInterfaces.find(({ dialect }) => dialect === 'openai-chat') ?? assert.fail();
    const url = `${running.weir.gatewayUrl}${chat.path(chat.model, true)}`;
    const send = () => post(url, chat.body(chat.model, 'Hello', true), headersOf('long', { 'x-simulator-output-tokens': '5000' }));
    const first = await send();
    assert.match(first.text, chat.terminal);
    assert.ok(first.text.length > 200_000, String(first.text.length));
    const again = await eventually(send, ({ status }) => status === 409);
    assert.equal(again.json.error.code, 'idempotency_spent');
    assert.match(again.json.error.message, new RegExp(idOf(first)));
    assert.equal(requestsOf('long').length, 1);
  });

  test('keys are validated, and belong to their API key', async () => {
    const chat = chatInterfaces.find(({ dialect }) => dialect === 'openai-chat') ?? assert.fail();
    const url = `${running.weir.gatewayUrl}${chat.path(chat.model)}`;
    for (const key of ['x'.repeat(256), 'caf\u00e9']) {
      const answer = await post(url, chat.body(chat.model, 'Hello'), { ...headersOf('bad'), 'idempotency-key': key });
      assert.equal(answer.status, 400);
      assert.equal(answer.json.error.param, 'Idempotency-Key');
    }
    const foreign = await post(url, chat.body(chat.model, 'Hello'), { ...headersOf('hundred'), authorization: 'Bearer wrong' });
    assert.equal(foreign.status, 401);
  });
});

import assert from 'node:assert/strict';
import { test } from 'node:test';

import { GatewayError } from '../../inference/gateway-error.ts';
import type { TakenLimits } from '../limits/reserve-call.ts';
import { createFakeTool, settle, startLoop } from './fake-loop.ts';

test('a client that leaves while the model speaks stops it and is charged for what came', async () => {
  const call = await startLoop();
  await call.call(['web_search', { query: 'cats' }, 'c1']);
  call.begin();
  call.data(call.delta({ content: 'Cats eat' }));
  call.response.close();
  await settle();
  assert.equal(call.sent.at(-1)?.aborted, true);
  assert.deepEqual(call.rows(), ['req_1 finished', 'req_1.1.tools finished', 'req_1.2 client-left']);
  assert.equal(call.gateway.deadlines.size(), 0);
});

test('a client that leaves while tools run aborts them; the model is not asked again', async () => {
  let signal: AbortSignal | undefined;
  const run = (one: { readonly signal: AbortSignal }): Promise<never> => {
    ({ signal } = one);
    return new Promise(() => {});
  };
  const call = await startLoop({ tools: [createFakeTool({ run })] });
  await call.call(['web_search', { query: 'cats' }, 'c1']);
  call.response.close();
  await settle();
  assert.equal(signal?.aborted, true);
  assert.equal(call.sent.length, 1);
  assert.deepEqual(call.rows(), ['req_1 finished']);
  assert.equal(call.gateway.deadlines.size(), 0);
});

test('a client that leaves before the model answers costs nothing', async () => {
  const call = await startLoop();
  call.response.close();
  await settle();
  assert.deepEqual(call.rows(), ['req_1 failed']);
  assert.equal(call.sent.at(-1)?.aborted, true);
});

test('a shutdown ends the reply in the dialect’s words, while the model speaks and while tools run', async () => {
  const error = new GatewayError('shutting_down', 'the gateway is shutting down');
  const speaking = await startLoop();
  speaking.begin();
  speaking.data(speaking.delta({ content: 'Cats' }));
  speaking.gateway.deadlines.forEach((running) => running.terminate(error));
  await settle();
  const running = await startLoop({ tools: [createFakeTool({ run: () => new Promise(() => {}) })] });
  await running.call(['web_search', { query: 'cats' }, 'c1']);
  running.gateway.deadlines.forEach((one) => one.terminate(error));
  await settle();
  for (const call of [speaking, running]) {
    assert.match(call.response.text(), /event: error\ndata: .*shutting down/);
    assert.equal(call.response.text().split('event: error').length, 2);
    assert.ok(call.response.writableEnded);
  }
});

test('the time of the call is over while tools run', async () => {
  const call = await startLoop({ tools: [createFakeTool({ run: () => new Promise(() => {}) })] });
  await call.call(['web_search', { query: 'cats' }, 'c1']);
  call.loop.check(call.advance(16_000));
  assert.match(call.response.text(), /event: ping/);
  call.loop.check(call.advance(3_600_000));
  await settle();
  assert.match(call.response.text(), /event: error/);
});

test('a client that does not keep up pauses the model, and is given up when it reads nothing more', async () => {
  const call = await startLoop();
  call.begin();
  call.response.isFull = true;
  call.data(call.delta({ content: 'Cats' }));
  call.loop.check(call.advance(61_000));
  await settle();
  assert.ok(call.response.destroyed);
  assert.equal(call.sent.at(-1)?.aborted, true);
});

test('limits are taken once: the tokens of all rounds are settled together', async () => {
  const settled: number[] = [];
  let finished = 0;
  const taken = {
    headers: { 'x-ratelimit-limit-requests': '5' },
    reservation: {
      admitted: true,
      standing: {},
      settle: (tokens: number) => settled.push(tokens),
      release: () => {},
      finish: () => (finished += 1),
    },
  } as unknown as TakenLimits;
  const call = await startLoop({ taken });
  await call.call(['web_search', { query: 'cats' }, 'c1']);
  assert.deepEqual(settled, []);
  await call.say('Fish.');
  assert.deepEqual(settled, [24]);
  assert.equal(finished, 0);
  assert.equal(call.response.headers['x-ratelimit-limit-requests'], '5');
});

test('the limit of output is one of the whole reply: a further round gets what is left of it', async () => {
  const call = await startLoop({ request: { outputTokensMax: 40 } });
  assert.equal(call.asked().max_tokens, 40);
  await call.call(['web_search', { query: 'cats' }, 'c1']);
  assert.equal(call.asked().max_tokens, 38);
  await call.say('Cats eat.');
  assert.deepEqual(call.rows(), ['req_1 finished', 'req_1.1.tools finished', 'req_1.2 finished']);
});

test('a model that has written as much as it may is not asked again, and the reply says why it ends', async () => {
  const call = await startLoop({ request: { outputTokensMax: 17 } });
  await call.call(['web_search', { query: 'cats' }, 'c1']);
  assert.equal(call.sent.length, 1);
  assert.match(call.response.text(), /"stop_reason":"max_tokens"/);
  assert.deepEqual(call.rows(), ['req_1 finished', 'req_1.1.tools finished']);
});

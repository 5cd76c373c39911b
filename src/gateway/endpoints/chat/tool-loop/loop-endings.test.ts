import assert from 'node:assert/strict';
import { test } from 'node:test';

import { GatewayError } from '../../../../inference/gateway-error.ts';
import type { TakenLimits } from '../../../admission/limits/reserve-call.ts';
import { createFakeTool, settle, startLoop } from './testing/fake-loop.ts';

test('a client that disconnects during output stops the model and is charged for the output so far', async () => {
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

test('a client that disconnects while tools run aborts them, and no further round starts', async () => {
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

test('a client that disconnects before the model answers is charged nothing', async () => {
  const call = await startLoop();
  call.response.close();
  await settle();
  assert.deepEqual(call.rows(), ['req_1 failed']);
  assert.equal(call.sent.at(-1)?.aborted, true);
});

type StartedLoop = Awaited<ReturnType<typeof startLoop>>;

/** The facts about the disconnect in the row of the last round. */
const evidence = ({ entries }: StartedLoop) => {
  const last = entries.at(-1);
  const { policy, deliveredCharacters, usageReported } = last?.disconnect ?? {};
  return { policy, deliveredCharacters, usageReported, output: last?.usage.outputTokens, estimated: last?.estimated };
};

for (const stream of [true, false])
  test(`drain, ${stream ? 'a stream' : 'a whole reply'}: the current round is read to its end, and no tool and no further round starts`, async () => {
    let runs = 0;
    const run = (): Promise<never> => {
      runs += 1;
      return new Promise(() => {});
    };
    const call = await startLoop({ disconnect: 'drain', stream, tools: [createFakeTool({ run })] });
    call.begin();
    call.data(call.delta({ content: 'Cats eat' }));
    call.response.close();
    await settle();
    assert.equal(call.sent.at(-1)?.aborted, false);
    assert.deepEqual(call.rows(), []);
    // The receipt is not complete while the round is still read.
    assert.equal(call.gateway.deadlines.size(), 1);
    call.data(call.delta({ tool_calls: [{ index: 0, id: 'c1', type: 'function', function: { name: 'web_search', arguments: '{}' } }] }));
    await call.end('tool_calls', { prompt_tokens: 10, completion_tokens: 33 });
    assert.deepEqual(call.rows(), ['req_1 client-left']);
    const deliveredCharacters = stream ? 'Cats eat'.length : 0;
    assert.deepEqual(evidence(call), { policy: 'drain', deliveredCharacters, usageReported: true, output: 33, estimated: false });
    assert.deepEqual([runs, call.sent.length, call.gateway.deadlines.size(), call.gateway.drainSlots?.taken], [0, 1, 0, 0]);
  });

test('drain: shutdown, the drain limit and the limit of the call stop the round, which is charged as with abort', async () => {
  const stops: readonly ((call: StartedLoop) => void)[] = [
    (call) => call.gateway.drainSlots?.endAll(),
    (call) => call.gateway.deadlines.forEach((one) => one.terminate(new GatewayError('shutting_down', 'the gateway is shutting down'))),
    (call) => call.loop.check(call.advance(3_600_000)),
  ];
  for (const stop of stops) {
    const call = await startLoop({ disconnect: 'drain' });
    await call.call(['web_search', { query: 'cats' }, 'c1']);
    call.begin();
    call.data(call.delta({ content: 'Cats eat fish' }));
    call.response.close();
    await settle();
    stop(call);
    await settle();
    assert.equal(call.sent.at(-1)?.aborted, true);
    assert.deepEqual(call.rows(), ['req_1 finished', 'req_1.1.tools finished', 'req_1.2 client-left']);
    assert.deepEqual(evidence(call), { policy: 'drain', deliveredCharacters: 13, usageReported: false, output: 4, estimated: true });
    assert.equal(call.gateway.deadlines.size(), 0);
  }
});

test('deliver: only output that the client received is charged, without arguments of a tool and without a partial whole reply', async () => {
  for (const [stream, delivered] of [
    [true, 'Cats eat'.length],
    [false, 0],
  ] as const) {
    const call = await startLoop({ disconnect: 'deliver', stream });
    await call.call(['web_search', { query: 'cats' }, 'c1']);
    call.begin();
    call.data(call.delta({ content: 'Cats eat' }));
    const args = JSON.stringify({ query: 'what else they eat, and when' });
    call.data(call.delta({ tool_calls: [{ index: 0, id: 'c2', type: 'function', function: { name: 'web_search', arguments: args } }] }));
    call.response.close();
    await settle();
    assert.equal(call.sent.at(-1)?.aborted, true);
    assert.deepEqual(call.rows(), ['req_1 finished', 'req_1.1.tools finished', 'req_1.2 client-left']);
    const output = delivered / 4;
    assert.deepEqual(evidence(call), { policy: 'deliver', deliveredCharacters: delivered, usageReported: false, output, estimated: true });
  }
});

test('a shutdown ends the reply in the client’s dialect, during output and while tools run', async () => {
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

test('the time limit of the call applies while tools run', async () => {
  const call = await startLoop({ tools: [createFakeTool({ run: () => new Promise(() => {}) })] });
  await call.call(['web_search', { query: 'cats' }, 'c1']);
  call.loop.check(call.advance(16_000));
  assert.match(call.response.text(), /event: ping/);
  call.loop.check(call.advance(3_600_000));
  await settle();
  assert.match(call.response.text(), /event: error/);
});

test('a slow client pauses the model, and is disconnected if it stops reading', async () => {
  const call = await startLoop();
  call.begin();
  call.response.isFull = true;
  call.data(call.delta({ content: 'Cats' }));
  call.loop.check(call.advance(61_000));
  await settle();
  assert.ok(call.response.destroyed);
  assert.equal(call.sent.at(-1)?.aborted, true);
});

test('limits are reserved once: the tokens of all rounds are settled together', async () => {
  const settled: number[] = [];
  let finished = 0;
  const taken = {
    headers: { 'x-ratelimit-limit-requests': '5' },
    reservation: {
      admitted: true,
      state: {},
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

test('the output limit applies to the whole reply: a further round gets what is left of it', async () => {
  const call = await startLoop({ request: { outputTokensMax: 40 } });
  assert.equal(call.lastRequest().max_tokens, 40);
  await call.call(['web_search', { query: 'cats' }, 'c1']);
  assert.equal(call.lastRequest().max_tokens, 38);
  await call.say('Cats eat.');
  assert.deepEqual(call.rows(), ['req_1 finished', 'req_1.1.tools finished', 'req_1.2 finished']);
});

test('no further round starts after the output limit, and the reply says why it ends', async () => {
  const call = await startLoop({ request: { outputTokensMax: 17 } });
  await call.call(['web_search', { query: 'cats' }, 'c1']);
  assert.equal(call.sent.length, 1);
  assert.match(call.response.text(), /"stop_reason":"max_tokens"/);
  assert.deepEqual(call.rows(), ['req_1 finished', 'req_1.1.tools finished']);
});

import assert from 'node:assert/strict';
import { mock, test } from 'node:test';

import { silentLogger } from '../../platform/log.ts';
import { createRefusalWriter } from './refusal-writer.ts';
import type { Refusal } from './refusal.ts';

const refusal: Refusal = {
  atMs: 1,
  code: 'rate_limited',
  status: 429,
  message: 'no',
  interface: 'openai-chat',
  path: '/v1/chat/completions',
  requestId: 'req_1',
};

/** A writer whose clock moves by hand, on a store that does what `add` does. */
function open(add: (rows: readonly Refusal[]) => Promise<void>) {
  let nowMs = 1000;
  const sweeps: number[] = [];
  const store = {
    addRefusals: add,
    sweepRefusals: async ({ beforeMs }: { beforeMs: number }) => {
      sweeps.push(beforeMs);
      return 0;
    },
  };
  const writer = createRefusalWriter({ store, clock: { nowMs: () => 1e12, monotonicMs: () => nowMs }, logger: silentLogger });
  const refuse = (times: number): number => {
    let taken = 0;
    for (let each = 0; each < times; each += 1) {
      if (!writer.admits()) continue;
      taken += 1;
      writer.add(refusal);
    }
    return taken;
  };
  return { writer, refuse, sweeps, pass: (ms: number) => void (nowMs += ms) };
}

test('of 10,000 refusals at once 100 are written in one piece, and then 20 a second; the rest are counted', async () => {
  const written: number[] = [];
  const { writer, refuse, sweeps, pass } = open(async (rows) => void written.push(rows.length));
  assert.equal(refuse(10_000), 100);
  assert.equal(writer.dropped(), 9900);
  pass(2500);
  assert.equal(refuse(10_000), 50);
  await writer.close();
  assert.deepEqual(written, [150]);
  assert.deepEqual(sweeps, [1e12 - 7 * 86_400_000]);
});

test('a store that fails or does not answer costs refusals and nothing else', async () => {
  mock.timers.enable({ apis: ['setTimeout'] });
  try {
    let calls = 0;
    const { writer, refuse, pass } = open(() => {
      calls += 1;
      return calls === 1 ? Promise.reject(new Error('away')) : new Promise(() => {});
    });
    assert.equal(refuse(10), 10);
    mock.timers.tick(1000);
    // The failure of the first write is known some microtasks later.
    await new Promise(setImmediate);
    assert.equal(writer.dropped(), 10);
    for (let second = 0; second < 120; second += 1) {
      pass(1000);
      refuse(20);
      mock.timers.tick(1000);
      await new Promise(setImmediate);
    }
    // Every write ends after five seconds, so that the memory of waiting refusals stays small.
    assert.ok(calls > 20 && calls < 30, String(calls));
    assert.ok(writer.dropped() > 2200, String(writer.dropped()));
    const closed = writer.close();
    for (let second = 0; second < 12; second += 1) {
      mock.timers.tick(1000);
      await new Promise(setImmediate);
    }
    await closed;
  } finally {
    mock.timers.reset();
  }
});

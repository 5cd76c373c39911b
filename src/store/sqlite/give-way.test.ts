import assert from 'node:assert/strict';
import { test } from 'node:test';

import { createPace } from './give-way.ts';

/**
 * A thread that works for `stepMs` between two chances to pause, in a process that takes `share` of a core, and whose
 * calls wait for one for `waiting` of the time.
 */
function pausesOf(totalMs: number, stepMs: number, share: number, waiting = 0): number {
  let nowMs = 0;
  let pauses = 0;
  const { giveWay } = createPace({
    nowMs: () => nowMs,
    processMs: () => nowMs * share,
    waitedMs: () => nowMs * waiting,
    sleep: (ms) => {
      pauses += 1;
      nowMs += ms;
    },
  });
  while (nowMs < totalMs) {
    nowMs += stepMs;
    giveWay();
  }
  return pauses;
}

test('a long piece of work pauses each time that it has taken 50 µs', () => {
  const pauses = pausesOf(50, 0.01, 0.5);
  assert.ok(pauses > 400 && pauses < 520, `${pauses} pauses in 50 ms, half of which are work`);
});

test('a thread that sleeps by itself between short steps does not pause in addition', () => {
  assert.equal(pausesOf(100, 10, 0.1), 0);
});

test('while the process takes all of a core, nothing pauses after the first look at its load', () => {
  assert.equal(pausesOf(100, 0.01, 1), pausesOf(1000, 0.01, 1));
});

test('nothing pauses either while the calls wait because other processes take the core', () => {
  assert.equal(pausesOf(1000, 0.01, 0.5, 0.5), pausesOf(100, 0.01, 1));
  assert.ok(pausesOf(1000, 0.01, 0.5, 0.1) > 4000, 'a short wait is no reason');
});

test('pauses begin again when the load has gone', () => {
  let nowMs = 0;
  let usedMs = 0;
  let pauses = 0;
  const { giveWay, isBusy } = createPace({
    nowMs: () => nowMs,
    processMs: () => usedMs,
    waitedMs: () => 0,
    sleep: () => void (pauses += 1),
  });
  const workFor = (ms: number, share: number): number => {
    const before = pauses;
    for (const end = nowMs + ms; nowMs < end; nowMs += 0.1) {
      usedMs += 0.1 * share;
      giveWay();
    }
    return pauses - before;
  };
  assert.equal(isBusy(), false, 'before the first look');
  workFor(110, 1);
  assert.equal(isBusy(), true);
  assert.equal(workFor(80, 1), 0, 'busy');
  workFor(210, 0.3);
  assert.equal(isBusy(), false);
  assert.ok(workFor(50, 0.3) > 400, 'idle again');
});

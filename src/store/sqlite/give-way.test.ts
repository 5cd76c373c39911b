import assert from 'node:assert/strict';
import { test } from 'node:test';

import { createPace } from './give-way.ts';

/** A thread works for `stepMs` between two chances to pause, and the calls want a core for `share` of the time. */
function pausesOf(totalMs: number, stepMs: number, share: number): number {
  let nowMs = 0;
  let pauses = 0;
  const { giveWay } = createPace({
    nowMs: () => nowMs,
    callsMs: () => nowMs * share,
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

test('while the calls want all of a core, nothing pauses after the first look at their load', () => {
  assert.equal(pausesOf(100, 0.01, 1), pausesOf(1000, 0.01, 1));
  assert.ok(pausesOf(1000, 0.01, 0.9) > 4000, 'calls that leave some of it');
});

test('pauses begin again when the load has gone', () => {
  let nowMs = 0;
  let usedMs = 0;
  let pauses = 0;
  const { giveWay, isBusy } = createPace({
    nowMs: () => nowMs,
    callsMs: () => usedMs,
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

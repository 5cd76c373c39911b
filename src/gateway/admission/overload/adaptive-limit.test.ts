import assert from 'node:assert/strict';
import { test } from 'node:test';

import fc from 'fast-check';

import { callsFloor, createAdaptiveLimit, type LoopSample } from './process-watch.ts';

const loopDelayMs = 50;
const targetMs = 20;
const calm: LoopSample = { turnMs: 2, workMs: 2, busyShare: 1, inFlight: 10, admitted: 10, refused: 0, wasFelt: false };

test('one long turn is not overload, two in a row are', () => {
  const limit = createAdaptiveLimit();
  assert.equal(limit.step({ ...calm, turnMs: 400, workMs: 400 }, loopDelayMs), undefined);
  assert.equal(limit.step(calm, loopDelayMs), undefined);
  assert.equal(limit.step({ ...calm, turnMs: 400, workMs: 400, inFlight: 300 }, loopDelayMs), undefined);
  assert.equal(limit.step({ ...calm, turnMs: 400, workMs: 400, inFlight: 300 }, loopDelayMs), 300);
});

test('long turns of a loop that is also idle are not overload', () => {
  const limit = createAdaptiveLimit();
  for (let step = 0; step < 20; step += 1)
    assert.equal(limit.step({ ...calm, turnMs: 400, workMs: 400, busyShare: 0.7 }, loopDelayMs), undefined);
});

test('turns that are long because the processor is busy elsewhere are not overload', () => {
  const limit = createAdaptiveLimit();
  for (let step = 0; step < 20; step += 1) assert.equal(limit.step({ ...calm, turnMs: 400, workMs: 10 }, loopDelayMs), undefined);
});

test('without refusals the limit ends after a while', () => {
  const limit = createAdaptiveLimit();
  for (let step = 0; step < 2; step += 1) limit.step({ ...calm, turnMs: 400, workMs: 400 }, loopDelayMs);
  for (let step = 0; step < 49; step += 1) assert.notEqual(limit.step(calm, loopDelayMs), undefined);
  assert.equal(limit.step(calm, loopDelayMs), undefined);
});

test('long calls are reduced once, not repeatedly before they have ended', () => {
  const limit = createAdaptiveLimit();
  const streams = { turnMs: 60, workMs: 60, busyShare: 1, inFlight: 1000, admitted: 0, refused: 0, wasFelt: true };
  let now: number | undefined;
  for (let step = 0; step < 30; step += 1) now = limit.step(streams, loopDelayMs);
  assert.equal(now, 800);
});

test('long turns of another cause leave a few calls', () => {
  const limit = createAdaptiveLimit();
  for (let step = 0; step < 50; step += 1) {
    const now = limit.step({ turnMs: 500, workMs: 500, busyShare: 1, inFlight: 0, admitted: 0, refused: 0, wasFelt: true }, loopDelayMs);
    if (now !== undefined) assert.equal(now, callsFloor);
  }
});

test('the work of refusals does not lower the limit', () => {
  const limit = createAdaptiveLimit();
  for (let step = 0; step < 2; step += 1) limit.step({ ...calm, turnMs: 60, workMs: 60, inFlight: 100 }, loopDelayMs);
  const storm = { turnMs: 40, workMs: 40, busyShare: 1, inFlight: 100, admitted: 10, refused: 3000, wasFelt: true };
  assert.ok((limit.step(storm, loopDelayMs) ?? 0) > 100);
});

/**
 * A process that needs `costMs` for a call whose upstream answers after `upstreamMs`, under more calls than it can
 * serve. The allowed number runs, and the part that is not at the upstream fills the turns.
 */
function settleAt(upstreamMs: number, costMs: number): { readonly share: number; readonly turnMs: number; readonly longestMs: number } {
  const limit = createAdaptiveLimit();
  let inFlight = 5 * (upstreamMs / costMs) + 2000;
  let busySum = 0;
  let turnSum = 0;
  let longestMs = 0;
  let measured = 0;
  for (let step = 0; step < 600; step += 1) {
    // A call is read in one turn and answered in another.
    const turnMs = Math.max(0.5, (inFlight * costMs - upstreamMs) / 2);
    const perMs = Math.min(1 / costMs, inFlight / (upstreamMs + 2 * turnMs));
    const now = limit.step(
      { turnMs, workMs: turnMs, busyShare: perMs * costMs, inFlight, admitted: perMs * 100, refused: 0, wasFelt: true },
      loopDelayMs,
    );
    inFlight = now ?? inFlight;
    if (step < 300) continue;
    busySum += perMs * costMs;
    turnSum += turnMs;
    longestMs = Math.max(longestMs, turnMs);
    measured += 1;
  }
  return { share: busySum / measured, turnMs: turnSum / measured, longestMs };
}

test('it settles where the process is busy and its turns are short, at any cost and duration of calls', () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 20_000 }), fc.integer({ min: 1, max: 50 }), (upstreamMs, cost) => {
      const { share, turnMs, longestMs } = settleAt(upstreamMs, cost / 10);
      // Even the lowest limit fills turns if calls are expensive.
      const floorTurnMs = (callsFloor * cost) / 10 / 2;
      assert.ok(share > 0.88, `only ${Math.round(share * 100)} % busy`);
      assert.ok(turnMs < Math.max(2 * targetMs, floorTurnMs + 1), `turns of ${turnMs} ms on average`);
      // The limit is approached from below: single turns exceed the target, by one step of many thousand calls.
      assert.ok(longestMs < Math.max(1.2 * loopDelayMs, floorTurnMs + 1), `a turn of ${longestMs} ms`);
    }),
  );
});

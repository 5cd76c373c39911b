import assert from 'node:assert/strict';
import { test } from 'node:test';

import type { AlertMember, Observation } from './alert.ts';
import { mergeObservations } from './merge-observations.ts';

const see = (state: 'bad' | 'good', member = 'gpt-5'): Observation => ({ rule: 'upstream_down', subject: 'upstream:a', member, state });
const settleMs = 30_000;
const merge = (before: Readonly<Record<string, AlertMember>>, observations: readonly Observation[], nowMs: number) =>
  mergeObservations(before, observations, { nowMs, settleMs });

test('a bad part is known at once, and its time is refreshed only every hour', () => {
  const first = merge({}, [see('bad')], 1000);
  assert.deepEqual(first, { 'gpt-5': { badAtMs: 1000 } });
  assert.deepEqual(merge(first, [see('bad')], 60_000), first);
  assert.deepEqual(merge(first, [see('bad')], 3_700_000), { 'gpt-5': { badAtMs: 3_700_000 } });
});

test('a part ends after it was good for a while, and a relapse starts again', () => {
  const bad = merge({}, [see('bad')], 0);
  const good = merge(bad, [see('good')], 1000);
  assert.deepEqual(good, { 'gpt-5': { badAtMs: 0, goodSinceMs: 1000 } });
  assert.deepEqual(merge(good, [see('good')], 30_999), good);
  assert.deepEqual(merge(good, [see('good')], 31_000), {});
  const again = merge(good, [see('bad')], 20_000);
  assert.deepEqual(again, { 'gpt-5': { badAtMs: 0 } });
});

test('one gateway that sees it as bad outweighs others that see it as good', () => {
  assert.deepEqual(merge({}, [see('good'), see('bad'), see('good')], 5), { 'gpt-5': { badAtMs: 5 } });
});

test('silence, as after a restart, changes nothing for a day', () => {
  const bad = merge({}, [see('bad'), see('bad', 'gpt-5-mini')], 0);
  assert.deepEqual(merge(bad, [], 3_600_000), bad);
  assert.deepEqual(merge(bad, [see('good', 'gpt-5-mini')], 60_000)['gpt-5'], { badAtMs: 0 });
  assert.deepEqual(merge(bad, [], 24 * 3_600_000), {});
});

test('names of models do not collide with members of objects', () => {
  const names = ['__proto__', 'constructor', 'toString'];
  const merged = merge(
    {},
    names.map((name) => see('bad', name)),
    1,
  );
  assert.deepEqual(Object.keys(merged).toSorted(), names.toSorted());
});

import assert from 'node:assert/strict';
import { test } from 'node:test';

import { createDeadlines, type DeadlineCheck } from './deadlines.ts';

test('each watched item is checked at each tick with the time of the clock, until it is unwatched', (context) => {
  context.mock.timers.enable({ apis: ['setInterval'] });
  let nowMs = 0;
  const deadlines = createDeadlines({ clock: { nowMs: () => -1, monotonicMs: () => nowMs }, tickMs: 100 });
  const seen: [name: string, nowMs: number][] = [];
  const watched = (name: string): DeadlineCheck => ({ check: (time) => void seen.push([name, time]) });
  const [one, two] = [watched('one'), watched('two')];
  const tick = (): void => {
    nowMs += 100;
    context.mock.timers.tick(100);
  };
  tick();
  const slot = deadlines.watch(one);
  deadlines.watch(two);
  tick();
  deadlines.unwatch(slot);
  tick();
  deadlines.close();
  tick();
  assert.deepEqual(seen, [
    ['one', 200],
    ['two', 200],
    ['two', 300],
  ]);
});

test('items may unwatch themselves, or watch others, during a check', (context) => {
  context.mock.timers.enable({ apis: ['setInterval'] });
  const deadlines = createDeadlines({ clock: { nowMs: () => 0, monotonicMs: () => 0 }, tickMs: 100 });
  const seen: string[] = [];
  const later: DeadlineCheck = { check: () => void seen.push('later') };
  const slot = deadlines.watch({
    check: () => {
      seen.push('own');
      deadlines.unwatch(slot);
      deadlines.watch(later);
    },
  });
  deadlines.watch({ check: () => void seen.push('other') });
  context.mock.timers.tick(200);
  assert.equal(seen.filter((name) => name === 'own').length, 1);
  assert.equal(seen.filter((name) => name === 'other').length, 2);
  assert.ok(seen.includes('later'));
  deadlines.close();
});

test('forEach visits every watched item, as a shutdown does', () => {
  const deadlines = createDeadlines({ clock: { nowMs: () => 0, monotonicMs: () => 0 }, tickMs: 1000 });
  const items = ['one', 'two', 'three'].map((name) => ({ name, check: () => {} }));
  const slots = items.map((item) => deadlines.watch(item));
  deadlines.unwatch(slots[1] ?? -1);
  const visited: unknown[] = [];
  deadlines.forEach((item) => visited.push(item));
  assert.deepEqual(visited, [items[0], items[2]]);
  deadlines.close();
});

test('without items there is no timer, and the next item starts one', (context) => {
  context.mock.timers.enable({ apis: ['setInterval'] });
  let readings = 0;
  const deadlines = createDeadlines({ clock: { nowMs: () => 0, monotonicMs: () => (readings += 1) }, tickMs: 100 });
  const checked: number[] = [];
  for (let round = 0; round < 2; round++) {
    const slot = deadlines.watch({ check: (nowMs) => void checked.push(nowMs) });
    context.mock.timers.tick(200);
    deadlines.unwatch(slot);
    context.mock.timers.tick(1000);
  }
  deadlines.close();
  assert.deepEqual(checked, [1, 2, 3, 4]);
});

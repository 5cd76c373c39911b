import assert from 'node:assert/strict';
import { test } from 'node:test';

import { createLoopGauge } from './process-watch.ts';

test('work-in-turns-hides-the-queue: work that has yielded counts as a part of the present turn', async () => {
  const alone = createLoopGauge(() => 0);
  const behindTen = createLoopGauge(() => 10);
  const untilMs = performance.now() + 30;
  while (performance.now() < untilMs);
  await new Promise((resolve) => setImmediate(resolve));
  const [short, long] = [alone(), behindTen()];
  assert.ok(short.turnMs > 0);
  assert.ok(long.turnMs > 5 * short.turnMs, JSON.stringify({ short, long }));
  assert.ok(long.workMs > 5 * short.workMs, JSON.stringify({ short, long }));
  assert.ok(long.busyShare <= 1);
});

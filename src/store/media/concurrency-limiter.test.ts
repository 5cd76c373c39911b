import assert from 'node:assert/strict';
import { test } from 'node:test';

import { createConcurrencyLimiter } from './concurrency-limiter.ts';

test('the limiter admits no more than its slots at once, and waiting callers in order', async () => {
  const limiter = createConcurrencyLimiter(2);
  const served: number[] = [];
  const acquired = [0, 1, 2, 3].map(async (index) => {
    await limiter.acquire();
    served.push(index);
  });
  await new Promise(setImmediate);
  assert.deepEqual(served, [0, 1]);
  limiter.release();
  await new Promise(setImmediate);
  assert.deepEqual(served, [0, 1, 2]);
  limiter.release();
  await Promise.all(acquired);
  for (let count = 0; count < 2; count += 1) limiter.release();
  await Promise.all([limiter.acquire(), limiter.acquire()]);
});

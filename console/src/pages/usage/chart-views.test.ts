import assert from 'node:assert/strict';
import { test } from 'node:test';

import { accumulate, sharesOf, showMillionths } from './chart-views.ts';

test('sums until each bucket are exact beyond the numbers of the processor', () => {
  assert.deepEqual(accumulate([9_007_199_254_740_993n, 1n, 0n]), [9_007_199_254_740_993n, 9_007_199_254_740_994n, 9_007_199_254_740_994n]);
});

test('the parts of a bucket are a whole, and a bucket without sums has none', () => {
  const shares = sharesOf([
    [1n, 0n],
    [1n, 0n],
    [1n, 0n],
  ]);
  assert.equal(
    shares.reduce((sum, [first = 0n]) => sum + first, 0n),
    1_000_000n,
  );
  assert.deepEqual(
    shares.map(([, second]) => second),
    [0n, 0n, 0n],
  );
  assert.equal(showMillionths(333_334n), '33.3\u202f%');
  assert.equal(showMillionths(1_000_000n), '100.0\u202f%');
});

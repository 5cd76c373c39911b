import assert from 'node:assert/strict';
import { test } from 'node:test';

import { formatUsd } from './show-receipt.ts';

test('money is told with all its digits', () => {
  for (const [nanoUsd, text] of [
    [0n, '0'],
    [1n, '0.000000001'],
    [250_000_000n, '0.25'],
    [1_000_000_000n, '1'],
    [12_345_678_901n, '12.345678901'],
    [100_000_000_000_000_000_000n, '100000000000'],
  ] as const)
    assert.equal(formatUsd(nanoUsd), text);
});

import assert from 'node:assert/strict';
import { test } from 'node:test';

import { shiftDecimal, usdOf } from './decimals.ts';

test('a decimal is shifted without loss', () => {
  const cases: readonly [number, number, string][] = [
    [1.5e-6, 6, '1.5'],
    [3e-7, 6, '0.3'],
    [0, 6, '0'],
    [0.00003, 6, '30'],
    [1e-10, 6, '0.0001'],
    [1.234e-8, 6, '0.01234'],
    [12, 0, '12'],
    [1e21, 0, `1${'0'.repeat(21)}`],
    [0.1, 6, '100000'],
  ];
  for (const [value, places, expected] of cases) assert.equal(shiftDecimal(value, places), expected, `${value}`);
});

test('amounts are rounded down to nano-USD', () => {
  assert.equal(usdOf(0.1 + 0.2), '0.3');
  assert.equal(usdOf(7.5), '7.5');
  assert.equal(usdOf(1 / 3), '0.333333333');
  assert.equal(usdOf(0), '0');
  assert.equal(usdOf(1234567.000000002), '1234567.000000002');
});

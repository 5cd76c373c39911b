import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';

import { parseDecimal } from './decimal.ts';
import {
  add,
  ceil,
  compare,
  floor,
  fractionOf,
  invert,
  larger,
  multiply,
  negate,
  readNumber,
  smaller,
  writeDecimal,
  zero,
} from './fraction.ts';

const fractions = fc.record({
  numerator: fc.bigInt({ min: -(10n ** 20n), max: 10n ** 20n }),
  denominator: fc.bigInt({ min: 1n, max: 10n ** 12n }),
});

test('arithmetic is exact: subtraction undoes addition, and division undoes multiplication', () => {
  fc.assert(
    fc.property(fractions, fractions, (one, other) => {
      assert.equal(compare(add(add(one, other), negate(other)), one), 0);
      if (other.numerator !== 0n) assert.equal(compare(multiply(multiply(one, other), invert(other)), one), 0);
      assert.equal(compare(add(one, other), add(other, one)), 0);
    }),
  );
  assert.throws(() => invert(zero), RangeError);
  assert.deepEqual(invert({ numerator: -2n, denominator: 3n }), { numerator: -3n, denominator: 2n });
  assert.deepEqual(add(parseDecimal('0.1'), parseDecimal('0.2')), { numerator: 3n, denominator: 10n }, 'same denominators stay small');
});

test('a sum of many numbers is exact, and its denominator does not grow with their number', () => {
  const prices = ['0.125', '2.5', '0.003', '1'].map(parseDecimal);
  const sixths = [fractionOf(1n), { numerator: 1n, denominator: 6n }, { numerator: -1n, denominator: 4n }];
  for (const parts of [prices, sixths]) {
    const once = parts.reduce(add, zero);
    let sum = zero;
    for (let times = 0; times < 1000; times += 1) for (const part of parts) sum = add(sum, part);
    assert.equal(compare(sum, multiply(once, fractionOf(1000))), 0);
    const product = parts.reduce((all, { denominator }) => all * denominator, 1n);
    assert.ok(product % sum.denominator === 0n, `${sum.denominator}`);
  }
});

test('floor, ceil, smaller and larger return the expected numbers', () => {
  fc.assert(
    fc.property(fractions, fractions, (one, other) => {
      const [low, high] = [fractionOf(floor(one)), fractionOf(ceil(one))];
      assert.ok(compare(low, one) <= 0 && compare(one, high) <= 0);
      assert.ok(compare(add(high, negate(low)), fractionOf(1)) <= 0);
      assert.ok(compare(smaller(one, other), larger(one, other)) <= 0);
      assert.equal(compare(add(smaller(one, other), larger(one, other)), add(one, other)), 0);
    }),
  );
  const half = (numerator: bigint) => ({ numerator, denominator: 2n });
  assert.deepEqual(
    [floor(half(-3n)), ceil(half(-3n)), floor(half(3n)), ceil(half(3n)), floor(half(-4n)), ceil(half(4n))],
    [-2n, -1n, 1n, 2n, -2n, 2n],
  );
});

test('decimals are rounded half up to twelve places and are never negative', () => {
  for (const [numerator, denominator, text] of [
    [1n, 3n, '0.333333333333'],
    [2n, 3n, '0.666666666667'],
    [1n, 2n, '0.5'],
    [7n, 1n, '7'],
    [-1n, 2n, '0'],
    [0n, 5n, '0'],
    [1n, 2_000_000_000_000n, '0.000000000001'],
    [1n, 2_000_000_000_001n, '0'],
    [1_000_001n, 1000n, '1000.001'],
  ] as const)
    assert.equal(writeDecimal({ numerator, denominator }), text);
});

test('M14 numbers are parsed exactly, in every form that a server may accept', () => {
  for (const [text, numerator, denominator] of [
    ['15', 15n, 1n],
    ['1e1', 10n, 1n],
    ['1.5E+1', 15n, 1n],
    [' +15. ', 15n, 1n],
    ['-0.25', -25n, 100n],
    ['9007199254740993', 9007199254740993n, 1n],
    ['15.0000000000000001', 150000000000000001n, 10n ** 16n],
    ['25e-1', 25n, 10n],
  ] as const) {
    const read = readNumber(text);
    assert.ok(read !== undefined && compare(read, { numerator, denominator }) === 0, text);
  }
  for (const text of ['', 'abc', '1e', '0x10', '1_000', '1e41', '1e-41', '1,5', 'Infinity', 'NaN', '.5', '1'.repeat(41), '--1'])
    assert.equal(readNumber(text), undefined, text);
});

import assert from 'node:assert/strict';
import { test } from 'node:test';

import { coverPairs } from './cover-pairs.ts';
import { isLong } from './scale.ts';

const digits = Array.from({ length: 6 }, (_, digit) => digit);
const product = digits.flatMap((a) => digits.flatMap((b) => digits.map((c) => ({ a, b, c })))).filter(({ a, b }) => a !== b);
const factorsOf = ({ a, b, c }: (typeof product)[number]): readonly string[] => [`${a}`, `${b}`, `${c}`];

test('every pair of values that is in the product is in a chosen case, and few cases are chosen', { skip: isLong }, () => {
  const chosen = coverPairs(product, factorsOf);
  for (const { a, b, c } of product) {
    assert.ok(chosen.some((one) => one.a === a && one.b === b));
    assert.ok(chosen.some((one) => one.a === a && one.c === c));
    assert.ok(chosen.some((one) => one.b === b && one.c === c));
  }
  assert.ok(chosen.length < product.length / 3, `${chosen.length} of ${product.length}`);
  assert.deepEqual(coverPairs(product, factorsOf), chosen, 'the choice is always the same');
});

test('of a single factor each value is chosen once', { skip: isLong }, () => {
  assert.deepEqual(
    coverPairs(['a1', 'b1', 'a2'], ([letter = '']) => [letter]),
    ['a1', 'b1'],
  );
});

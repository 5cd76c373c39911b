import assert from 'node:assert/strict';
import { test } from 'node:test';

import { amount, holds } from './testing/expression-kit.ts';

test('a value is true or false if a lenient server reads it so, and otherwise neither', () => {
  for (const [value, isTrue, isFalse] of [
    ...['true', '1', '1.0', '"true"', '"1"', '"yes"', '" On "', '"TRUE"'].map((text) => [text, true, false] as const),
    ...['false', '0', '0.0', '"false"', '"0"', '"no"', '"OFF "'].map((text) => [text, false, true] as const),
    ...['2', '-1', '"maybe"', '""', 'null', '[1]', '{0}'].map((text) => [text, false, false] as const),
  ]) {
    const call = { pricingParameters: { '/x': value } };
    assert.deepEqual([holds('/x == true', call), holds('true == /x', call)], [isTrue, isTrue], value);
    assert.deepEqual([holds('/x == false', call), holds('false == /x', call)], [isFalse, isFalse], value);
  }
});

test('a value is a number if it can be read exactly, and otherwise absent', () => {
  for (const [value, number] of [
    ['15', '15'],
    ['"15"', '15'],
    ['1e1', '10'],
    ['1e99', '-1'],
    ['"hd"', '-1'],
    ['true', '-1'],
    ['null', '-1'],
    ['[4]', '-1'],
  ] as const)
    assert.equal(amount('/x ?? -1', { pricingParameters: { '/x': value } }), number, value);
});

test('arrays and objects have a size and equal nothing, and null is not present', () => {
  for (const [value, size, isPresent] of [
    ['[0]', '0', true],
    ['[12]', '12', true],
    ['{345}', '345', true],
    ['"[3]"', '-1', true],
    ['null', '-1', false],
  ] as const) {
    const call = { pricingParameters: { '/x': value, '/y': value } };
    assert.equal(amount('size(/x) ?? -1', call), size, value);
    assert.equal(holds('present(/x)', call), isPresent, value);
    assert.equal(holds('/x == /y', call), value === '"[3]"', value);
  }
});

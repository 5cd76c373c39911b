import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';

import { isNestedDeeper, isValueDeeper } from './json-depth.ts';

const depthOf = (value: unknown): number =>
  typeof value === 'object' && value !== null ? 1 + Math.max(0, ...Object.values(value).map(depthOf)) : 0;

test('depth is found in texts and values, with any content of strings', () => {
  fc.assert(
    fc.property(fc.jsonValue({ maxDepth: 6 }), fc.nat(8), (value, depthMax) => {
      assert.equal(isNestedDeeper(JSON.stringify(value), depthMax), depthOf(value) > depthMax);
      assert.equal(isValueDeeper(value, depthMax), depthOf(value) > depthMax);
    }),
  );
});

test('brackets in strings do not count, also after escaped quotes', () => {
  assert.equal(isNestedDeeper('{"a":"[[[\\"[[["}', 1), false);
  assert.equal(isNestedDeeper('{"a\\\\":[[]]}', 2), true);
});

test('a million levels are handled', () => {
  const text = '['.repeat(1_000_000) + ']'.repeat(1_000_000);
  assert.equal(isNestedDeeper(text, 999_999), true);
  assert.equal(isValueDeeper(JSON.parse(text), 999_999), true);
  assert.equal(isValueDeeper(JSON.parse(text), 1_000_000), false);
});

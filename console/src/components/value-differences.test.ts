import assert from 'node:assert/strict';
import { test } from 'node:test';

import { findDifferences } from './value-differences.ts';

test('only the members that differ are named, with both values', () => {
  const before = { limits: { models: ['a'], spend: '5' }, team: null };
  const after = { limits: { models: ['a'], spend: '7' }, team: 'atlas' };
  assert.deepEqual(findDifferences(before, after), [
    { path: 'limits.spend', before: '5', after: '7' },
    { path: 'team', before: undefined, after: 'atlas' },
  ]);
});

test('a new object and a removed one show all their members', () => {
  assert.deepEqual(findDifferences(null, { name: 'ann', limits: {} }), [{ path: 'name', before: undefined, after: 'ann' }]);
  assert.deepEqual(findDifferences({ disabled: false }, undefined), [{ path: 'disabled', before: 'false', after: undefined }]);
  assert.deepEqual(findDifferences({ list: [1, 2] }, { list: [2, 1] }), [{ path: 'list', before: '[1,2]', after: '[2,1]' }]);
});

import assert from 'node:assert/strict';
import { test } from 'node:test';

import { describeDifferences, differencesOf } from './differences.ts';

test('only what a change changed is listed, by its path, and lists are one value', () => {
  const before = { name: 'ci', limits: { concurrency: 4, models: ['a'] }, disabled: false, note: null };
  const after = { name: 'ci', limits: { concurrency: 8, models: ['a', 'b'] }, expires: '2027-01-01' };
  assert.deepEqual(differencesOf(before, after), [
    { path: 'limits.concurrency', before: '4', after: '8' },
    { path: 'limits.models', before: '["a"]', after: '["a","b"]' },
    { path: 'expires', before: undefined, after: '2027-01-01' },
    { path: 'disabled', before: 'false', after: undefined },
  ]);
});

test('a made object is all new, a deleted one all gone, and equal states differ in nothing', () => {
  assert.deepEqual(differencesOf(null, { user: 'ann' }), [{ path: 'user', before: undefined, after: 'ann' }]);
  assert.deepEqual(differencesOf({ user: 'ann' }, null), [{ path: 'user', before: 'ann', after: undefined }]);
  assert.deepEqual(differencesOf({ a: { b: 1 } }, { a: { b: 1 } }), []);
  assert.deepEqual(differencesOf('one', 'two'), [{ path: '', before: 'one', after: 'two' }]);
});

test('a change in a line names its first value and how many more there are', () => {
  assert.equal(describeDifferences([]), '');
  assert.equal(describeDifferences(differencesOf({ a: 1 }, { a: 2, b: 3 })), 'a: 1 → 2, and 1 more');
  assert.equal(describeDifferences(differencesOf({ a: 1 }, {})), 'a: 1 → none');
});

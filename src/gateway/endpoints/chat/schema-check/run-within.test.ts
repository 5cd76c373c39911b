import assert from 'node:assert/strict';
import { test } from 'node:test';

import { isTimeout, runWithin } from './run-within.ts';

test('an action that works for too long is stopped', () => {
  assert.throws(() => runWithin(50, () => /^(a+)+$/.test(`${'a'.repeat(40)}!`)), isTimeout);
});

test('an action that stands still for a moment has not worked for too long', () => {
  const pauses = [300];
  const result = runWithin(100, () => {
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, pauses.shift() ?? 0);
    return 'done';
  });
  assert.deepEqual([result, pauses], ['done', []]);
});

test('an action that throws throws', () => {
  assert.throws(() => runWithin(50, () => assert.fail('as it is')), /as it is/);
});

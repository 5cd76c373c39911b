import assert from 'node:assert/strict';
import { test } from 'node:test';

import { isTimeout, runWithin } from './run-within.ts';

test('an action that computes for too long is stopped', () => {
  assert.throws(() => runWithin(50, () => /^(a+)+$/.test(`${'a'.repeat(40)}!`)), isTimeout);
});

test('an action that only waited is not stopped', () => {
  const pauses = [300];
  const result = runWithin(100, () => {
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, pauses.shift() ?? 0);
    return 'done';
  });
  assert.deepEqual([result, pauses], ['done', []]);
});

test('an error of the action is thrown', () => {
  assert.throws(() => runWithin(50, () => assert.fail('as it is')), /as it is/);
});

import assert from 'node:assert/strict';
import { test } from 'node:test';

import { DatabaseError } from 'pg';

import { isConnectionLost, toStoreError } from './postgres-error.ts';

function refusal(code: string): DatabaseError {
  const error = new DatabaseError('refused', 10, 'error');
  error.code = code;
  return error;
}

test('a connection that the server ended because its transaction was idle is lost, and what it was for may be repeated', () => {
  const error = toStoreError(refusal('25P03'));
  assert.deepEqual([error.kind, error.isTransient, isConnectionLost(error)], ['unavailable', true, true]);
});

test('a refusal has the kind of its code, or else of its class, and an unknown one is internal', () => {
  for (const [code, kind] of [
    ['25006', 'read-only'],
    ['53100', 'disk'],
    ['53200', 'unavailable'],
    ['57014', 'unavailable'],
    ['40001', 'busy'],
    ['25001', 'internal'],
    ['XX000', 'internal'],
  ] as const)
    assert.equal(toStoreError(refusal(code)).kind, kind, code);
});

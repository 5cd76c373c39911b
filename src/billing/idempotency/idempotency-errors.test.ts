import assert from 'node:assert/strict';
import { test } from 'node:test';

import { conflict, inProgress, spent, unavailable } from './idempotency-errors.ts';

for (const [refuse, status, more, words] of [
  [() => conflict(), 409, { headers: { 'x-should-retry': 'false' }, param: 'Idempotency-Key' }, /with another request\. Use a new key/],
  [() => inProgress(), 409, { retryAfterSeconds: 2, param: 'Idempotency-Key' }, /under way\. Please try again in 2s/],
  [() => spent('req_1'), 409, { headers: { 'x-should-retry': 'false' }, param: 'Idempotency-Key' }, /was req_1\..*Check its receipt/],
  [() => unavailable(new Error('down')), 503, { retryAfterSeconds: 1, internal: 'down' }, /so it was not made\. Please try again in 1s/],
  [() => unavailable('down'), 503, { retryAfterSeconds: 1, internal: 'the store refused' }, /so it was not made/],
] as const)
  test(`a refusal says what to do, and tells clients when to retry: ${words}`, () => {
    const error = refuse();
    assert.equal(error.status, status);
    const { headers, retryAfterSeconds, param, internal } = error;
    assert.deepEqual(JSON.parse(JSON.stringify({ headers, retryAfterSeconds, param, internal })), more);
    assert.match(error.message, words);
  });

import assert from 'node:assert/strict';
import { test } from 'node:test';

import { GatewayError } from '../../../inference/gateway-error.ts';
import { fakeRequest } from './testing/fake-videos.ts';
import { readIdempotency } from './idempotency-key.ts';

const read = (headers: Readonly<Record<string, string>>, request = fakeRequest(), id = 'k') =>
  readIdempotency(headers, { caller: { id }, request, nowMs: 1000 });

test('a key holds for a day, for its API key', () => {
  assert.deepEqual(read({}), undefined);
  assert.deepEqual(read({ 'idempotency-key': ' ' }), undefined);
  const found = read({ 'idempotency-key': 'abc' });
  assert.deepEqual([found?.keyId, found?.key, found?.untilMs], ['k', 'abc', 1000 + 86_400_000]);
  assert.equal(read({ 'x-idempotency-key': 'abc' })?.key, 'abc');
});

test('different requests have different hashes', () => {
  const hash = (more: Parameters<typeof fakeRequest>[0]) => read({ 'idempotency-key': 'a' }, fakeRequest(more))?.bodyHash;
  assert.equal(hash({}), hash({}));
  for (const more of [{ prompt: 'a dog' }, { metadata: '{"seed":1}' }, { metadata: '{"seed":1.0}' }, { durationSeconds: 5 }])
    assert.notEqual(hash(more), hash({}), JSON.stringify(more));
});

test('a value that a header cannot contain is not a valid key', () => {
  for (const key of ['a\u0001b', 'ä', 'x'.repeat(256)])
    assert.throws(
      () => read({ 'idempotency-key': key }),
      (error) => error instanceof GatewayError && error.code === 'invalid_value',
    );
});

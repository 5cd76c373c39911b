import assert from 'node:assert/strict';
import { test } from 'node:test';

import fc from 'fast-check';

import { forbidsRetry, parseRetryAfter } from './parse-retry-after.ts';

const nowMs = Date.UTC(2026, 10, 21, 9, 0, 0);

for (const [headers, waitMs] of [
  [{}, undefined],
  [{ 'retry-after': '0' }, 0],
  [{ 'retry-after': '7' }, 7000],
  [{ 'retry-after': ' 7 ' }, 7000],
  [{ 'retry-after': '1.5' }, 1500],
  [{ 'retry-after': '34.4s' }, 34_400],
  [{ 'retry-after-ms': '250' }, 250],
  [{ 'retry-after-ms': '12.5', 'retry-after': '9' }, 12.5],
  [{ 'retry-after-ms': 'soon', 'retry-after': '9' }, 9000],
  [{ 'retry-after': ['3', '9'] }, 3000],
  [{ 'retry-after': 'Sat, 21 Nov 2026 09:00:13 GMT' }, 13_000],
  [{ 'retry-after': 'Sat, 21 Nov 2026 08:00:00 GMT' }, 0],
  // An upstream whose clock is an hour late.
  [{ 'retry-after': 'Sat, 21 Nov 2026 08:00:13 GMT', date: 'Sat, 21 Nov 2026 08:00:00 GMT' }, 13_000],
  [{ 'retry-after': 'Sat, 21 Nov 2026 09:00:13 GMT', date: 'today' }, 13_000],
  [{ 'retry-after': 'Sat, 99 Nov 2026 09:00:13 GMT' }, undefined],
  [{ 'retry-after': '120 seconds' }, undefined],
  [{ 'retry-after': '-5' }, undefined],
  [{ 'retry-after': '1e3' }, undefined],
  [{ 'retry-after': 'Infinity' }, undefined],
  [{ 'retry-after': '' }, undefined],
  [{ 'retry-after': [] }, undefined],
  [{ 'retry-after': '9'.repeat(400) }, undefined],
] as const) {
  test(`${JSON.stringify(headers)} is ${waitMs ?? 'nothing'}`, () => {
    assert.equal(parseRetryAfter(headers as Record<string, string | string[]>, nowMs), waitMs);
  });
}

test('the time is a number from zero or undefined, whatever the header contains', () => {
  fc.assert(
    fc.property(fc.string(), fc.string(), (after, afterMs) => {
      const waitMs = parseRetryAfter({ 'retry-after': after, 'retry-after-ms': afterMs }, nowMs);
      assert.ok(waitMs === undefined || (Number.isFinite(waitMs) && waitMs >= 0));
    }),
  );
});

test('only `false` forbids a retry', () => {
  assert.ok(forbidsRetry({ 'x-should-retry': 'false' }));
  assert.ok(forbidsRetry({ 'x-should-retry': 'False' }));
  for (const headers of [{}, { 'x-should-retry': 'true' }, { 'x-should-retry': '' }]) assert.ok(!forbidsRetry(headers));
});

import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { splitBuckets } from './split-buckets.ts';

test('a day that is cut at both ends is read from calls, minutes and hours', () => {
  const segments = splitBuckets({ buckets: [{ startSeconds: 0, endSeconds: 86_400 }], startSeconds: 30, endSeconds: 7290 });
  assert.deepEqual(segments, {
    calls: [
      [0, 30_000, 60_000],
      [0, 7_260_000, 7_290_000],
    ],
    minutes: [
      [0, 1, 60],
      [0, 120, 121],
    ],
    hours: [[0, 1, 2]],
  });
});

test('a span inside one minute is read from calls alone, and an empty one from nowhere', () => {
  const buckets = [{ startSeconds: 0, endSeconds: 60 }];
  assert.deepEqual(splitBuckets({ buckets, startSeconds: 10, endSeconds: 20 }), { calls: [[0, 10_000, 20_000]], minutes: [], hours: [] });
  for (const [startSeconds, endSeconds] of [
    [10, 10],
    [20, 10],
    [60, 120],
    [-60, 0],
  ] as const) {
    assert.deepEqual(splitBuckets({ buckets, startSeconds, endSeconds }), { calls: [], minutes: [], hours: [] });
  }
});

test('the parts of a bucket are disjoint and cover it exactly, before 1970 and after', () => {
  const span = fc.record({
    start: fc.integer({ min: -20_000, max: 20_000 }),
    length: fc.nat(20_000),
    cutStart: fc.nat(9000),
    cutEnd: fc.nat(9000),
  });
  fc.assert(
    fc.property(span, ({ start, length, cutStart, cutEnd }) => {
      const [startSeconds, endSeconds] = [start + cutStart, start + length - cutEnd];
      const segments = splitBuckets({ buckets: [{ startSeconds: start, endSeconds: start + length }], startSeconds, endSeconds });
      const ranges = [
        ...segments.calls.map(([, from, until]) => [from / 1000, until / 1000] as const),
        ...segments.minutes.map(([, from, until]) => [from * 60, until * 60] as const),
        ...segments.hours.map(([, from, until]) => [from * 3600, until * 3600] as const),
      ].toSorted((left, right) => left[0] - right[0]);
      let covered = startSeconds;
      for (const [from, until] of ranges) {
        assert.equal(from, covered);
        assert.ok(until > from);
        covered = until;
      }
      assert.equal(covered, Math.max(startSeconds, endSeconds));
      assert.ok(ranges.length <= 5);
    }),
  );
});

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
    days: [],
  });
});

test('a span inside one minute is read from calls only, and an empty one from no table', () => {
  const buckets = [{ startSeconds: 0, endSeconds: 60 }];
  assert.deepEqual(splitBuckets({ buckets, startSeconds: 10, endSeconds: 20 }), {
    calls: [[0, 10_000, 20_000]],
    minutes: [],
    hours: [],
    days: [],
  });
  for (const [startSeconds, endSeconds] of [
    [10, 10],
    [20, 10],
    [60, 120],
    [-60, 0],
  ] as const) {
    assert.deepEqual(splitBuckets({ buckets, startSeconds, endSeconds }), { calls: [], minutes: [], hours: [], days: [] });
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

test('whole days are read as days, whatever minute they begin at, and parts of days are not', () => {
  const dayBounds = [0, 1, 2, 3, 4, 5].map((day) => day * 86_400 - 20_700);
  const span = fc.record({
    start: fc.integer({ min: -3, max: 400_000 }),
    lengths: fc.array(fc.integer({ min: 60, max: 200_000 }), { minLength: 1, maxLength: 4 }),
  });
  fc.assert(
    fc.property(span, ({ start, lengths }) => {
      let at = start;
      const buckets = lengths.map((length) => ({ startSeconds: at, endSeconds: (at += length) }));
      const segments = splitBuckets({ buckets, startSeconds: start + 1, endSeconds: at - 1, dayBounds });
      const ranges = [
        ...segments.calls.map(([, from, until]) => [from / 1000, until / 1000] as const),
        ...[...segments.minutes, ...segments.days].map(([, from, until]) => [from * 60, until * 60] as const),
        ...segments.hours.map(([, from, until]) => [from * 3600, until * 3600] as const),
      ].toSorted((left, right) => left[0] - right[0]);
      let covered = start + 1;
      for (const [from, until] of ranges) {
        assert.equal(from, covered);
        assert.ok(until > from);
        covered = until;
      }
      assert.equal(covered, at - 1);
      const isWhole = (from: number, until: number): boolean =>
        buckets.some((bucket) => Math.max(bucket.startSeconds, start + 1) <= from && until <= Math.min(bucket.endSeconds, at - 1));
      const whole = dayBounds.slice(1).filter((until, index) => isWhole(dayBounds[index] ?? 0, until)).length;
      assert.equal(
        segments.days.reduce((sum, [, from, until]) => sum + (until - from) / 1440, 0),
        whole,
      );
    }),
  );
});

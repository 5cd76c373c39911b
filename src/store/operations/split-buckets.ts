import type { BucketBounds } from '../../billing/statistics/statistics-store.ts';

/** A part of a bucket in the units of its source: `[bucketStartSeconds, from, until)`. */
type Segment = readonly [bucketStartSeconds: number, from: number, until: number];

/**
 * The sources of the parts of all buckets: days (by the minute since 1970 at which they begin), hours and minutes since
 * 1970 from the roll-ups, milliseconds from the ledger itself.
 */
export type Segments = {
  readonly days: readonly Segment[];
  readonly hours: readonly Segment[];
  readonly minutes: readonly Segment[];
  readonly calls: readonly Segment[];
};

type Pieces = { -readonly [Source in keyof Segments]: Segment[] };

/**
 * Cuts every bucket, clipped to `[startSeconds, endSeconds)`, into whole days, whole hours, whole minutes and the rest,
 * so that a long span reads few rows and a cut minute is still exact. The parts are disjoint and cover the clipped
 * bucket.
 * @param span dayBounds: the beginnings of the days that have sums, ascending and adjacent, in whole minutes as Unix
 * seconds; the last bound ends the last day
 */
export function splitBuckets(span: {
  readonly buckets: readonly BucketBounds[];
  readonly startSeconds: number;
  readonly endSeconds: number;
  readonly dayBounds?: readonly number[];
}): Segments {
  const { dayBounds = [] } = span;
  const pieces: Pieces = { days: [], hours: [], minutes: [], calls: [] };
  let at = 0;
  for (const bucket of span.buckets) {
    const from = Math.max(bucket.startSeconds, span.startSeconds);
    const until = Math.min(bucket.endSeconds, span.endSeconds);
    while ((dayBounds[at] ?? Infinity) < from) at += 1;
    const firstDay = dayBounds[at];
    let last = at;
    while ((dayBounds[last + 1] ?? Infinity) <= until) last += 1;
    const lastDay = dayBounds[last];
    if (firstDay === undefined || lastDay === undefined || firstDay >= lastDay) {
      splitShort(pieces, bucket.startSeconds, from, until);
      continue;
    }
    splitShort(pieces, bucket.startSeconds, from, firstDay);
    pieces.days.push([bucket.startSeconds, firstDay / 60, lastDay / 60]);
    splitShort(pieces, bucket.startSeconds, lastDay, until);
  }
  return pieces;
}

/** Cuts a part of a bucket that contains no whole day. */
function splitShort(pieces: Pieces, bucketStartSeconds: number, fromSeconds: number, untilSeconds: number): void {
  const bySecond = splitRange(fromSeconds, untilSeconds, 60);
  for (const [from, until] of bySecond.rests) pieces.calls.push([bucketStartSeconds, from * 1000, until * 1000]);
  const byMinute = splitRange(...bySecond.whole, 60);
  for (const [from, until] of byMinute.rests) pieces.minutes.push([bucketStartSeconds, from, until]);
  const [fromHour, untilHour] = byMinute.whole;
  if (fromHour < untilHour) pieces.hours.push([bucketStartSeconds, fromHour, untilHour]);
}

type Range = readonly [from: number, until: number];

/**
 * Splits `[from, until)` into the whole units of `size` inside it, counted in that size, and the rests before and
 * after.
 */
function splitRange(from: number, until: number, size: number): { readonly whole: Range; readonly rests: readonly Range[] } {
  const wholeFrom = Math.ceil(from / size);
  const wholeUntil = Math.floor(until / size);
  if (wholeFrom >= wholeUntil) return { whole: [0, 0], rests: from < until ? [[from, until]] : [] };
  const rests: Range[] = [];
  if (from < wholeFrom * size) rests.push([from, wholeFrom * size]);
  if (wholeUntil * size < until) rests.push([wholeUntil * size, until]);
  return { whole: [wholeFrom, wholeUntil], rests };
}

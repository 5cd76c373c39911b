import type { BucketBounds } from '../../billing/statistics/statistics-store.ts';

/** A part of a bucket in the units of the source it is summed from: `[bucketStartSeconds, from, until)`. */
type Segment = readonly [bucketStartSeconds: number, from: number, until: number];

/** Where the parts of all buckets are summed from: hours and minutes since 1970 from the roll-ups, milliseconds from the ledger itself. */
export type Segments = { readonly hours: readonly Segment[]; readonly minutes: readonly Segment[]; readonly calls: readonly Segment[] };

/**
 * Cuts every bucket, clipped to `[startSeconds, endSeconds)`, into whole hours, whole minutes and what remains, so that a long span
 * reads few rows and a cut minute is still exact. The parts are disjoint and cover the clipped bucket.
 */
export function splitBuckets(span: {
  readonly buckets: readonly BucketBounds[];
  readonly startSeconds: number;
  readonly endSeconds: number;
}): Segments {
  const hours: Segment[] = [];
  const minutes: Segment[] = [];
  const calls: Segment[] = [];
  for (const bucket of span.buckets) {
    const bySecond = splitRange(Math.max(bucket.startSeconds, span.startSeconds), Math.min(bucket.endSeconds, span.endSeconds), 60);
    for (const [from, until] of bySecond.rests) calls.push([bucket.startSeconds, from * 1000, until * 1000]);
    const byMinute = splitRange(...bySecond.whole, 60);
    for (const [from, until] of byMinute.rests) minutes.push([bucket.startSeconds, from, until]);
    const [fromHour, untilHour] = byMinute.whole;
    if (fromHour < untilHour) hours.push([bucket.startSeconds, fromHour, untilHour]);
  }
  return { hours, minutes, calls };
}

type Range = readonly [from: number, until: number];

/** Splits `[from, until)` into the whole units of `size` inside it, counted in that size, and the rests before and after. */
function splitRange(from: number, until: number, size: number): { readonly whole: Range; readonly rests: readonly Range[] } {
  const wholeFrom = Math.ceil(from / size);
  const wholeUntil = Math.floor(until / size);
  if (wholeFrom >= wholeUntil) return { whole: [0, 0], rests: from < until ? [[from, until]] : [] };
  const rests: Range[] = [];
  if (from < wholeFrom * size) rests.push([from, wholeFrom * size]);
  if (wholeUntil * size < until) rests.push([wholeUntil * size, until]);
  return { whole: [wholeFrom, wholeUntil], rests };
}

import type { BucketBounds } from './statistics-store.ts';
import type { Granularity } from './granularity.ts';
import { zonedTime } from './format-bucket-time.ts';

const MINUTE_SECONDS = 60;
const HOUR_SECONDS = 3600;

export type BucketsQuery = {
  readonly granularity: Granularity;
  /** Unix seconds, half-open: `[startSeconds, endSeconds)`. */
  readonly startSeconds: number;
  readonly endSeconds: number;
  /** IANA name, for example `Europe/Berlin`. */
  readonly timeZone: string;
  readonly bucketsMax: number;
};

/** The interval needs more buckets than are allowed. */
export class TooManyBucketsError extends Error {
  readonly bucketsMax: number;

  constructor(bucketsMax: number) {
    super(`The interval has more than ${bucketsMax} buckets.`);
    this.name = 'TooManyBucketsError';
    this.bucketsMax = bucketsMax;
  }
}

/**
 * The adjacent half-open buckets that cover an interval, ascending; empty for an empty interval. The first may start
 * before the interval and the last may end after it.
 *
 * Minutes are minutes of Unix time. Hours are one absolute hour long and start when the local clock shows a full hour;
 * if a zone changes its offset by part of an hour, the change itself is a bound. Days, weeks (from Monday) and months
 * start with the first moment of their first local date, so a day has 23 to 25 hours around a clock change, and a date
 * that the zone skipped has no bucket. Throws TooManyBucketsError, and RangeError for an unknown zone.
 */
export function bucketsBetween(query: BucketsQuery): BucketBounds[] {
  const { startSeconds, endSeconds, bucketsMax } = query;
  const buckets: BucketBounds[] = [];
  if (startSeconds >= endSeconds) return buckets;
  let previous: number | undefined;
  for (const exactBound of boundsFrom(query)) {
    // Roll-ups use whole minutes of Unix time. Only Liberia before 1972 had an offset with seconds; its bounds are
    // rounded down.
    const bound = Math.floor(exactBound / MINUTE_SECONDS) * MINUTE_SECONDS;
    if (previous !== undefined && bound > previous && bound > startSeconds) {
      if (buckets.length === bucketsMax) throw new TooManyBucketsError(bucketsMax);
      buckets.push({ startSeconds: previous, endSeconds: bound });
    }
    if (bound >= endSeconds) return buckets;
    previous = Math.max(bound, previous ?? bound);
  }
  return buckets;
}

/** Endless ascending bucket bounds; the first is not after the start. */
function boundsFrom({ granularity, startSeconds, timeZone }: BucketsQuery): Generator<number> {
  switch (granularity) {
    case 1:
      return minuteBounds(startSeconds);
    case 2:
      return hourBounds(startSeconds, timeZone);
    case 3:
      return dateBounds(localDate(startSeconds, timeZone), { days: 1 }, timeZone);
    case 4: {
      const date = localDate(startSeconds, timeZone);
      return dateBounds(date.subtract({ days: date.dayOfWeek - 1 }), { weeks: 1 }, timeZone);
    }
    case 5:
      return dateBounds(localDate(startSeconds, timeZone).with({ day: 1 }), { months: 1 }, timeZone);
  }
}

function localDate(seconds: number, timeZone: string): Temporal.PlainDate {
  return zonedTime(seconds, timeZone).toPlainDate();
}

function* minuteBounds(startSeconds: number): Generator<number> {
  for (let bound = Math.floor(startSeconds / MINUTE_SECONDS) * MINUTE_SECONDS; ; bound += MINUTE_SECONDS) yield bound;
}

function* dateBounds(first: Temporal.PlainDate, step: Temporal.DurationLike, timeZone: string): Generator<number> {
  // The conversion without a time of day returns the first moment of the date, also if midnight does not exist.
  for (let date = first; ; date = date.add(step)) yield epochSeconds(date.toZonedDateTime({ timeZone }));
}

function* hourBounds(startSeconds: number, timeZone: string): Generator<number> {
  const start = zonedTime(startSeconds, timeZone);
  let offset = offsetSeconds(start);
  let bound = latestPartialHourChange(start) ?? -Infinity;
  bound = Math.max(bound, fullHourAtOrBefore(startSeconds, offset));
  let change = start.getTimeZoneTransition('next');
  for (;;) {
    const changeSeconds = change === null ? Infinity : epochSeconds(change);
    for (; bound < changeSeconds; bound = fullHourAtOrBefore(bound, offset) + HOUR_SECONDS) yield bound;
    if (change === null) return;
    const offsetAfter = offsetSeconds(change);
    if ((offsetAfter - offset) % HOUR_SECONDS !== 0) bound = changeSeconds;
    offset = offsetAfter;
    change = change.getTimeZoneTransition('next');
  }
}

/** When the offset last changed before or at this moment, if it changed by part of an hour. */
function latestPartialHourChange(start: Temporal.ZonedDateTime): number | undefined {
  const change = start.add({ seconds: 1 }).getTimeZoneTransition('previous');
  if (change === null) return undefined;
  const offsetBefore = offsetSeconds(change.subtract({ seconds: 1 }));
  return (offsetSeconds(change) - offsetBefore) % HOUR_SECONDS === 0 ? undefined : epochSeconds(change);
}

function fullHourAtOrBefore(seconds: number, offset: number): number {
  return Math.floor((seconds + offset) / HOUR_SECONDS) * HOUR_SECONDS - offset;
}

function offsetSeconds(time: Temporal.ZonedDateTime): number {
  return time.offsetNanoseconds / 1e9;
}

function epochSeconds(time: Temporal.ZonedDateTime): number {
  return time.epochMilliseconds / 1000;
}

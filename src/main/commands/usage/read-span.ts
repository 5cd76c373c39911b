import { bucketsBetween } from '../../../billing/statistics/buckets-between.ts';
import { zonedTime } from '../../../billing/statistics/format-bucket-time.ts';
import { type Granularity, granularityNames } from '../../../billing/statistics/granularity.ts';
import { StartError } from '../../environment.ts';

/** Half-open, in Unix seconds. */
export type Span = { readonly startSeconds: number; readonly endSeconds: number };

/** The default span if no start is given: the distance from the current bucket to the first. */
const bucketsBack: Readonly<Record<Granularity, Temporal.DurationLike>> = {
  1: { minutes: 59 },
  2: { hours: 23 },
  3: { days: 6 },
  4: { weeks: 7 },
  5: { months: 11 },
};

/** The number of a bucket size, by its name. @throws StartError naming all sizes */
export function readGranularity(name: string): Granularity {
  for (const [number, known] of Object.entries(granularityNames)) {
    if (known === name) return Number(number) as Granularity;
  }
  throw new StartError(`--by must be one of ${Object.values(granularityNames).join(', ')}; got "${name}"`);
}

/**
 * The span from `--from` to `--to`, which are local times of a zone. The default end is now. The default start is a few
 * buckets before the end.
 * @throws StartError
 */
export function readSpan(
  options: { readonly from?: string; readonly to?: string },
  granularity: Granularity,
  timeZone: string,
  nowMs: number,
): Span {
  const now = zonedTime(Math.floor(nowMs / 1000), timeZone);
  const end = options.to === undefined ? now.add({ seconds: 1 }) : readTime('--to', options.to, now);
  const start = options.from === undefined ? undefined : readTime('--from', options.from, now);
  const endSeconds = secondsOf(end);
  const startSeconds =
    start === undefined ? firstBucket(end.subtract({ seconds: 1 }).subtract(bucketsBack[granularity]), granularity) : secondsOf(start);
  if (startSeconds >= endSeconds) throw new StartError('--from must be before --to');
  return { startSeconds, endSeconds };
}

/** The start of the bucket that contains a moment. */
function firstBucket(moment: Temporal.ZonedDateTime, granularity: Granularity): number {
  const seconds = secondsOf(moment);
  const [bucket] = bucketsBetween({
    granularity,
    startSeconds: seconds,
    endSeconds: seconds + 1,
    timeZone: moment.timeZoneId,
    bucketsMax: 1,
  });
  return bucket?.startSeconds ?? seconds;
}

const units: Readonly<Record<string, string>> = { m: 'minutes', h: 'hours', d: 'days', w: 'weeks' };

/** `2026-01-31`, `2026-01-31T13:45`, Unix seconds, or a time before now such as `36h` or `7d`. */
function readTime(option: string, text: string, now: Temporal.ZonedDateTime): Temporal.ZonedDateTime {
  const [, count, unit] = /^(\d{1,6})([mhdw])$/.exec(text) ?? [];
  if (count !== undefined && unit !== undefined) return now.subtract({ [units[unit] ?? 'days']: Number(count) });
  if (/^\d{9,11}$/.test(text)) return zonedTime(Number(text), now.timeZoneId);
  try {
    if (/^\d{4}-\d{2}-\d{2}([T ]\d{2}:\d{2}(:\d{2})?)?$/.test(text)) {
      return Temporal.PlainDateTime.from(text.replace(' ', 'T')).toZonedDateTime(now.timeZoneId);
    }
  } catch {
    // A date that does not exist gets the same error below as any other invalid text.
  }
  throw new StartError(
    `${option} must be a date (2026-01-31), a time (2026-01-31T13:45), Unix seconds, or a time back from now (36h, 7d); got "${text}"`,
  );
}

function secondsOf(time: Temporal.ZonedDateTime): number {
  return Math.floor(time.epochMilliseconds / 1000);
}

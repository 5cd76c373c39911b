import { bucketsBetween, TooManyBucketsError } from '../statistics/buckets-between.ts';
import { zonedTime } from '../statistics/format-bucket-time.ts';
import { type Granularity, type GranularityName, granularityNames } from '../statistics/granularity.ts';
import type { BucketBounds } from '../statistics/statistics-store.ts';
import {
  addUsage,
  noUsage,
  type UsageAnswer,
  type UsageLine,
  type UsagePart,
  type UsageQuestion,
  UsageRefusedError,
} from './usage-question.ts';
import type { UsageFilter, SumsByBucket, UsageDimension, UsageFamily, UsageRead, UsageRows, UsageStore } from './usage-store.ts';

/** `auto` has at most this many buckets. */
const autoBucketsMax = 400;
/** Any granularity that was asked for. */
const bucketsMax = 5000;
const groupsMax = 50;
/** Single calls are added up for this many days at most. */
const factDaysMax = 31;
const daySeconds = 86_400;

/**
 * Answers a question about usage. Sums are exact: the series and `other` add up to the totals, and the totals are
 * those of the statistics of the same span. Rejects with UsageRefusedError, RangeError for an unknown time zone, or
 * the store's error.
 * @param nowMs the present time
 */
export async function queryUsage(store: UsageStore, question: UsageQuestion, nowMs: number): Promise<UsageAnswer> {
  const { startSeconds, endSeconds } = question;
  check(question);
  const { granularity, buckets } = chooseBuckets(question);
  const family = chooseFamily(question);
  const read: UsageRead = {
    family,
    buckets,
    startSeconds,
    endSeconds,
    groupBy: question.groupBy,
    filter: question.filter,
    ...(question.excluded !== undefined && { excluded: question.excluded }),
    scope: question.scope,
    withDurations: question.extra.includes('firstByte') || question.extra.includes('duration'),
    groups: { limit: question.limit, rankBy: question.rankBy },
    nowMs,
  };
  const rows = await readWhole(store, read);
  const comparison = question.compare === undefined ? undefined : await compare(store, question, { read, rows, granularity });
  return {
    timeZone: question.timeZone,
    granularity,
    family,
    ...describe(read, rows),
    ...(comparison === undefined ? {} : { comparison }),
    ...(rows.progress === undefined ? {} : { progress: rows.progress }),
  };
}

async function readWhole(store: UsageStore, read: UsageRead): Promise<UsageRows> {
  const rows = await store.readUsage(read);
  if (rows.readyFromMs === undefined) return rows;
  throw new UsageRefusedError(
    'not_ready',
    'calls of earlier versions are still being added up by team, tag and key, the newest first; ' +
      `those since ${new Date(rows.readyFromMs).toISOString()} are ready: ask for a span after it, or again later`,
  );
}

function check({ startSeconds, endSeconds, groupBy, limit }: UsageQuestion): void {
  if (!Number.isInteger(startSeconds) || !Number.isInteger(endSeconds) || startSeconds >= endSeconds) {
    throw new UsageRefusedError('invalid_range', 'from must be before to, and both must be whole seconds');
  }
  if (groupBy.length > 2 || new Set(groupBy).size !== groupBy.length) {
    throw new UsageRefusedError('invalid_grouping', 'group_by takes at most two different names');
  }
  if (!Number.isInteger(limit) || limit < 1 || limit > groupsMax) {
    throw new UsageRefusedError('invalid_grouping', `limit must be an integer from 1 to ${groupsMax}; got ${limit}`);
  }
}

type Buckets = { readonly granularity: 'none' | GranularityName; readonly buckets: readonly BucketBounds[] };
const granularities = Object.entries(granularityNames).map(([number, name]) => ({ number: Number(number) as Granularity, name }));

function chooseBuckets({ startSeconds, endSeconds, timeZone, granularity }: UsageQuestion): Buckets {
  // Checks the name of the zone.
  zonedTime(startSeconds, timeZone);
  if (granularity === 'none') {
    const bucket = { startSeconds: Math.floor(startSeconds / 60) * 60, endSeconds: Math.ceil(endSeconds / 60) * 60 };
    return { granularity, buckets: [bucket] };
  }
  const chosen = granularities.filter(({ name }) => granularity === 'auto' || name === granularity);
  for (const { number, name } of chosen) {
    const most = granularity === 'auto' ? autoBucketsMax : bucketsMax;
    try {
      return { granularity: name, buckets: bucketsBetween({ granularity: number, startSeconds, endSeconds, timeZone, bucketsMax: most }) };
    } catch (error) {
      if (!(error instanceof TooManyBucketsError)) throw error;
    }
  }
  const advice = granularity === 'auto' ? 'ask for a shorter span' : 'ask for a shorter span or a longer granularity';
  throw new UsageRefusedError('too_many_buckets', `the span has too many buckets of granularity ${granularity}; ${advice}`);
}

const usageNames: ReadonlySet<string> = new Set<UsageDimension>(['user', 'key', 'model']);
const serviceNames: ReadonlySet<string> = new Set<UsageDimension>(['upstream', 'upstreamModel', 'interface', 'end']);
const dimensionsOfFilter = {
  users: 'user',
  keys: 'key',
  models: 'model',
  teams: 'team',
  tags: 'team',
  upstreams: 'upstream',
  upstreamModels: 'upstreamModel',
  interfaces: 'interface',
  ends: 'end',
} as const satisfies Readonly<Record<keyof UsageQuestion['filter'], UsageDimension>>;

function chooseFamily(question: UsageQuestion): UsageFamily {
  const { filter, excluded = [], groupBy, extra, rankBy, scope } = question;
  const filters = [filter, ...excluded];
  const filtered = Object.entries(dimensionsOfFilter).flatMap(([name, dimension]) =>
    filters.some((each) => each[name as keyof UsageFilter] !== undefined) ? [dimension] : [],
  );
  const asked: readonly string[] = [...groupBy, ...filtered, ...(scope === 'all' ? [] : ['user'])];
  const needsService = extra.length > 0 || rankBy === 'failed' || asked.some((name) => serviceNames.has(name));
  // A key's id is not in the sums of usage: a later key may have the same name.
  const isLabelled = asked.some((name) => name === 'team' || name.startsWith('tag:'));
  const needsCalls = isLabelled || filters.some(({ keys }) => keys?.some((key) => 'keyId' in key) === true);
  if (!needsService && !needsCalls) return 'usage';
  if (!needsCalls && !asked.some((name) => usageNames.has(name))) return 'service';
  if (!extra.includes('firstByte') && !extra.includes('duration') && !asked.some((name) => serviceNames.has(name))) return 'names';
  if (question.endSeconds - question.startSeconds <= factDaysMax * daySeconds + 3600) return 'facts';
  throw new UsageRefusedError(
    'grouping_too_wide',
    `users, keys, models, teams and tags together with upstreams, interfaces, ends or durations are added up for at most ${factDaysMax} days; ` +
      'ask for a shorter span, or leave out one of the two kinds',
  );
}

async function compare(
  store: UsageStore,
  question: UsageQuestion,
  { read, rows, granularity }: { readonly read: UsageRead; readonly rows: UsageRows; readonly granularity: Buckets['granularity'] },
): Promise<UsagePart> {
  const span = compared(question);
  const { buckets } = chooseBuckets({ ...question, ...span, granularity });
  const other = { ...read, ...span, buckets, groups: { names: rows.series.map(({ names }) => names) } };
  return describe(other, await readWhole(store, other));
}

function compared({
  startSeconds,
  endSeconds,
  timeZone,
  compare: kind,
}: UsageQuestion): Pick<UsageQuestion, 'startSeconds' | 'endSeconds'> {
  if (kind === 'previous') return { startSeconds: startSeconds - (endSeconds - startSeconds), endSeconds: startSeconds };
  const yearBefore = (seconds: number): number => Math.floor(zonedTime(seconds, timeZone).subtract({ years: 1 }).epochMilliseconds / 1000);
  const start = yearBefore(startSeconds);
  // The last day of February may leave nothing of a short span.
  return { startSeconds: start, endSeconds: Math.max(start + 1, yearBefore(endSeconds)) };
}

function describe({ buckets, startSeconds, endSeconds, groupBy }: UsageRead, { totals, series }: UsageRows): UsagePart {
  const lines = series.map(({ names, sums }) => ({ names, ...toLine(buckets, sums) }));
  const total = toLine(buckets, totals);
  const rest = (sums: UsageLine['total'], pick: (line: UsageLine) => UsageLine['total']): UsageLine['total'] =>
    lines.reduce((left, line) => addUsage(left, pick(line), -1), sums);
  const other: UsageLine = {
    total: rest(total.total, (line) => line.total),
    buckets: total.buckets.map((sums, position) => rest(sums, (line) => line.buckets[position] ?? noUsage)),
  };
  return {
    startSeconds,
    endSeconds,
    bucketStarts: buckets.map((bucket) => bucket.startSeconds),
    totals: total,
    series: lines,
    ...(groupBy.length === 0 ? {} : { other }),
  };
}

function toLine(buckets: readonly BucketBounds[], sums: SumsByBucket): UsageLine {
  const all = buckets.map((_, position) => sums.get(position) ?? noUsage);
  return { total: all.reduce((sum, one) => addUsage(sum, one), noUsage), buckets: all };
}

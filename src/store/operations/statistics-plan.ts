import type { BucketBounds, StatisticsQuery } from '../../billing/statistics/statistics-store.ts';
import type { Database } from './database.ts';
import { dayBounds, readDailySums } from './day-zone.ts';
import { type Segments, splitBuckets } from './split-buckets.ts';
import { sourceNames, sources } from './statistics-sources.ts';

/** A part of a bucket, in the units of its source. */
export type Piece = { readonly source: keyof Segments; readonly from: number; readonly until: number };

/** The sources of each bucket, valid while the same days have sums. */
export type StatisticsPlan = {
  readonly buckets: readonly BucketBounds[];
  /** By position of the bucket. */
  readonly pieces: readonly (readonly Piece[])[];
  /**
   * By position of the bucket: the end of a run of buckets that are each one row group of one roll-up, so that the rows
   * of the run are records without adding up. Undefined for a bucket that must be added up.
   */
  readonly runEnds: readonly (number | undefined)[];
  /** The beginnings of the days that have sums, and the end of the last one, in Unix seconds. */
  readonly dayBounds: readonly number[];
};

/** A bucket shorter than the shortest day contains no day. */
const dayHoursMin = 23;

/**
 * Plans the sources of a query, by the days that have sums at the moment.
 * @param useDays false reads nothing from days, whichever have sums
 */
export async function planStatistics(database: Database, query: StatisticsQuery, useDays = true): Promise<StatisticsPlan> {
  const bounds = useDays ? await summedDayBounds(database, query) : [];
  const segments = splitBuckets({ ...query, dayBounds: bounds });
  const placeOf = new Map(query.buckets.map(({ startSeconds }, place) => [startSeconds, place]));
  const pieces: Piece[][] = query.buckets.map(() => []);
  for (const source of sourceNames) {
    for (const [bucket, from, until] of segments[source]) pieces[placeOf.get(bucket) ?? -1]?.push({ source, from, until });
  }
  return { buckets: query.buckets, pieces, runEnds: findRuns(query, pieces, bounds), dayBounds: bounds };
}

async function summedDayBounds(database: Database, query: StatisticsQuery): Promise<readonly number[]> {
  if (!query.buckets.some((bucket) => bucket.endSeconds - bucket.startSeconds >= dayHoursMin * 3600)) return [];
  const { zone, fromMinute } = await readDailySums(database);
  return dayBounds(query.startSeconds, query.endSeconds, zone).filter((bound) => bound >= fromMinute * 60);
}

/** The rows of one user are spread among those of all: they are looked up unit by unit, and so added up. */
function findRuns(query: StatisticsQuery, pieces: readonly (readonly Piece[])[], bounds: readonly number[]): (number | undefined)[] {
  const runEnds: (number | undefined)[] = pieces.map(() => undefined);
  if (query.userName !== undefined) return runEnds;
  const nextDay = new Map(bounds.map((bound, index) => [bound, bounds[index + 1]]));
  const isWholeUnit = (place: number): boolean => {
    const [piece, ...more] = pieces[place] ?? [];
    if (piece === undefined || more.length > 0 || piece.source === 'calls') return false;
    const { unitSeconds } = sources[piece.source];
    const [start, end] =
      unitSeconds === undefined
        ? [piece.from * 60, nextDay.get(piece.from * 60)]
        : [piece.from * unitSeconds, (piece.from + 1) * unitSeconds];
    return query.buckets[place]?.startSeconds === start && piece.until === (unitSeconds === undefined ? (end ?? 0) / 60 : piece.from + 1);
  };
  for (let place = pieces.length - 1; place >= 0; place -= 1) {
    if (!isWholeUnit(place)) continue;
    const [piece] = pieces[place] ?? [];
    const [next] = pieces[place + 1] ?? [];
    const goesOn = runEnds[place + 1] !== undefined && next?.source === piece?.source && next?.from === piece?.until;
    runEnds[place] = goesOn ? runEnds[place + 1] : place + 1;
  }
  return runEnds;
}

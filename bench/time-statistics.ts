import type { Granularity } from '../src/billing/statistics/granularity.ts';
import { type StatisticsRequest, createStatistics } from '../src/billing/statistics/statistics.ts';
import type { StatisticsStore } from '../src/billing/statistics/statistics-store.ts';
import type { RollUpShape } from './fill-roll-ups.ts';

export type Timing = { readonly question: string; readonly records: number; readonly p50Ms: number; readonly p99Ms: number };

type Question = {
  readonly name: string;
  readonly granularity: Granularity;
  readonly days: number;
  readonly filter?: { readonly tokenName?: string; readonly modelName?: string };
  readonly userName?: string;
};

const questions: readonly Question[] = [
  { name: 'a month by day', granularity: 3, days: 30 },
  { name: 'a month by day, one user', granularity: 3, days: 30, userName: 'user-0042' },
  { name: 'a month by day, keys of one name', granularity: 3, days: 30, filter: { tokenName: 'key-1' } },
  { name: 'a month by day, one model', granularity: 3, days: 30, filter: { modelName: 'model-07-2025-01-01' } },
  { name: 'thirteen months by month', granularity: 5, days: 396 },
  { name: 'thirteen months by day, one user', granularity: 3, days: 396, userName: 'user-0042' },
  { name: 'a week by hour, one user', granularity: 2, days: 7, userName: 'user-0042' },
  { name: 'a day by minute, one user', granularity: 1, days: 1, userName: 'user-0042' },
];

/** The first answers fill caches and compile code that later ones reuse. */
const warmUps = 5;

/**
 * The time of the queries from the request to all records, each repeated `times` times in a time zone, at the end of
 * the store's data.
 */
export async function* timeStatistics(
  store: StatisticsStore,
  shape: RollUpShape,
  { timeZone, times, only }: { readonly timeZone: string; readonly times: number; readonly only?: string },
): AsyncGenerator<Timing> {
  const statistics = createStatistics({ store, timeZone });
  const endSeconds = localMidnight((shape.firstDay + shape.days - 1) * 86_400, timeZone);
  for (const { name, granularity, days, filter, userName } of questions) {
    if (only !== undefined && name !== only) continue;
    const startSeconds = localMidnight(endSeconds - days * 86_400, timeZone);
    const request: StatisticsRequest = { granularity, startSeconds, endSeconds, ...filter };
    const taken: number[] = [];
    let records = 0;
    for (let time = 0; time < warmUps + times; time += 1) {
      const before = performance.now();
      const answer = await statistics.query(request, userName === undefined ? {} : { userName });
      for (const record of answer) records += record.callCount > 0 ? 1 : 0;
      taken.push(performance.now() - before);
    }
    yield { question: name, records: records / taken.length, ...percentiles(taken.slice(warmUps)) };
  }
}

/** The midnight before or at a moment. */
function localMidnight(seconds: number, timeZone: string): number {
  return (
    Temporal.Instant.fromEpochMilliseconds(seconds * 1000)
      .toZonedDateTimeISO(timeZone)
      .startOfDay().epochMilliseconds / 1000
  );
}

function percentiles(taken: readonly number[]): { readonly p50Ms: number; readonly p99Ms: number } {
  const sorted = taken.toSorted((left, right) => left - right);
  const at = (share: number): number => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0;
  return { p50Ms: at(0.5), p99Ms: at(0.99) };
}

import type { StatisticsCounts } from '../ledger/call-entry.ts';
import type { BilledCallStore } from './billed-call.ts';

/** One bucket of time as Unix seconds, half-open: `[startSeconds, endSeconds)`. */
export type BucketBounds = { readonly startSeconds: number; readonly endSeconds: number };

export type StatisticsQuery = {
  /** Adjacent buckets in ascending order, in whole minutes. */
  readonly buckets: readonly BucketBounds[];
  /** Only calls accepted in `[startSeconds, endSeconds)` count; the ends need not fall on whole minutes. */
  readonly startSeconds: number;
  readonly endSeconds: number;
  readonly tokenName?: string;
  readonly modelName?: string;
  /** When set, only this user's calls. */
  readonly userName?: string;
  /** Rows at most; a store returns one more when there are more. */
  readonly rowsMax: number;
};

/** The sums of one (bucket, user, token, model). Only groups with calls exist. */
export type StatisticsRow = StatisticsCounts & {
  readonly bucketStartSeconds: number;
  readonly userName: string;
  readonly tokenName: string;
  readonly modelName: string;
  readonly useTimeMs: number;
  readonly callCount: number;
  readonly amountNanoUsd: bigint;
};

export type StatisticsStore = {
  /** Rows sorted by bucket, user, token, model, ascending by code point. Whole minutes come from roll-ups, cut minutes from the ledger itself. */
  readonly queryStatistics: (query: StatisticsQuery) => Promise<readonly StatisticsRow[]>;
};

/**
 * What one answer is made of, read piece by piece, so that its size is nobody's burden. What is read within some seconds is of one moment; where reading takes longer, it goes on in a later one, and
 * no record is read twice or left out. Nothing of the database is held for longer than that, however slowly somebody reads.
 */
export type AnswerSource = BilledCallStore & {
  /** Whether there are more records than `rowsMax`. */
  readonly hasTooManyRecords: (query: StatisticsQuery) => Promise<boolean>;
  /** The rows that `queryStatistics` has, in its order; `rowsMax` is no bound here. */
  readonly readRows: (query: StatisticsQuery) => AsyncIterable<readonly StatisticsRow[]>;
  /** Calls behind all of them. */
  readonly countCalls: (query: StatisticsQuery) => Promise<number>;
  /** Gives back what it holds, at any time. Nothing is read afterwards. */
  readonly close: () => Promise<void>;
};

/** A store that answers are read from. */
export type AnswerReader = { readonly openSource: () => AnswerSource };

/** What makes long spans fast. */
export type StatisticsDays = {
  /**
   * Keeps sums of whole days of this time zone from now on, in place of those of another, so that statistics in it read few rows. All that was booked is added up anew, the newest day first, each in a
   * transaction of its own, and what was begun is gone on with when it is asked for again; who books meanwhile waits for one day at most. Statistics are the same with any. Resolves with false when that is how
   * it was.
   */
  readonly sumDaysOf: (timeZone: string) => Promise<boolean>;
};

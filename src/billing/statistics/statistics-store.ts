import type { StatisticsCounts } from '../ledger/call-entry.ts';
import type { BilledCallStore } from './billed-call.ts';

/** One bucket of time as Unix seconds, half-open: `[startSeconds, endSeconds)`. */
export type BucketBounds = { readonly startSeconds: number; readonly endSeconds: number };

export type StatisticsQuery = {
  /** Adjacent buckets in ascending order, in whole minutes. */
  readonly buckets: readonly BucketBounds[];
  /** Only calls accepted in `[startSeconds, endSeconds)` count; the ends need not be whole minutes. */
  readonly startSeconds: number;
  readonly endSeconds: number;
  readonly tokenName?: string;
  readonly modelName?: string;
  /** If set, only this user's calls. */
  readonly userName?: string;
  /** The most rows; a store returns one more if there are more. */
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
  /**
   * Rows sorted by bucket, user, token, model, ascending by code point. Whole minutes come from roll-ups, cut minutes
   * from the ledger itself.
   */
  readonly queryStatistics: (query: StatisticsQuery) => Promise<readonly StatisticsRow[]>;
};

/**
 * Reads the rows of one answer piece by piece, so that its size does not matter. Rows that are read within some seconds
 * come from one snapshot. Longer reads continue in a later snapshot, and no record is repeated or missing. No snapshot
 * is held for longer, however slowly the rows are consumed.
 */
export type AnswerSource = BilledCallStore & {
  /** Calls accepted before this may be in archives and not in the store. 0: none is. */
  readonly archivedUntilMs: () => Promise<number>;
  /** Whether there are more records than `rowsMax`. */
  readonly hasTooManyRecords: (query: StatisticsQuery) => Promise<boolean>;
  /** The rows of `queryStatistics`, in the same order; `rowsMax` does not limit them. */
  readonly readRows: (query: StatisticsQuery) => AsyncIterable<readonly StatisticsRow[]>;
  /** The number of calls behind all rows. */
  readonly countCalls: (query: StatisticsQuery) => Promise<number>;
  /** Closes the snapshot, at any time. Nothing can be read afterwards. */
  readonly close: () => Promise<void>;
};

/** Opens sources of answers. */
export type AnswerReader = { readonly openSource: () => AnswerSource };

/** Maintains the sums that make long spans fast. */
export type StatisticsDays = {
  /**
   * Replaces the sums of whole days by those of this time zone, so that statistics in it read few rows. All booked
   * calls are added up again, the newest day first, each in a transaction of its own. An interrupted run continues with
   * the next call. Bookings wait for one day at most. The results of statistics do not depend on the zone. Resolves
   * with false if nothing was to be done.
   */
  readonly sumDaysOf: (timeZone: string) => Promise<boolean>;
};

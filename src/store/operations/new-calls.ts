import type { SqlParameter, SqlRow, ValueRow } from './sql-values.ts';

/** The statements of a database that are needed here. */
type Queries = {
  readonly first: (sql: string, ...parameters: readonly SqlParameter[]) => Promise<SqlRow | undefined>;
  readonly rows: (sql: string, ...parameters: readonly SqlParameter[]) => Promise<readonly ValueRow[]>;
};

/** Positions of the follower of the ledger, as `call_follow` has them. */
export type FollowPositions = { readonly nextNumber: number; readonly backNumber: number };

/** The columns of `calls` that facts are made of, in the order of the values of a row. */
export const newCallColumns = [
  'call_id',
  'accepted_at_ms',
  'billed',
  'prompt_tokens',
  'completion_tokens',
  'cache_tokens',
  'cache_creation_tokens',
  'use_time_ms',
  'amount_nano_usd',
  'entry',
  'shape',
  'user_name',
  'key_name',
  'key_id',
  'requested_model',
] as const;

/** The values of newCallColumns and the number of the row's facts. */
export type NumberedRow = { readonly number: number; readonly values: ValueRow };

/** The rows of the ledger that have no facts yet. How they are found differs between engines. */
export type NewCalls = {
  /**
   * Takes the next rows in the order of booking, and after them old ones, the newest first, with the new positions.
   * The caller writes both in the same transaction, in which it has locked `call_follow`.
   */
  readonly take: (
    transaction: Queries,
    positions: FollowPositions,
    limit: number,
  ) => Promise<{ readonly rows: readonly NumberedRow[]; readonly positions: FollowPositions }>;
  /**
   * Takes the rows that the transaction has just inserted, if no others wait for facts; undefined if some do. They have
   * the numbers from `nextNumber` on, in the order of their insertion. Absent if the engine cannot know.
   * @param booked how many were inserted
   */
  readonly takeBooked?: (transaction: Queries, positions: FollowPositions, booked: number) => Promise<FollowPositions | undefined>;
  /** Whether there are any. */
  readonly areWaiting: (database: Queries, positions: FollowPositions) => Promise<boolean>;
  /**
   * How many there are, those from before the facts existed apart, and when the earliest of the first was accepted;
   * absent without any.
   */
  readonly measure: (
    database: Queries,
    positions: FollowPositions,
  ) => Promise<{ readonly waiting: number; readonly old: number; readonly earliestMs: number | undefined }>;
};

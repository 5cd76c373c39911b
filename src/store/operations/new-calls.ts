import type { SqlParameter, SqlRow } from './sql-values.ts';

/** The statements of a database that are needed here. */
type Queries = {
  readonly first: (sql: string, ...parameters: readonly SqlParameter[]) => Promise<SqlRow | undefined>;
  readonly all: (sql: string, ...parameters: readonly SqlParameter[]) => Promise<readonly SqlRow[]>;
};

/** Positions of the follower of the ledger, as `call_follow` has them. */
type FollowPositions = { readonly nextNumber: number; readonly backNumber: number };

/** A row of selectCalls and the number of its facts. */
export type NumberedRow = { readonly number: number; readonly row: SqlRow };

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

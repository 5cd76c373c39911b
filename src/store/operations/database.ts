import type { SqlParameter, SqlRow, ValueRow } from './sql-values.ts';
import type { SqlFragments } from './sql-fragments.ts';
import type { NewCalls } from './new-calls.ts';
import type { TermIndex } from './term-index.ts';

/**
 * How far a transaction is isolated from others. `serializable`: it runs as if it were alone, and runs again if it was
 * not. `read-committed`: each statement sees what is committed. Use it for work that is correct that way (it locks
 * rows first, or its statements have their own conditions) and that writes rows that everybody writes: as a
 * serializable transaction it might be repeated without end.
 */
type Isolation = 'serializable' | 'read-committed';

/**
 * The database that operations use, on any engine: SQLite in a thread of its own, which runs one operation at a time,
 * or a pool of connections to PostgreSQL. Parameters in statements are `?`. Statements are prepared once and cached:
 * never build SQL from values. All methods reject with StoreError.
 */
export type Database = {
  /** Runs one statement and resolves with the number of changed rows. */
  readonly run: (sql: string, ...parameters: readonly SqlParameter[]) => Promise<number>;
  readonly first: (sql: string, ...parameters: readonly SqlParameter[]) => Promise<SqlRow | undefined>;
  readonly all: (sql: string, ...parameters: readonly SqlParameter[]) => Promise<readonly SqlRow[]>;
  /**
   * Rows as lists of their columns' values, at half the cost of objects, for large answers. A number has the type of
   * the engine: number, bigint or the text of its digits.
   */
  readonly rows: (sql: string, ...parameters: readonly SqlParameter[]) => Promise<readonly ValueRow[]>;
  /**
   * Runs `work` in one write transaction: all of it is committed or nothing. Only statements on the database that is
   * passed to `work` belong to it. `work` may run several times, so it must have no other effects. Within a
   * transaction this is a savepoint: if `work` throws, its statements are undone and the transaction continues.
   * @param isolation default `serializable`; a savepoint has that of its transaction
   */
  readonly transact: <Result>(work: (transaction: Database) => Promise<Result>, isolation?: Isolation) => Promise<Result>;
  /** Runs queries that all see the database at one moment, without locks. */
  readonly snapshot: <Result>(work: (database: Database) => Promise<Result>) => Promise<Result>;
  /** The SQL that differs between engines. */
  readonly fragments: SqlFragments;
  readonly termIndex: TermIndex;
  readonly newCalls: NewCalls;
  /**
   * To be called in loops over many rows: lets the thread of the calls have the core, if both share one. Statements do
   * so themselves.
   */
  readonly giveWay: () => void;
  /** Removes deleted rows from the log of the engine, if the engine can; false while readers prevent it. */
  readonly forgetErased: () => Promise<boolean>;
};

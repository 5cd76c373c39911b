import type { SqlParameter, SqlRow, ValueRow } from './sql-values.ts';
import type { SqlFragments } from './sql-fragments.ts';
import type { TermIndex } from './term-index.ts';

/**
 * What a transaction is kept from seeing of others. `serializable`: it runs as if it were alone, and is run again when that was not so. `read-committed`: each
 * statement sees what is committed; for work that is right that way (rows that are locked first, statements that carry their own condition) and that
 * writes where everybody writes, so that running it again until it is alone might never end.
 */
type Isolation = 'serializable' | 'read-committed';

/**
 * What operations are written against, whatever the engine: SQLite in a thread of its own, where one operation runs after the other, or a pool of connections to
 * PostgreSQL. Statements have `?` for their parameters and are prepared once and kept: never build SQL from values. All reject with StoreError.
 */
export type Database = {
  /** Runs one statement and resolves with how many rows it changed. */
  readonly run: (sql: string, ...parameters: readonly SqlParameter[]) => Promise<number>;
  readonly first: (sql: string, ...parameters: readonly SqlParameter[]) => Promise<SqlRow | undefined>;
  readonly all: (sql: string, ...parameters: readonly SqlParameter[]) => Promise<readonly SqlRow[]>;
  /**
   * Rows as their columns' values in order, for answers of many rows: each costs half as much. A number comes as the engine hands it over: number, bigint or the text of its
   * digits.
   */
  readonly rows: (sql: string, ...parameters: readonly SqlParameter[]) => Promise<readonly ValueRow[]>;
  /**
   * Runs `work` in one write transaction: all of it is booked or nothing. Statements belong to it only when they go through the database that `work` is handed.
   * `work` may be run several times, and so must have no effect but its statements. Within a transaction it is a savepoint: when `work` throws, what it did is undone
   * and the rest of the transaction goes on.
   * @param isolation `serializable` by default; a savepoint has that of its transaction
   */
  readonly transact: <Result>(work: (transaction: Database) => Promise<Result>, isolation?: Isolation) => Promise<Result>;
  /** What each engine words in its own way. */
  readonly fragments: SqlFragments;
  readonly termIndex: TermIndex;
  /** Takes what was erased out of the engine's own log, where it can be told to; false while others keep it from that. */
  readonly forgetErased: () => Promise<boolean>;
};

import { DatabaseSync } from 'node:sqlite';
import type { StatementSync } from 'node:sqlite';
import type { SqlParameter, SqlRow, ValueRow } from '../operations/sql-values.ts';
import { StoreError } from '../store-error.ts';
import type { StoreErrorKind } from '../store-error.ts';

/**
 * A connection. It blocks its thread; except for the data directory lock, all connections are in the store's worker.
 * Rows have no prototype.
 */
export type SqliteConnection = {
  /** Runs statements without parameters and without a result. */
  readonly execute: (sql: string) => void;
  /**
   * Runs one statement and returns the number of changed rows. Statements are prepared once and cached: never build
   * SQL from values.
   */
  readonly run: (sql: string, parameters?: readonly SqlParameter[]) => number;
  readonly first: (sql: string, parameters?: readonly SqlParameter[]) => SqlRow | undefined;
  readonly all: (sql: string, parameters?: readonly SqlParameter[]) => readonly SqlRow[];
  /** As `all`, with rows as lists of their values. */
  readonly rows: (sql: string, parameters?: readonly SqlParameter[]) => readonly ValueRow[];
  /** Runs `work` in one write transaction: all of it is committed or nothing. */
  readonly transact: <Result>(work: () => Result) => Result;
  /** Whether a transaction was begun and has not ended. */
  readonly isInTransaction: () => boolean;
  readonly close: () => void;
};

export type DatabaseOptions = {
  readonly readOnly: boolean;
  /** How long a statement waits for the lock of another connection before it fails as `busy`. */
  readonly busyTimeoutMs: number;
};

/**
 * Opens a database file. This is the only file that imports node:sqlite, whose class will be renamed. Throws
 * StoreError.
 */
export function openDatabase(path: string, options: DatabaseOptions): SqliteConnection {
  const connection = guard(
    () => new DatabaseSync(path, { readOnly: options.readOnly, timeout: options.busyTimeoutMs, readBigInts: true, defensive: true }),
  );
  // An insert that replaces a row then fires its delete triggers, with which the ledger refuses it.
  guard(() => connection.exec('pragma recursive_triggers = on'));
  const createPrepare = (returnArrays: boolean): ((sql: string) => StatementSync) => {
    const statements = new Map<string, StatementSync>();
    return (sql) => {
      let statement = statements.get(sql);
      if (statement === undefined) {
        statement = connection.prepare(sql);
        statement.setReturnArrays(returnArrays);
        statements.set(sql, statement);
      }
      return statement;
    };
  };
  const [prepare, prepareRows] = [createPrepare(false), createPrepare(true)];
  const none: readonly SqlParameter[] = [];
  const execute = (sql: string): void => guard(() => connection.exec(sql));
  return {
    execute,
    run: (sql, parameters = none) => guard(() => Number(prepare(sql).run(...parameters).changes)),
    first: (sql, parameters = none) => guard(() => prepare(sql).get(...parameters)),
    all: (sql, parameters = none) => guard(() => prepare(sql).all(...parameters)),
    // The declared type has rows as objects only.
    rows: (sql, parameters = none) => guard(() => prepareRows(sql).all(...parameters) as unknown as readonly ValueRow[]),
    transact: (work) => {
      execute('begin immediate');
      try {
        const result = work();
        execute('commit');
        return result;
      } catch (error) {
        try {
          execute('rollback');
        } catch {
          // Some failures, such as a full disk, have already rolled back. The first error is the one that matters.
        }
        throw error;
      }
    },
    isInTransaction: () => connection.isTransaction,
    close: () => guard(() => connection.close()),
  };
}

function guard<Result>(work: () => Result): Result {
  try {
    return work();
  } catch (error) {
    throw toStoreError(error);
  }
}

/** Primary result codes of SQLite, https://www.sqlite.org/rescode.html, read 2026-10. */
const kindsByResultCode: Readonly<Record<number, StoreErrorKind>> = {
  5: 'busy',
  6: 'busy',
  8: 'read-only',
  10: 'disk',
  11: 'corrupt',
  13: 'disk',
  14: 'disk',
  19: 'constraint',
  26: 'corrupt',
};

function toStoreError(error: unknown): Error {
  if (!(error instanceof Error)) return new StoreError('internal', 'The database threw a value that is not an Error.', { cause: error });
  if (error instanceof StoreError) return error;
  const resultCode = 'errcode' in error && typeof error.errcode === 'number' ? error.errcode : undefined;
  // The low byte of an extended code is its primary code.
  const kind = resultCode === undefined ? undefined : kindsByResultCode[resultCode & 0xff];
  return new StoreError(kind ?? 'internal', error.message, { cause: error });
}

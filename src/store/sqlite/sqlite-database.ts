import type { Database } from '../operations/database.ts';
import type { SqlFragments } from '../operations/sql-fragments.ts';
import { StoreError } from '../store-error.ts';
import { emptyLog } from './empty-log.ts';
import { noPace, type Pace } from './give-way.ts';
import type { SqliteConnection } from './open-database.ts';
import { newCalls } from './new-calls.ts';
import { termIndex } from './term-index.ts';

/**
 * Before a statement of several rows changes a page, SQLite copies it, to undo half a statement. Rows that follow each
 * other change the same pages, so large statements copy less. But a call that needs the core waits for the whole
 * statement, so they are for a process in which calls wait in any case.
 */
const rowsPerInsert = { busy: [32, 8, 1], idle: [8, 1] } as const;

const fragments: Omit<SqlFragments, 'rowsPerInsert'> = {
  greatest: 'max',
  // The transaction has locked the whole file.
  forUpdate: () => '',
  forUpdateOfFree: () => '',
  forShare: '',
  // total() is the exact sum up to 2^63 as the nearest double, and unlike sum() it does not fail above.
  realSum: (column) => `total(${column})`,
  fastNumber: (column) => `cast(${column} as double precision)`,
  segments: '(select value ->> 0 as bucket, value ->> 1 as from_unit, value ->> 2 as until_unit from json_each(?))',
  textOfBytes: 'cast(? as text)',
  insertOrFail: 'insert or fail',
  hasCallSpans: true,
  // Larger numbers would save little more, and batches are rarely larger.
  sumsPerInsert: [8, 1],
};

/**
 * A connection as operations use it. The statements of an operation await only values that are ready at once. The
 * thread begins an operation only when the one before has ended, which keeps their transactions apart.
 * @param pace its `giveWay` is called before each statement, and may block the thread for a moment
 */
export function createSqliteDatabase(connection: SqliteConnection, { giveWay, isBusy }: Pace = noPace): Database {
  let inTransaction = false;
  const inside: Omit<Database, 'transact' | 'snapshot'> = {
    ...statementsOf(connection, giveWay),
    fragments: fragmentsOf(isBusy),
    termIndex,
    newCalls,
    giveWay,
    forgetErased: async () => emptyLog(connection),
  };
  /**
   * With SQLite such a statement would be harmless. With a pool it would use another connection, outside the
   * transaction.
   */
  const outside = (): void => {
    if (inTransaction) throw new StoreError('internal', 'A statement was run outside the open transaction.');
  };
  const beginOutside = (): void => {
    outside();
    giveWay();
  };
  const transaction: Database = {
    ...inside,
    transact: (work) => guard({ begin: 'savepoint part', commit: 'release part', rollback: 'rollback to part; release part' }, work),
    snapshot: (work) => work(transaction),
  };
  const guard = async <Result>(sql: Bounds, work: (transaction: Database) => Promise<Result>): Promise<Result> => {
    connection.execute(sql.begin);
    try {
      const result = await work(transaction);
      connection.execute(sql.commit);
      return result;
    } catch (error) {
      try {
        connection.execute(sql.rollback);
      } catch {
        // Some failures, such as a full disk, have already rolled back. The first error is the one that matters.
      }
      throw error;
    }
  };
  return {
    ...inside,
    ...statementsOf(connection, beginOutside),
    transact: async (work) => {
      outside();
      try {
        return await guard({ begin: 'begin immediate', commit: 'commit', rollback: 'rollback' }, (transaction) => {
          inTransaction = true;
          return work(transaction);
        });
      } finally {
        inTransaction = false;
      }
    },
    snapshot: async (work) => {
      outside();
      // A snapshot of an answer has begun its transaction already.
      if (connection.isInTransaction()) return await work(transaction);
      try {
        return await guard({ begin: 'begin', commit: 'commit', rollback: 'rollback' }, (reading) => {
          inTransaction = true;
          return work(reading);
        });
      } finally {
        inTransaction = false;
      }
    },
  };
}

function fragmentsOf(isBusy: Pace['isBusy']): SqlFragments {
  return {
    ...fragments,
    get rowsPerInsert() {
      return isBusy() ? rowsPerInsert.busy : rowsPerInsert.idle;
    },
  };
}

/** @param begin called before each statement */
function statementsOf(connection: SqliteConnection, begin: () => void): Pick<Database, 'run' | 'first' | 'all' | 'rows'> {
  return {
    run: async (sql, ...parameters) => {
      begin();
      return connection.run(sql, parameters);
    },
    first: async (sql, ...parameters) => {
      begin();
      return connection.first(sql, parameters);
    },
    all: async (sql, ...parameters) => {
      begin();
      return connection.all(sql, parameters);
    },
    rows: async (sql, ...parameters) => {
      begin();
      return connection.rows(sql, parameters);
    },
  };
}

type Bounds = { readonly begin: string; readonly commit: string; readonly rollback: string };

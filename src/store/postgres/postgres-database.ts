import { setTimeout as pause } from 'node:timers/promises';
import type { Database } from '../operations/database.ts';
import type { SqlFragments } from '../operations/sql-fragments.ts';
import { StoreError } from '../store-error.ts';
import type { ConnectionPool, Session } from './open-pool.ts';
import { CollisionError } from './postgres-error.ts';
import { newCalls } from './new-calls.ts';
import { termIndex } from './term-index.ts';

const fragments: SqlFragments = {
  greatest: 'greatest',
  forUpdate: (table) => `for update of ${table}`,
  forShare: 'for share',
  forUpdateOfFree: (table) => `for update of ${table} skip locked`,
  realSum: (column) => `cast(sum(${column}) as double precision)`,
  // The server takes longer to write a double than an integer.
  fastNumber: (column) => column,
  segments: `(select cast(value ->> 0 as bigint) as bucket, cast(value ->> 1 as bigint) as from_unit, cast(value ->> 2 as bigint) as until_unit
    from jsonb_array_elements(cast(? as jsonb)) as value)`,
  textOfBytes: "convert_from(?, 'UTF8')",
  insertOrFail: 'insert',
  hasCallSpans: false,
  // Each statement is a round trip.
  rowsPerInsert: [64, 16, 4, 1],
  sumsPerInsert: [64, 16, 4, 1],
};

/** The database behind a pool of connections. A statement outside a transaction is a transaction of its own. */
export function createPostgresDatabase(pool: ConnectionPool): Database {
  return {
    run: async (sql, ...parameters) => await pool.use(async (session) => (await session.query(sql, parameters)).changes),
    first: async (sql, ...parameters) => await pool.use(async (session) => (await session.query(sql, parameters)).rows[0]),
    all: async (sql, ...parameters) => await pool.use(async (session) => (await session.query(sql, parameters)).rows),
    rows: async (sql, ...parameters) => await pool.use((session) => session.queryRows(sql, parameters)),
    transact: async (work, isolation = 'serializable') =>
      await retryCollisions(async (attempt) =>
        isolation === 'serializable' && attempt > attemptsTogetherMax
          ? await pool.use((session) => runAlone(session, work))
          : await pool.use((session) => runTransaction(session, begins[isolation], work)),
      ),
    snapshot: (work) => pool.use((session) => runTransaction(session, 'begin isolation level repeatable read read only', work)),
    fragments,
    termIndex,
    newCalls,
    giveWay,
    // The server overwrites deleted rows at its next vacuum, which cannot be requested here.
    forgetErased: () => Promise.resolve(true),
  };
}

/** The thread waits for the server at each statement, so it never holds a core for long. */
const giveWay = (): void => {};

/** Two numbers that identify serializable transactions that run alone among the server's advisory locks. */
const turnLock = '1466263922, 2';
/** How often a serializable transaction is attempted beside others before it runs alone. */
const attemptsTogetherMax = 2;

const begins = {
  serializable: `begin isolation level serializable; select pg_advisory_xact_lock_shared(${turnLock})`,
  'read-committed': 'begin isolation level read committed',
} as const;

/**
 * Runs a serializable transaction while all others of this kind wait, so that none can collide with it. The server
 * detects conflicts by whole pages, so on small tables unrelated transactions collide too, and the more often the more
 * there are.
 */
async function runAlone<Result>(session: Session, work: (transaction: Database) => Promise<Result>): Promise<Result> {
  // Before the transaction begins, so that its snapshot is taken after it has the lock.
  await session.execute(`select pg_advisory_lock(${turnLock})`);
  try {
    return await runTransaction(session, 'begin isolation level serializable', work);
  } finally {
    await unlock(session);
  }
}

async function unlock(session: Session): Promise<void> {
  try {
    await session.execute(`select pg_advisory_unlock(${turnLock})`);
  } catch (cause) {
    // Closing the connection releases its lock.
    throw new StoreError('unavailable', 'A connection to PostgreSQL was lost with its lock.', { cause });
  }
}

/** A transaction on one connection. */
async function runTransaction<Result>(session: Session, begin: string, work: (transaction: Database) => Promise<Result>): Promise<Result> {
  let result: Result;
  try {
    await session.execute(begin);
    result = await work(createTransaction(session));
  } catch (error) {
    // After a lost connection there is nothing to roll back: the server undoes the transaction.
    if (!isUnavailable(error)) await rollBack(session);
    throw error;
  }
  // The server answers a commit after a failed statement with a rollback, which is not an error.
  if ((await session.execute('commit')) !== 'COMMIT') {
    throw new StoreError('internal', 'A statement of the transaction failed without an error; nothing was committed.');
  }
  return result;
}

function isUnavailable(error: unknown): boolean {
  return error instanceof StoreError && error.kind === 'unavailable';
}

/** Best effort: if it fails, the connection is lost, and the server undoes the transaction. */
async function rollBack(session: Session): Promise<void> {
  try {
    await session.execute('rollback');
  } catch {
    // The error before it is the one that matters.
  }
}

/** An open transaction, as operations use it. */
export function createTransaction(session: Session): Database {
  const transaction: Database = {
    run: async (sql, ...parameters) => (await session.query(sql, parameters)).changes,
    first: async (sql, ...parameters) => (await session.query(sql, parameters)).rows[0],
    all: async (sql, ...parameters) => (await session.query(sql, parameters)).rows,
    rows: (sql, ...parameters) => session.queryRows(sql, parameters),
    transact: async (work) => {
      await session.execute('savepoint part');
      try {
        const result = await work(transaction);
        await session.execute('release savepoint part');
        return result;
      } catch (error) {
        // After a collision the whole transaction is void, and a savepoint does not help.
        if (!(error instanceof CollisionError) && !isUnavailable(error))
          await session.execute('rollback to savepoint part; release savepoint part');
        throw error;
      }
    },
    snapshot: (work) => work(transaction),
    fragments,
    termIndex,
    newCalls,
    giveWay,
    forgetErased: () => Promise.resolve(true),
  };
  return transaction;
}

/** How often a transaction is attempted before it fails as `busy`. */
const attemptsMax = 12;
const firstPauseMs = 2;
const pauseMaxMs = 200;

async function retryCollisions<Result>(attempt: (attempts: number) => Promise<Result>): Promise<Result> {
  for (let attempts = 1; ; attempts += 1) {
    try {
      return await attempt(attempts);
    } catch (error) {
      if (!(error instanceof CollisionError) || attempts === attemptsMax) throw error;
      // Random pauses keep transactions that collided from colliding again.
      await pause(Math.random() * Math.min(pauseMaxMs, firstPauseMs * 2 ** attempts));
    }
  }
}

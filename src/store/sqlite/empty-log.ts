import type { SqliteConnection } from './open-database.ts';

/**
 * Empties the write-ahead log, which still contains deleted rows. Does not wait for readers of the log: the next sweep
 * retries.
 */
export function emptyLog(database: SqliteConnection): boolean {
  const timeout = database.first('pragma busy_timeout')?.['timeout'];
  database.execute('pragma busy_timeout = 0');
  try {
    return database.first('pragma wal_checkpoint(truncate)')?.['busy'] === 0n;
  } finally {
    database.execute(`pragma busy_timeout = ${String(timeout)}`);
  }
}

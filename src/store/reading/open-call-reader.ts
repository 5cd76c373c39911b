import type { CallFactsStore } from '../../billing/calls/call-facts-store.ts';
import { NameReader } from '../operations/facts/name-reader.ts';
import { scanCalls } from '../operations/facts/scan-calls.ts';
import type { PostgresOptions } from '../postgres/connection-options.ts';
import { migrateFirst } from '../postgres/migrate-first.ts';
import { openPool } from '../postgres/open-pool.ts';
import { createPostgresDatabase } from '../postgres/postgres-database.ts';
import { createPace } from '../sqlite/give-way.ts';
import { openStoreDatabase, type SqliteWorkerData } from '../sqlite/open-store-database.ts';
import { createSqliteDatabase } from '../sqlite/sqlite-database.ts';

/** A database for reading: a file, or a server's. */
export type ReadDatabase = Omit<SqliteWorkerData, 'readOnly'> | PostgresOptions;

export type CallReader = Pick<CallFactsStore, 'scanCalls'> & { readonly close: () => Promise<void> };

/**
 * Lists of calls on a connection of the calling thread, which a file blocks while it is read. Throws StoreError.
 */
export function openCallReader(options: ReadDatabase): CallReader {
  const names = new NameReader();
  if ('path' in options) {
    const connection = openStoreDatabase({ ...options, readOnly: true });
    const database = createSqliteDatabase(connection, createPace());
    return { scanCalls: (scan) => scanCalls(database, names, scan), close: async () => connection.close() };
  }
  const pool = migrateFirst(openPool({ ...options, poolMax: 1 }));
  const database = createPostgresDatabase(pool);
  return { scanCalls: (scan) => scanCalls(database, names, scan), close: pool.close };
}

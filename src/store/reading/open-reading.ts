import type { Database } from '../operations/database.ts';
import type { PostgresOptions } from '../postgres/connection-options.ts';
import { migrateFirst } from '../postgres/migrate-first.ts';
import { openPool } from '../postgres/open-pool.ts';
import { createPostgresDatabase } from '../postgres/postgres-database.ts';
import { createPace } from '../sqlite/give-way.ts';
import { openStoreDatabase, type SqliteWorkerData } from '../sqlite/open-store-database.ts';
import { createSqliteDatabase } from '../sqlite/sqlite-database.ts';

/** A database for reading: a file, or a server's. */
export type ReadDatabase = Omit<SqliteWorkerData, 'readOnly'> | PostgresOptions;

/** Opens a connection of the calling thread, which a file blocks while it is read. Throws StoreError. */
export function openReading(options: ReadDatabase): { readonly database: Database; readonly close: () => Promise<void> } {
  if ('path' in options) {
    const connection = openStoreDatabase({ ...options, readOnly: true });
    return { database: createSqliteDatabase(connection, createPace()), close: async () => connection.close() };
  }
  const pool = migrateFirst(openPool({ ...options, poolMax: 1 }));
  return { database: createPostgresDatabase(pool), close: pool.close };
}

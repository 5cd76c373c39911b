import { parentPort, workerData } from 'node:worker_threads';
import { createStoreOperations } from '../operations/store-operations.ts';
import { StoreError } from '../store-error.ts';
import { serveStore } from '../worker/serve-store.ts';
import type { PostgresOptions } from './connection-options.ts';
import { migrateDatabase } from './migrate-database.ts';
import { openPool } from './open-pool.ts';
import type { ConnectionPool } from './open-pool.ts';
import { createPostgresDatabase } from './postgres-database.ts';

/** The thread that speaks to PostgreSQL. As many calls are under way as there are connections, and each uses one at a time. */
if (parentPort === null) throw new Error('The store worker runs only as a worker thread.');

const options = workerData as PostgresOptions;

const open = async () => {
  const pool = openPool(options);
  const migrated = migrateFirst(pool);
  try {
    await migrated.migrate();
  } catch (error) {
    if (!options.mayBeAway || !(error instanceof StoreError) || error.kind !== 'unavailable') {
      // A connection that is kept would keep this thread, and with it the program. Nobody waits for its end.
      pool.close().catch(() => undefined);
      throw error;
    }
  }
  return { operations: createStoreOperations(createPostgresDatabase(migrated)), close: pool.close };
};

/** A pool that lends nothing before the schema has been seen to be the right one: once that is so, it costs nothing. */
function migrateFirst(pool: ConnectionPool): ConnectionPool & { readonly migrate: () => Promise<void> } {
  let isMigrated = false;
  let migrating: Promise<void> | undefined;
  const migrate = async (): Promise<void> => {
    migrating ??= migrateDatabase(pool);
    try {
      await migrating;
      isMigrated = true;
    } finally {
      migrating = undefined;
    }
  };
  return {
    migrate,
    use: async (work) => {
      if (!isMigrated) await migrate();
      return await pool.use(work);
    },
    close: pool.close,
  };
}

await serveStore(parentPort, open, options.poolMax);

import { parentPort, workerData } from 'node:worker_threads';
import { createStoreOperations } from '../operations/store-operations.ts';
import { StoreError } from '../store-error.ts';
import { serveStore } from '../worker/serve-store.ts';
import type { PostgresOptions } from './connection-options.ts';
import { migrateFirst } from './migrate-first.ts';
import { openPool } from './open-pool.ts';
import { createPostgresDatabase } from './postgres-database.ts';

/**
 * The thread that talks to PostgreSQL. It runs as many calls at once as there are connections; each call uses one
 * connection at a time.
 */
if (parentPort === null) throw new Error('The store worker runs only as a worker thread.');

const options = workerData as PostgresOptions;

const open = async () => {
  const pool = openPool(options);
  const migrated = migrateFirst(pool);
  try {
    await migrated.migrate();
  } catch (error) {
    if (!options.mayBeAway || !(error instanceof StoreError) || error.kind !== 'unavailable') {
      // An open connection would keep this thread and the program alive. Its end is not awaited.
      pool.close().catch(() => undefined);
      throw error;
    }
  }
  return { operations: createStoreOperations(createPostgresDatabase(migrated)), close: pool.close };
};

await serveStore(parentPort, open, options.poolMax);

import { parentPort, workerData } from 'node:worker_threads';
import { createStoreOperations } from '../operations/store-operations.ts';
import { serveStore } from '../worker/serve-store.ts';
import type { PostgresOptions } from './connection-options.ts';
import { migrateDatabase } from './migrate-database.ts';
import { openPool } from './open-pool.ts';
import { createPostgresDatabase } from './postgres-database.ts';

/** The thread that speaks to PostgreSQL. As many calls are under way as there are connections, and each uses one at a time. */
if (parentPort === null) throw new Error('The store worker runs only as a worker thread.');

const options = workerData as PostgresOptions;

const open = async () => {
  const pool = openPool(options);
  await migrateDatabase(pool);
  return { operations: createStoreOperations(createPostgresDatabase(pool)), close: pool.close };
};

await serveStore(parentPort, open, options.poolMax);

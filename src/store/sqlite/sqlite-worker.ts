import { parentPort, workerData } from 'node:worker_threads';
import { createStoreOperations } from '../operations/store-operations.ts';
import { serveStore } from '../worker/serve-store.ts';
import { openStoreDatabase } from './open-store-database.ts';
import type { SqliteWorkerData } from './open-store-database.ts';
import { createPace } from './give-way.ts';
import { createSqliteDatabase } from './sqlite-database.ts';

/**
 * The thread of one connection. It runs one call after the other, and ends after `close` or if the database cannot be
 * opened.
 */
if (parentPort === null) throw new Error('The store worker runs only as a worker thread.');

const open = async (announceMigration: () => void) => {
  const connection = openStoreDatabase(workerData as SqliteWorkerData, announceMigration);
  return { operations: createStoreOperations(createSqliteDatabase(connection, createPace())), close: async () => connection.close() };
};

await serveStore(parentPort, open, 1);

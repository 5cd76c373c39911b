import { closeSync, openSync } from 'node:fs';
import { dirname } from 'node:path';
import { Worker } from 'node:worker_threads';
import { threadEnvironment } from '../../platform/thread-environment.ts';
import { makeDirectory } from '../../platform/make-directory.ts';
import { StoreError } from '../store-error.ts';
import { connectStoreWorker } from '../worker/connect-store-worker.ts';
import type { WorkerStore } from '../worker/connect-store-worker.ts';
import { createSearchThread } from './search-thread.ts';
import type { SqliteWorkerData } from './open-store-database.ts';

export type SqliteStoreOptions = {
  /** The database file. It and its folder are created if they do not exist, readable by the owner only. */
  readonly path: string;
  /** Opens for queries only: the database itself refuses writes. Works while other processes write. */
  readonly readOnly?: boolean;
  /** How long a call waits for the transaction of another process. Default 5 s. */
  readonly busyTimeoutMs?: number;
  /** Time limit of one call with all its statements. Default 30 s. */
  readonly callTimeoutMs?: number;
  /** Called when an existing database begins to be migrated, which can take minutes. */
  readonly onMigrating?: () => void;
  /** Called once if the worker thread dies unexpectedly, which only a bug or a lack of memory can cause. */
  readonly onFailure?: (error: StoreError) => void;
};

const openTimeoutMs = 120_000;
/** Ten million calls take half a minute for a migration that reads them all. */
const migrateTimeoutMs = 3_600_000;
const closeTimeoutMs = 10_000;
const pendingCallsMax = 10_000;

/**
 * Opens the embedded database in a worker thread of its own, and in another one for searches when the first search
 * comes. Any number of stores, in this process and in others on the same machine, may have the same file open; a long
 * query of one does not block the others. Rejects with StoreError, also with `too-new` for a database of a newer
 * program.
 */
export async function openSqliteStore(options: SqliteStoreOptions): Promise<WorkerStore> {
  createPrivateFile(options.path);
  const { readOnly = false, onFailure, onMigrating } = options;
  const store = await openThread(options, {
    name: 'store',
    readOnly,
    ...(onFailure !== undefined && { onFailure }),
    ...(onMigrating !== undefined && { onMigrating }),
  });
  const searching = createSearchThread(() => openThread(options, { name: 'search', readOnly: true }));
  return {
    ...store,
    searchChunks: searching.searchChunks,
    close: () => {
      // The last connection that closes moves the log into the database, and a read-only connection cannot.
      const searched = searching.close();
      return searched === undefined ? store.close() : searched.then(store.close);
    },
  };
}

/** Starts a thread with one connection, which blocks it. */
function openThread(
  { path, busyTimeoutMs = 5000, callTimeoutMs = 30_000 }: SqliteStoreOptions,
  {
    name,
    readOnly,
    ...listening
  }: { readonly name: string; readonly readOnly: boolean } & Pick<SqliteStoreOptions, 'onFailure' | 'onMigrating'>,
): Promise<WorkerStore> {
  const workerData: SqliteWorkerData = { path, readOnly, busyTimeoutMs };
  // The worker needs neither the environment, which may hold vendor keys, nor the flags of the process, which may not
  // be allowed in a thread.
  const worker = new Worker(new URL('./sqlite-worker.ts', import.meta.url), { workerData, env: threadEnvironment(), execArgv: [], name });
  return connectStoreWorker(worker, { openTimeoutMs, migrateTimeoutMs, callTimeoutMs, closeTimeoutMs, pendingCallsMax, ...listening });
}

/**
 * Creates a missing file as readable by its owner only; SQLite gives its log files the same mode. An existing file is
 * not even opened: closing it would drop the locks that another connection of this process has on it.
 */
function createPrivateFile(path: string): void {
  try {
    makeDirectory(dirname(path));
    closeSync(openSync(path, 'wx', 0o600));
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'EEXIST') return;
    throw new StoreError('disk', `The database ${path} cannot be created.`, { cause: error });
  }
}

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
  /** The database file. It and its folder are created when absent, for the owner's eyes only. */
  readonly path: string;
  /** Opens for queries only: writing is refused by the database itself. Works while other processes write. */
  readonly readOnly?: boolean;
  /** How long a call waits for another process's transaction. Default 5 s. */
  readonly busyTimeoutMs?: number;
  /** How long one call may take altogether. Default 30 s. */
  readonly callTimeoutMs?: number;
  /** Called once when the worker thread dies by itself, which only a defect or a lack of memory can cause. */
  readonly onFailure?: (error: StoreError) => void;
};

/** Migrations included: a large index may take its time. */
const openTimeoutMs = 120_000;
const closeTimeoutMs = 10_000;
const pendingCallsMax = 10_000;

/**
 * Opens the embedded database in a worker thread of its own, and in another one for searches once there are any. Any number of stores, in this process and in others on the same machine, may
 * have the same file open; a long query of one does not hold up the others. Rejects with StoreError, also with `too-new` for a
 * database of a newer program.
 */
export async function openSqliteStore(options: SqliteStoreOptions): Promise<WorkerStore> {
  createPrivateFile(options.path);
  const { readOnly = false, onFailure } = options;
  const store = await openThread(options, { name: 'store', readOnly, ...(onFailure === undefined ? {} : { onFailure }) });
  const searching = createSearchThread(() => openThread(options, { name: 'search', readOnly: true }));
  return {
    ...store,
    searchChunks: searching.searchChunks,
    close: () => {
      // Whoever closes last takes the log into the database, and a connection that only reads cannot.
      const searched = searching.close();
      return searched === undefined ? store.close() : searched.then(store.close);
    },
  };
}

/** One connection, and the thread that it blocks. */
function openThread(
  { path, busyTimeoutMs = 5000, callTimeoutMs = 30_000 }: SqliteStoreOptions,
  { name, readOnly, ...listening }: { readonly name: string; readonly readOnly: boolean } & Pick<SqliteStoreOptions, 'onFailure'>,
): Promise<WorkerStore> {
  const workerData: SqliteWorkerData = { path, readOnly, busyTimeoutMs };
  // The environment may hold vendor keys, and flags of the process may not fit a thread: the worker needs neither.
  const worker = new Worker(new URL('./sqlite-worker.ts', import.meta.url), { workerData, env: threadEnvironment(), execArgv: [], name });
  return connectStoreWorker(worker, { openTimeoutMs, callTimeoutMs, closeTimeoutMs, pendingCallsMax, ...listening });
}

/**
 * Creates an absent file as readable by its owner only; SQLite gives its log files the same mode. An existing file is not even opened:
 * closing it would drop the locks that another connection of this process holds on it.
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

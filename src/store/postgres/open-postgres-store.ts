import { Worker } from 'node:worker_threads';
import { threadEnvironment } from '../../platform/thread-environment.ts';
import type { StoreError } from '../store-error.ts';
import { connectStoreWorker } from '../worker/connect-store-worker.ts';
import type { WorkerStore } from '../worker/connect-store-worker.ts';
import type { PostgresOptions } from './connection-options.ts';

export type PostgresStoreOptions = Pick<PostgresOptions, 'url'> &
  Partial<Omit<PostgresOptions, 'url'>> & {
    /** Time limit of one call with all its statements. Default 30 s. */
    readonly callTimeoutMs?: number;
    /** Called once if the worker thread dies unexpectedly, which only a bug or a lack of memory can cause. */
    readonly onFailure?: (error: StoreError) => void;
  };

/** Time limit with migrations: creating a large index may take long. */
const openTimeoutMs = 120_000;
const closeTimeoutMs = 10_000;
const pendingCallsMax = 10_000;

/**
 * Opens a PostgreSQL database in a worker thread of its own, so that the driver does not use the event loop that
 * carries streams. Any number of processes on any number of machines may have it open. While the server is unreachable,
 * calls fail as `unavailable`; they work again afterwards. Rejects with StoreError.
 */
export async function openPostgresStore({ callTimeoutMs = 30_000, onFailure, ...options }: PostgresStoreOptions): Promise<WorkerStore> {
  const workerData: PostgresOptions = { ...postgresDefaults, ...options };
  // The worker needs neither the environment, which may hold vendor keys, nor the flags of the process, which may not
  // be allowed in a thread.
  const worker = new Worker(new URL('./postgres-worker.ts', import.meta.url), {
    workerData,
    env: threadEnvironment(),
    execArgv: [],
    name: 'store',
  });
  const listening = onFailure === undefined ? {} : { onFailure };
  return await connectStoreWorker(worker, { openTimeoutMs, callTimeoutMs, closeTimeoutMs, pendingCallsMax, ...listening });
}

export const postgresDefaults: Omit<PostgresOptions, 'url'> = {
  poolMax: 10,
  connectTimeoutMs: 5000,
  statementTimeoutMs: 15_000,
  lockTimeoutMs: 5000,
  readOnly: false,
  mayBeAway: false,
  applicationName: 'weir',
};

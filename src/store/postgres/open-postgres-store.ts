import { Worker } from 'node:worker_threads';
import { threadEnvironment } from '../../platform/thread-environment.ts';
import type { StoreError } from '../store-error.ts';
import { connectStoreWorker } from '../worker/connect-store-worker.ts';
import type { WorkerStore } from '../worker/connect-store-worker.ts';
import type { PostgresOptions } from './connection-options.ts';

export type PostgresStoreOptions = Pick<PostgresOptions, 'url'> &
  Partial<Omit<PostgresOptions, 'url'>> & {
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
 * Opens a database of a PostgreSQL server in a worker thread of its own, so that what the driver costs is not taken from the loop that carries streams. Any number of processes on
 * any number of machines may have it open. A server that goes away makes calls fail as `unavailable`; they work again when it is back. Rejects with StoreError.
 */
export async function openPostgresStore({ callTimeoutMs = 30_000, onFailure, ...options }: PostgresStoreOptions): Promise<WorkerStore> {
  const workerData: PostgresOptions = { ...postgresDefaults, ...options };
  // The environment may hold vendor keys, and flags of the process may not fit a thread: the worker needs neither.
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

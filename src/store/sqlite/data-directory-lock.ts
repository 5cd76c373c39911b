import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { makeDirectory } from '../../platform/make-directory.ts';
import { StoreError } from '../store-error.ts';
import { openDatabase } from './open-database.ts';
import type { SqliteConnection } from './open-database.ts';

export type DataDirectoryLock = {
  /** Releases the directory. May be called again. The end of the process also releases it, however it ends. */
  readonly release: () => void;
};

/** The directory is in use by another process. The message names that process and is written for the operator. */
export class DataDirectoryLockedError extends Error {
  constructor(message: string, options?: { cause?: unknown }) {
    super(message, options);
    this.name = 'DataDirectoryLockedError';
  }
}

/** Never open this file by other means: closing any descriptor of a locked file drops the lock of the whole process. */
const lockFileName = 'weir.lock';
const holderFileName = 'weir.lock.holder';

/**
 * Locks the data directory for this process, and creates it if it does not exist. The lock is the operating system's
 * record lock of an open SQLite transaction, so it ends with the process, also after kill -9; a file with a pid in it
 * would remain. Throws DataDirectoryLockedError if another process has it, StoreError if the directory cannot be used.
 */
export function lockDataDirectory(directory: string): DataDirectoryLock {
  try {
    makeDirectory(directory);
  } catch (error) {
    throw new StoreError('disk', `The data directory ${directory} cannot be created.`, { cause: error });
  }
  const database = openLockFile(directory);
  takeWriteLock(database, directory);
  const holderPath = join(directory, holderFileName);
  try {
    writeFileSync(holderPath, `${process.pid} on ${hostname()}\n`, { mode: 0o600 });
  } catch (error) {
    database.close();
    throw new StoreError('disk', `The data directory ${directory} cannot be written.`, { cause: error });
  }
  let held = true;
  const release = (): void => {
    if (!held) return;
    held = false;
    process.off('exit', release);
    rmSync(holderPath, { force: true });
    database.close();
  };
  // This also keeps the connection reachable: if a caller dropped the lock object, garbage collection would silently
  // release the lock.
  process.on('exit', release);
  return { release };
}

function openLockFile(directory: string): SqliteConnection {
  try {
    return openDatabase(join(directory, lockFileName), { readOnly: false, busyTimeoutMs: 0 });
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new StoreError('disk', `The data directory ${directory} cannot be written (${lockFileName}: ${reason}).`, { cause: error });
  }
}

function takeWriteLock(database: SqliteConnection, directory: string): void {
  try {
    // Only one connection at a time can have a write transaction open. Nothing is ever written in it, so there is
    // nothing to recover.
    database.execute('begin immediate');
  } catch (error) {
    database.close();
    if (!(error instanceof StoreError) || error.kind !== 'busy') throw error;
    throw new DataDirectoryLockedError(
      `The data directory ${directory} is in use by process ${readHolder(directory)}. ` +
        'Two gateways need two data directories: stop that process, or choose another directory.',
      { cause: error },
    );
  }
}

function readHolder(directory: string): string {
  try {
    return readFileSync(join(directory, holderFileName), 'utf8').trim() || 'unknown';
  } catch {
    // The holder has just locked the directory and has not written its pid yet.
    return 'unknown';
  }
}

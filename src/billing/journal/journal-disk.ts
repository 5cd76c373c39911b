import {
  accessSync,
  close,
  closeSync,
  constants,
  fdatasync,
  fsync,
  fsyncSync,
  ftruncateSync,
  openSync,
  readFileSync,
  readSync,
  readdirSync,
  renameSync,
  unlinkSync,
  writeSync,
} from 'node:fs';
import { promisify } from 'node:util';
import { makeDirectory } from '../../platform/make-directory.ts';
import { lockDirectory } from './lock-directory.ts';

/** The file operations of the journal, so that tests can tear, fail and lose its writes. */
export type JournalDisk = {
  /**
   * Creates the directory if needed (0700) and checks that it can be read and written. Throws the operating system's
   * error.
   */
  readonly prepare: (directory: string) => void;
  /** Locks the directory for this process and returns the release. Throws while another process has it. */
  readonly lock: (directory: string) => () => void;
  readonly list: (directory: string) => readonly string[];
  /**
   * Creates a file that must not exist yet, 0600, with this many zeros, which take no room on the disk before they are
   * replaced. If each write made the file longer, writes would wait for a sync that is under way.
   */
  readonly create: (path: string, length: number) => number;
  /** Passes bytes, which follow the last ones, to the operating system, and returns how many it accepted. */
  readonly write: (handle: number, bytes: Buffer, offset: number, length: number) => number;
  /** Forces written bytes to the disk. */
  readonly sync: (handle: number) => Promise<void>;
  /** Forces the names of new files to the disk. */
  readonly syncDirectory: (directory: string) => Promise<void>;
  /** Closes a file and cuts off the zeros after this length. */
  readonly close: (handle: number, length: number) => void;
  readonly read: (path: string) => Buffer;
  readonly readAt: (path: string, offset: number, length: number) => Buffer;
  /** Truncates a file and forces the change to the disk. */
  readonly truncate: (path: string, length: number) => void;
  readonly rename: (from: string, to: string) => void;
  readonly remove: (path: string) => void;
};

const syncData = promisify(fdatasync);
const syncAll = promisify(fsync);

/** The real disk. */
export const nodeJournalDisk: JournalDisk = {
  prepare: (directory) => {
    makeDirectory(directory);
    accessSync(directory, constants.R_OK | constants.W_OK | constants.X_OK);
  },
  lock: lockDirectory,
  list: (directory) => readdirSync(directory),
  create: (path, length) => {
    const handle = openSync(path, 'wx', 0o600);
    try {
      ftruncateSync(handle, length);
      return handle;
    } catch (error) {
      closeSync(handle);
      unlinkSync(path);
      throw error;
    }
  },
  // Without a position the bytes follow the last ones.
  write: (handle, bytes, offset, length) => writeSync(handle, bytes, offset, length),
  sync: (handle) => syncData(handle),
  syncDirectory: async (directory) => {
    const handle = openSync(directory, 'r');
    try {
      await syncAll(handle);
    } finally {
      closeSync(handle);
    }
  },
  close: (handle, length) => {
    try {
      ftruncateSync(handle, length);
    } finally {
      closeSync(handle);
    }
  },
  read: (path) => readFileSync(path),
  readAt: (path, offset, length) => {
    const handle = openSync(path, 'r');
    try {
      const bytes = Buffer.alloc(length);
      return bytes.subarray(0, readSync(handle, bytes, 0, length, offset));
    } finally {
      closeSync(handle);
    }
  },
  truncate: (path, length) => {
    const handle = openSync(path, 'r+');
    try {
      ftruncateSync(handle, length);
      fsyncSync(handle);
    } finally {
      closeSync(handle);
    }
  },
  rename: renameSync,
  remove: (path) => {
    // The file is open while its name goes, so that its blocks are freed when it is closed. That takes milliseconds.
    const handle = openIfPossible(path);
    try {
      unlinkSync(path);
    } finally {
      // A failure loses nothing: the name is gone, and nothing was written.
      if (handle !== undefined) close(handle, () => {});
    }
  },
};

/** A process without a free descriptor can still remove a file. */
function openIfPossible(path: string): number | undefined {
  try {
    return openSync(path, 'r');
  } catch {
    return undefined;
  }
}

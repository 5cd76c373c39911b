import {
  accessSync,
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
  /** Creates a file that must not exist yet, 0600, for appending. */
  readonly create: (path: string) => number;
  /** Passes bytes to the operating system and returns how many it accepted. */
  readonly write: (handle: number, bytes: Buffer, offset: number, length: number) => number;
  /** Forces written bytes to the disk. */
  readonly sync: (handle: number) => Promise<void>;
  /** Forces the names of new files to the disk. */
  readonly syncDirectory: (directory: string) => Promise<void>;
  readonly close: (handle: number) => void;
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
  create: (path) => openSync(path, 'ax', 0o600),
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
  close: closeSync,
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
  remove: unlinkSync,
};

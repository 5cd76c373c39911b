import { randomBytes } from 'node:crypto';
import { closeSync, fsyncSync, linkSync, openSync, renameSync, rmSync, writeSync } from 'node:fs';

/**
 * Creates a file that only its owner may read, with its whole content or not at all: a process that finds the file, at
 * the same moment or after a power failure, never reads a part of it.
 * @param text content of the file
 * @returns whether this call created the file; false if it existed
 */
export function createFileOnce(path: string, text: string): boolean {
  const draft = `${path}.${randomBytes(6).toString('hex')}`;
  const file = openSync(draft, 'wx', 0o600);
  try {
    try {
      writeSync(file, text);
      fsyncSync(file);
    } finally {
      closeSync(file);
    }
    return linkOrRename(draft, path);
  } finally {
    rmSync(draft, { force: true });
  }
}

function linkOrRename(draft: string, path: string): boolean {
  try {
    linkSync(draft, path);
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'EEXIST') return false;
    // A file system without hard links: the last process wins. That matters only to processes that start at the same
    // moment.
    renameSync(draft, path);
  }
  return true;
}

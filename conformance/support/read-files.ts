import { type Dirent, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** Files below a directory that other processes write to. */
export function filesBelow(directory: string): readonly string[] {
  return listIfThere(directory).flatMap((entry) => {
    const path = join(directory, entry.name);
    if (entry.isDirectory()) return filesBelow(path);
    return entry.isFile() ? [path] : [];
  });
}

function listIfThere(directory: string): readonly Dirent[] {
  try {
    return readdirSync(directory, { withFileTypes: true });
  } catch (error) {
    if (isGone(error)) return [];
    throw error;
  }
}

const isGone = (error: unknown): boolean => error instanceof Error && 'code' in error && error.code === 'ENOENT';

/**
 * The content of a file, or nothing if it was deleted meanwhile, like segments of a journal whose records are in the
 * ledger.
 */
export function readIfThere(path: string): Buffer {
  try {
    return readFileSync(path);
  } catch (error) {
    if (isGone(error)) return Buffer.alloc(0);
    throw error;
  }
}

/** The content of a data directory's journal, as text. */
export function readJournal(dataDirectory: string): string {
  return filesBelow(join(dataDirectory, 'journal'))
    .map((path) => readIfThere(path).toString('latin1'))
    .join('\n');
}

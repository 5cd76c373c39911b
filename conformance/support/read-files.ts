import { type Dirent, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** The files below a directory that others write to. */
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

/** What a file holds; nothing where it has gone meanwhile, as segments of a journal do whose records are in the ledger. */
export function readIfThere(path: string): Buffer {
  try {
    return readFileSync(path);
  } catch (error) {
    if (isGone(error)) return Buffer.alloc(0);
    throw error;
  }
}

/** What the journal of a data directory holds, as text. */
export function readJournal(dataDirectory: string): string {
  return filesBelow(join(dataDirectory, 'journal'))
    .map((path) => readIfThere(path).toString('latin1'))
    .join('\n');
}

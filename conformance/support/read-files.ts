import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';

/** The files below a directory that others write to. */
export function filesBelow(directory: string): readonly string[] {
  return readdirSync(directory, { recursive: true, encoding: 'utf8' })
    .map((name) => join(directory, name))
    .filter((path) => statSync(path, { throwIfNoEntry: false })?.isFile() === true);
}

/** What a file holds; nothing where it has gone meanwhile, as segments of a journal do whose records are in the ledger. */
export function readIfThere(path: string): Buffer {
  try {
    return readFileSync(path);
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return Buffer.alloc(0);
    throw error;
  }
}

/** What the journal of a data directory holds, as text. */
export function readJournal(dataDirectory: string): string {
  return filesBelow(join(dataDirectory, 'journal'))
    .map((path) => readIfThere(path).toString('latin1'))
    .join('\n');
}

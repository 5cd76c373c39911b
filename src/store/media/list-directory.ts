import type { Dirent } from 'node:fs';
import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';

import { isMissing } from './read-part.ts';

/** The folder of files that are being written. */
export const unfinishedFolder = 'unfinished';

type Listing = {
  readonly directory: string;
  readonly beforeMs: number;
  readonly limit: number;
  /** Where the previous listing ended. */
  readonly after: string | undefined;
};

/**
 * Lists files that were not written to since a time: first complete files, then unfinished ones, starting after
 * `after`. An empty listing is the end; the next one starts again. `after` of the result is where it ended.
 */
export async function listDirectory(listing: Listing): Promise<{ readonly keys: readonly string[]; readonly after: string | undefined }> {
  const { directory, beforeMs, limit } = listing;
  const keys: string[] = [];
  let { after } = listing;
  for await (const path of walk(directory, after ?? '')) {
    if (keys.length >= limit) break;
    after = path;
    if (await isOlder(join(directory, path), beforeMs)) keys.push(path.slice(path.lastIndexOf('/') + 1));
  }
  return { keys, after: keys.length === 0 ? undefined : after };
}

/**
 * Paths of all files after a given one, in order. The folder of unfinished files sorts after those of two hexadecimal
 * digits.
 */
async function* walk(directory: string, after: string): AsyncGenerator<string, void> {
  for (const outer of await folders(directory)) {
    if (outer < after.slice(0, 2)) continue;
    for (const inner of await folders(join(directory, outer))) {
      const folder = `${outer}/${inner}`;
      if (folder < after.slice(0, 5)) continue;
      for (const { name } of await list(join(directory, folder))) {
        if (`${folder}/${name}` > after) yield `${folder}/${name}`;
      }
    }
  }
  for (const { name } of await list(join(directory, unfinishedFolder))) {
    if (`${unfinishedFolder}/${name}` > after) yield `${unfinishedFolder}/${name}`;
  }
}

async function folders(path: string): Promise<readonly string[]> {
  return (await list(path)).filter((entry) => entry.isDirectory() && /^[0-9a-f]{2}$/.test(entry.name)).map(({ name }) => name);
}

async function list(path: string): Promise<readonly Dirent[]> {
  const entries = await readdir(path, { withFileTypes: true });
  return entries.toSorted((one, other) => (one.name < other.name ? -1 : 1));
}

async function isOlder(path: string, beforeMs: number): Promise<boolean> {
  try {
    return (await stat(path)).mtimeMs < beforeMs;
  } catch (error) {
    // The file was removed or renamed since it was listed.
    if (isMissing(error)) return false;
    throw error;
  }
}

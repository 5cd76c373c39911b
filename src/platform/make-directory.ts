import { closeSync, fsyncSync, mkdirSync, openSync, statSync } from 'node:fs';
import { mkdir, open, stat } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';

const mode = 0o700;

/**
 * Makes a directory and its parents, readable by this user only. An existing directory is left as it is. Node's own
 * `recursive` never returns on file systems such as procfs, which answer "no such file" for a name in a directory that
 * exists; this tries each level twice at most. The parent of a new directory is synced: otherwise a power loss could
 * remove the directory with all its synced files.
 * @throws the operating system's error
 */
export function makeDirectory(directory: string): void {
  const path = resolve(directory);
  try {
    makeLevel(path);
  } catch (error) {
    if (!mayLackParent(error, path)) throw error;
    makeDirectory(dirname(path));
    makeLevel(path);
  }
}

function makeLevel(path: string): void {
  try {
    mkdirSync(path, { mode });
  } catch (error) {
    if (statSync(path, { throwIfNoEntry: false })?.isDirectory() !== true) throw error;
    return;
  }
  syncName(path);
}

function syncName(path: string): void {
  try {
    const parent = openSync(dirname(path), 'r');
    try {
      fsyncSync(parent);
    } finally {
      closeSync(parent);
    }
  } catch {
    // This user may not read the parent, or the file system does not sync directories: nothing more can be done.
  }
}

/** The same without blocking the event loop. */
export async function makeDirectoryAsync(directory: string): Promise<void> {
  const path = resolve(directory);
  try {
    await makeLevelAsync(path);
  } catch (error) {
    if (!mayLackParent(error, path)) throw error;
    await makeDirectoryAsync(dirname(path));
    await makeLevelAsync(path);
  }
}

async function makeLevelAsync(path: string): Promise<void> {
  try {
    await mkdir(path, { mode });
  } catch (error) {
    const found = await stat(path).catch(() => undefined);
    if (found?.isDirectory() !== true) throw error;
    return;
  }
  await syncNameAsync(path);
}

async function syncNameAsync(path: string): Promise<void> {
  const parent = await open(dirname(path), 'r').catch(() => undefined);
  // As above.
  await parent?.sync().catch(() => undefined);
  await parent?.close();
}

function mayLackParent(error: unknown, path: string): boolean {
  return error instanceof Error && 'code' in error && error.code === 'ENOENT' && dirname(path) !== path;
}

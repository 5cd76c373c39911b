import { closeSync, fsyncSync, mkdirSync, openSync, statSync } from 'node:fs';
import { mkdir, open, stat } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';

const mode = 0o700;

/**
 * Makes a directory and those above it, readable by this user only; one that exists is left as it is. Node's own `recursive` never returns on file systems that answer
 * "no such file" for a name in a directory that exists, as procfs does: this tries each level twice at most. The name of a new directory is brought to the disk, or a power loss could take it with all
 * that was synced in it.
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
    // A parent that this user may not read, or a file system that does not sync directories: there is nothing more to do for the name.
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

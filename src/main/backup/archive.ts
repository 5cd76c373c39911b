import { execFile } from 'node:child_process';
import { closeSync, openSync } from 'node:fs';
import { promisify } from 'node:util';

import { StartError } from '../environment.ts';

const run = promisify(execFile);

/** Whether a backup of this name is one file. */
export const isArchive = (name: string): boolean => /\.(?:tar|tar\.gz|tgz)$/.test(name);

const compression = (name: string): readonly string[] => (name.endsWith('.tar') ? [] : ['--gzip']);

/** Packs a folder into one file with tar. @throws StartError */
export async function pack(folder: string, file: string, name: string): Promise<void> {
  // tar keeps the rights of a file that exists.
  closeSync(openSync(file, 'wx', 0o600));
  await runTar(['--create', ...compression(name), '--file', file, '--directory', folder, '.']);
}

/** Unpacks such a file into an empty folder. tar refuses names that leave it. @throws StartError */
export async function unpack(file: string, folder: string): Promise<void> {
  await runTar(['--extract', ...compression(file), '--file', file, '--directory', folder, '--no-same-owner', '--no-same-permissions']);
}

async function runTar(words: readonly string[]): Promise<void> {
  try {
    await run('tar', words);
  } catch (cause) {
    const isAbsent = cause instanceof Error && 'code' in cause && cause.code === 'ENOENT';
    const stderr = cause instanceof Error && 'stderr' in cause ? String(cause.stderr).trim() : String(cause);
    throw new StartError(isAbsent ? 'tar is not on PATH: install it, or name a folder' : `tar failed: ${stderr.slice(0, 500)}`, { cause });
  }
}

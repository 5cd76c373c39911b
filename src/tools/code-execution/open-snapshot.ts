import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { constants } from 'node:fs';
import { type FileHandle, open, unlink } from 'node:fs/promises';
import { join } from 'node:path';

import { composeCommand, type HostSeal, interpreterFolder, type SandboxLimits } from './seal-command.ts';

/** The time limit for creating a snapshot. */
const makeMs = 60_000;
/** The memory of a new interpreter is about 30 MB. */
const bytesMax = 256 * 1024 * 1024;

/**
 * Creates a snapshot of an interpreter that has run no code yet, from which others start in a fraction of the time. The
 * file has no name and is open for reading only: it disappears with the process, and no sandbox can change it.
 * @throws Error if the child fails or the folder is not writable
 */
export async function openSnapshot(seals: ReadonlySet<HostSeal>, limits: SandboxLimits, folder: string): Promise<FileHandle> {
  const { program, args } = composeCommand(seals, limits, ['snapshot', interpreterFolder]);
  const child = spawn(program, args, { env: {}, cwd: '/', stdio: ['ignore', 'pipe', 'ignore'], timeout: makeMs, killSignal: 'SIGKILL' });
  const closed = new Promise<number | null>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', resolve);
  });
  const chunks: Buffer[] = [];
  let bytes = 0;
  child.stdout.on('data', (chunk: Buffer) => {
    bytes += chunk.length;
    if (bytes > bytesMax) child.kill('SIGKILL');
    else chunks.push(chunk);
  });
  const code = await closed;
  if (code !== 0) throw new Error(`The interpreter could not be started (exit ${code}).`);
  return keepUnnamed(join(folder, `python-${randomUUID()}.snapshot`), chunks);
}

async function keepUnnamed(path: string, chunks: readonly Buffer[]): Promise<FileHandle> {
  const writing = await open(path, 'wx', 0o600);
  try {
    for (const chunk of chunks) await writing.writeFile(chunk);
    return await open(path, constants.O_RDONLY);
  } finally {
    await writing.close();
    await unlink(path);
  }
}

import { linkSync, readFileSync, renameSync, unlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const lockName = 'journal.lock';

/**
 * Locks a directory for this process until it releases the lock or dies, in any way. A second writer would settle the
 * calls of the first as lost and delete its segments. Node has no file locks, so the lock is a file that names its
 * holder: process id, boot and start time. After a restart of a container a new process may have the old id, and only
 * the start time differs. Throws an Error while the holder runs. A holder in another container that shares the
 * directory cannot be detected.
 */
export function lockDirectory(directory: string): () => void {
  const path = join(directory, lockName);
  const own = describeProcess(process.pid);
  const draft = `${path}.${process.pid}`;
  writeFileSync(draft, own, { mode: 0o600 });
  try {
    if (!tryLink(draft, path)) {
      removeStale(path, `${draft}.stale`, directory);
      if (!tryLink(draft, path)) throw new Error(`another process is using ${directory}`);
    }
  } finally {
    unlinkSync(draft);
  }
  return () => {
    if (readLock(path) === own) unlinkSync(path);
  };
}

/** Whether a running process has locked the directory. */
export function isDirectoryHeld(directory: string): boolean {
  const held = readLock(join(directory, lockName));
  return held !== undefined && isAlive(held);
}

/** Only linking creates a file together with its content, and fails if the file exists. */
function tryLink(draft: string, path: string): boolean {
  try {
    linkSync(draft, path);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw error;
  }
}

function removeStale(path: string, aside: string, directory: string): void {
  const held = readLock(path);
  if (held === undefined) return;
  if (isAlive(held)) throw new Error(`another process is using ${directory} (process ${held.split(' ')[0]})`);
  renameSync(path, aside);
  const removed = readLock(aside);
  // Another process may have replaced the stale lock between the check and the rename: then its lock is restored.
  if (removed !== held) renameSync(aside, path);
  else unlinkSync(aside);
}

function readLock(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}

function isAlive(held: string): boolean {
  const processId = Number(held.split(' ')[0]);
  if (!Number.isSafeInteger(processId) || processId <= 0) return false;
  try {
    process.kill(processId, 0);
  } catch (error) {
    // EPERM means that the process runs and belongs to another user.
    if ((error as NodeJS.ErrnoException).code === 'ESRCH') return false;
  }
  return describeProcess(processId) === held;
}

/** `<process id> <boot> <start>`. Without /proc the last two are unknown, and only the process id counts. */
function describeProcess(processId: number): string {
  return `${processId} ${readProc('sys/kernel/random/boot_id')} ${startOf(readProc(`${processId}/stat`))}`;
}

function readProc(name: string): string {
  try {
    return readFileSync(join('/proc', name), 'utf8').trim();
  } catch {
    // Not Linux, or the process has ended: process.kill distinguishes the two.
    return 'unknown';
  }
}

/**
 * The 22nd field. The second field is the program's name in parentheses and may contain spaces and parentheses. A
 * zombie (the third field) writes nothing any more and waits only for its parent, so it does not count.
 */
function startOf(stat: string): string {
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return fields[0] === 'Z' ? 'dead' : (fields[19] ?? 'unknown');
}

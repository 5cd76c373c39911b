import { linkSync, readFileSync, renameSync, unlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const lockName = 'journal.lock';

/**
 * Takes a directory for this process until the release is called or the process dies, however it dies. A second writer would settle
 * the calls of the first as lost and delete its segments. Node has no file locks, so the lock is a file that names its holder: process id,
 * boot and start time. A restarted container gives a new process the old id, and only the start time tells them apart.
 * Throws an Error while the holder lives. A holder in another container that shares the directory cannot be seen.
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

/** Whether a living process has taken the directory. */
export function isDirectoryHeld(directory: string): boolean {
  const held = readLock(join(directory, lockName));
  return held !== undefined && isAlive(held);
}

/** Linking is the one way to create a file together with its content, or not at all when it exists. */
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
  // Another process may have taken the stale lock's place between the look and the move: then it is given back.
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
    // EPERM says that it lives and belongs to someone else.
    if ((error as NodeJS.ErrnoException).code === 'ESRCH') return false;
  }
  return describeProcess(processId) === held;
}

/** `<process id> <boot> <start>`. Where there is no /proc the last two are unknown, and the process id alone decides. */
function describeProcess(processId: number): string {
  return `${processId} ${readProc('sys/kernel/random/boot_id')} ${startOf(readProc(`${processId}/stat`))}`;
}

function readProc(name: string): string {
  try {
    return readFileSync(join('/proc', name), 'utf8').trim();
  } catch {
    // Not Linux, or the process has ended meanwhile: both are told apart by process.kill.
    return 'unknown';
  }
}

/**
 * The 22nd field. The second is the program's name in parentheses and may hold spaces and parentheses of its own. A zombie (the third field)
 * writes nothing any more and waits only for its parent, so it is nobody.
 */
function startOf(stat: string): string {
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return fields[0] === 'Z' ? 'dead' : (fields[19] ?? 'unknown');
}

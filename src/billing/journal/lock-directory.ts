import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';

/**
 * Takes a directory for this process until the release is called or the process dies, however it dies. A second writer would settle
 * the calls of the first as lost and delete its segments. Node offers no file locks of its own; SQLite's are the operating system's, so a
 * killed process leaves none behind, and neither a reused process id nor a container with the same ids can confuse them.
 */
export function lockDirectory(directory: string): () => void {
  const lock = new DatabaseSync(join(directory, 'journal.lock'), { timeout: 0 });
  try {
    lock.exec('BEGIN EXCLUSIVE');
  } catch (cause) {
    lock.close();
    throw new Error(`another process is using ${directory}`, { cause });
  }
  return () => lock.close();
}

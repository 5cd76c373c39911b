import type { TaskParts } from './task-parts.ts';
import { orphanAgeMs } from './timings.ts';

type SweepParts = Pick<TaskParts, 'store' | 'storage' | 'clock' | 'logger'>;

/** Tasks whose files expire in one query. */
const expiredAtOnce = 100;
/** The most file names of one sweep, and of one query. */
const namesMax = 100_000;
const namesAtOnce = 500;

/**
 * Deletes expired files. Their tasks stay. A file whose deletion fails has no owner from then on, and `sweepOrphans`
 * deletes it.
 * @throws errors of the store */
export async function sweepExpired(parts: SweepParts, signal: AbortSignal): Promise<number> {
  let removed = 0;
  while (!signal.aborted) {
    const keys = await parts.store.expireMedia({ nowMs: parts.clock.nowMs(), limit: expiredAtOnce });
    removed += await removeFiles(parts, keys);
    if (keys.length < expiredAtOnce) break;
  }
  return removed;
}

/** Tasks that are deleted in one transaction. */
const forgottenAtOnce = 100;

/**
 * Deletes tasks whose retention is over. A task that still has its file stays.
 * @throws what the store throws
 */
export async function sweepTasks(
  { store, clock, settings }: Pick<TaskParts, 'store' | 'clock' | 'settings'>,
  signal: AbortSignal,
): Promise<number> {
  const endedBeforeMs = clock.nowMs() - settings().taskRetentionMs;
  let forgotten = 0;
  while (!signal.aborted) {
    const count = await store.sweepTasks({ endedBeforeMs, limit: forgottenAtOnce });
    forgotten += count;
    if (count < forgottenAtOnce) break;
  }
  return forgotten;
}

/**
 * Deletes files without a task: from copies whose process died, and from failed deletions. Young files are skipped,
 * because they may belong to a running copy.
 * @throws what the store or the storage throws
 */
export async function sweepOrphans(parts: SweepParts, signal: AbortSignal): Promise<number> {
  const names = await parts.storage.listOlderThan(parts.clock.nowMs() - orphanAgeMs, namesMax);
  let removed = 0;
  for (let at = 0; at < names.length && !signal.aborted; at += namesAtOnce) {
    removed += await removeFiles(parts, await parts.store.unknownMedia(names.slice(at, at + namesAtOnce)));
  }
  return removed;
}

async function removeFiles({ storage, logger }: SweepParts, keys: readonly string[]): Promise<number> {
  let removed = 0;
  for (const key of keys) {
    try {
      await storage.remove(key);
      removed += 1;
    } catch (error) {
      logger.warn({ media: key, err: error }, 'deleting a media file failed');
    }
  }
  return removed;
}

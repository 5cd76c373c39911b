import type { TaskParts } from './task-parts.ts';
import { orphanAgeMs } from './timings.ts';

type SweepParts = Pick<TaskParts, 'store' | 'storage' | 'clock' | 'logger'>;

/** Tasks whose files are taken away together. */
const expiredAtOnce = 100;
/** Names of files that are looked at in one sweep, and asked for in one query. */
const namesMax = 100_000;
const namesAtOnce = 500;

/**
 * Deletes the files whose time has passed. Their tasks stay. A file that cannot be deleted is nobody's from then on, and falls to the other sweep.
 * @throws what the store throws
 */
export async function sweepExpired(parts: SweepParts, signal: AbortSignal): Promise<number> {
  let removed = 0;
  while (!signal.aborted) {
    const keys = await parts.store.expireMedia({ nowMs: parts.clock.nowMs(), limit: expiredAtOnce });
    removed += await removeFiles(parts, keys);
    if (keys.length < expiredAtOnce) break;
  }
  return removed;
}

/** Tasks that are forgotten in one transaction. */
const forgottenAtOnce = 100;

/**
 * Forgets tasks whose end lies longer back than they are kept, so that what is over does not pile up. One that still has its file stays with it.
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
 * Deletes the files that no task has: of copies whose process died, and of those that could not be deleted before. Young ones may be being copied.
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
      logger.warn({ media: key, err: error }, 'a file could not be deleted; the sweep tries again');
    }
  }
  return removed;
}

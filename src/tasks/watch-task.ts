import type { TaskParts } from './task-parts.ts';
import type { TaskStore } from './task-store.ts';
import { watchMs } from './timings.ts';
import type { VideoTask } from './video-task.ts';

/** Notifies watchers of a task in this process. */
export type TaskChanges = {
  readonly announce: (id: string) => void;
  /** Resolves at the next change by this process. */
  readonly next: (id: string) => { readonly changed: Promise<void>; readonly forget: () => void };
};

export function createTaskChanges(): TaskChanges {
  const waiting = new Map<string, Set<() => void>>();
  return {
    announce: (id) => {
      const tell = waiting.get(id);
      waiting.delete(id);
      for (const one of tell ?? []) one();
    },
    next: (id) => {
      const { promise, resolve } = Promise.withResolvers<void>();
      const those = waiting.get(id) ?? new Set();
      waiting.set(id, those.add(resolve));
      return {
        changed: promise,
        forget: () => {
          those.delete(resolve);
          if (those.size === 0 && waiting.get(id) === those) waiting.delete(id);
        },
      };
    },
  };
}

type FindTask = TaskStore['findTask'];

type SharedRead = { readonly id: string; readonly userName: string; readonly read: ReturnType<FindTask> };

/**
 * Shares concurrent reads of the same task, because it may have many watchers. After `renew` the next read queries the
 * store again.
 */
export function shareReads(find: FindTask): { readonly find: FindTask; readonly renew: (id: string) => void } {
  let reads: readonly SharedRead[] = [];
  return {
    find: ({ id, userName }) => {
      const known = reads.find((one) => one.id === id && one.userName === userName);
      if (known !== undefined) return known.read;
      const read = find({ id, userName }).finally(() => (reads = reads.filter((one) => one !== shared)));
      const shared = { id, userName, read };
      reads = [...reads, shared];
      return read;
    },
    renew: (id) => (reads = reads.filter((one) => one.id !== id)),
  };
}

type WatchParts = Pick<TaskParts, 'wait' | 'logger'> & { readonly find: FindTask; readonly changes: TaskChanges };

/**
 * Yields a task, and again after each visible change, until it ends, is deleted, or the signal aborts. Changes by this
 * process are noticed at once, those by others within a second. Yields nothing if the user has no such task.
 * @throws errors of the store at the first read; later reads are retried
 */
export async function* watchTask(
  { find, changes, wait, logger }: WatchParts,
  watched: { readonly userName: string; readonly id: string },
  signal: AbortSignal,
): AsyncIterable<VideoTask> {
  let shown: string | undefined;
  while (!signal.aborted) {
    // Subscribes before the read, so that no change is missed.
    const next = changes.next(watched.id);
    try {
      const task = await find(watched);
      if (task === undefined) return;
      const visible = JSON.stringify([task.phase, task.progress]);
      if (visible !== shown && !signal.aborted) yield task;
      shown = visible;
      if (task.phase === 'completed' || task.phase === 'failed') return;
    } catch (error) {
      if (shown === undefined) throw error;
      logger.warn({ task: watched.id, err: error }, 'reading a watched video failed');
    }
    await nextLook(wait, next, signal);
  }
}

async function nextLook(wait: TaskParts['wait'], next: ReturnType<TaskChanges['next']>, signal: AbortSignal): Promise<void> {
  const ended = new AbortController();
  const end = (): void => ended.abort();
  signal.addEventListener('abort', end, { once: true });
  if (!signal.aborted) await Promise.race([wait(watchMs, ended.signal), next.changed]);
  end();
  signal.removeEventListener('abort', end);
  next.forget();
}

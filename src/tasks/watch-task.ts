import type { TaskParts } from './task-parts.ts';
import type { TaskStore } from './task-store.ts';
import { watchMs } from './timings.ts';
import type { VideoTask } from './video-task.ts';

/** Who has to look at a task again: those in this process who watch it. */
export type TaskChanges = {
  readonly announce: (id: string) => void;
  /** Resolves at the next change that this process knows of. */
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

/** Reads of the same task at the same time are one read: many may watch one task. `renew` has the next read begin anew, because the task has changed. */
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
 * A task as it is, and again after each change that clients can see, until it is over, deleted, or the signal aborts. Changes of this process are noticed at once, those of others
 * within a second. Nothing at all for a task that this user does not have.
 * @throws what the store throws at the first look; later it is asked again
 */
export async function* watchTask(
  { find, changes, wait, logger }: WatchParts,
  watched: { readonly userName: string; readonly id: string },
  signal: AbortSignal,
): AsyncIterable<VideoTask> {
  let shown: string | undefined;
  while (!signal.aborted) {
    // Listened for before it is read, so that no change falls between the two.
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
      logger.warn({ task: watched.id, err: error }, 'a video that is watched could not be read; it is tried again');
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

import type { LeaseKeeper } from './keep-leases.ts';
import { giveBack } from './poll-task.ts';
import { storeResult } from './store-result.ts';
import type { TaskParts } from './task-parts.ts';
import { copiesAtOnceMax, copiesWaitingMax } from './timings.ts';
import type { VideoTask } from './video-task.ts';

/** The copies of this process: a few run, and a few wait. No other work waits for them. */
export type CopyQueue = {
  /** Accepts a `storing` task if there is room. When this process ends, the task is released for another one. */
  readonly offer: (task: VideoTask) => Promise<void>;
  /** The number of further tasks that it accepts. */
  readonly room: () => number;
  /** Running and waiting copies. */
  readonly size: () => { readonly running: number; readonly waiting: number };
  /** Resolves when no copy runs. */
  readonly idle: () => Promise<void>;
};

type CopyQueueOptions = {
  /** Aborts the copies; they restart in another process. */
  readonly closing: AbortSignal;
  /** Called when half of the waiting copies have started. */
  readonly onRoom: () => void;
};

export function createCopyQueue(parts: TaskParts, leases: LeaseKeeper, { closing, onRoom }: CopyQueueOptions): CopyQueue {
  const waiting: { readonly task: VideoTask; readonly lost: AbortController }[] = [];
  const running = new Set<Promise<void>>();
  const startNext = (): void => {
    while (running.size < copiesAtOnceMax) {
      const next = waiting.shift();
      if (next === undefined) return;
      const copy = copyOne(parts, next.task, { lost: next.lost.signal, closing }).finally(() => {
        leases.drop(next.task.id);
        running.delete(copy);
        startNext();
      });
      running.add(copy);
      if (waiting.length === copiesWaitingMax / 2) onRoom();
    }
  };
  return {
    offer: async (task) => {
      if (closing.aborted) return await giveBack(parts, task);
      const lost = new AbortController();
      leases.keep(task.id, { forMs: Number.POSITIVE_INFINITY, onLost: () => lost.abort() });
      waiting.push({ task, lost });
      startNext();
    },
    room: () => copiesWaitingMax - waiting.length,
    size: () => ({ running: running.size, waiting: waiting.length }),
    idle: async () => {
      while (running.size > 0) await Promise.all(running);
    },
  };
}

type Ends = { readonly lost: AbortSignal; readonly closing: AbortSignal };

async function copyOne(parts: TaskParts, task: VideoTask, { lost, closing }: Ends): Promise<void> {
  if (lost.aborted) return;
  try {
    if (!closing.aborted) return await storeResult(parts, task, AbortSignal.any([lost, closing]));
  } catch (error) {
    // Either another process has the lease and continues, or the store did not accept the outcome; then the copy
    // restarts after the lease.
    if (!closing.aborted) {
      parts.logger.warn({ task: task.id, err: error }, 'video copy ended without a result');
      return;
    }
  }
  await giveBack(parts, task).catch((error: unknown) => parts.logger.warn({ task: task.id, err: error }, 'releasing a video copy failed'));
}

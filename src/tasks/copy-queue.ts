import type { LeaseKeeper } from './keep-leases.ts';
import { giveBack } from './poll-task.ts';
import { storeResult } from './store-result.ts';
import type { TaskParts } from './task-parts.ts';
import { copiesAtOnceMax, copiesWaitingMax } from './timings.ts';
import type { VideoTask } from './video-task.ts';

/** The copies of this process: a few at once, and a few that wait. Nothing else waits for them. */
export type CopyQueue = {
  /** Takes a task that is `storing`, where there is room; at the end of the process it is given back for another one. */
  readonly offer: (task: VideoTask) => Promise<void>;
  /** How many more tasks may be offered. */
  readonly room: () => number;
  /** Copies under way, and those that wait. */
  readonly size: () => { readonly running: number; readonly waiting: number };
  /** Resolves when nothing is under way. */
  readonly idle: () => Promise<void>;
};

type CopyQueueOptions = {
  /** Ends the copies: they begin anew in another process. */
  readonly closing: AbortSignal;
  /** Called when half of those that waited have had their turn. */
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
    // Whoever has the lease now goes on. Otherwise the store did not take what became of the copy; when the lease has run out it begins anew.
    if (!closing.aborted) {
      parts.logger.warn({ task: task.id, err: error }, 'the copy of a video has ended without a result');
      return;
    }
  }
  await giveBack(parts, task).catch((error: unknown) => parts.logger.warn({ task: task.id, err: error }, 'a copy could not be given back'));
}

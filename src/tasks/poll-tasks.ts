import type { TaskParts } from './task-parts.ts';
import { busyTickMs, claimMax, idleTickMs, leaseMs, pollsAtOnceMax, storeBackMs } from './timings.ts';
import type { VideoTask } from './video-task.ts';

/** Leases due tasks from the store, and processes each once at a time. */
export type Poller = {
  readonly polling: () => number;
  /** Reports that there is room for work, so that the store is queried at once. */
  readonly wake: () => void;
  /** Runs until the signal aborts, and resolves when no work runs. */
  readonly run: (signal: AbortSignal) => Promise<void>;
};

/** The work on tasks, and its capacity. */
type PollerWork = {
  /** Processes a task. An error is a fault of the gateway, and the task is taken again after its lease. */
  readonly work: (task: VideoTask) => Promise<void>;
  /** The number of finished tasks that can be accepted for copying. */
  readonly storingMax: () => number;
};

export function createPoller(parts: TaskParts, { work, storingMax }: PollerWork): Poller {
  const { logger, clock, onPolled } = parts;
  const active = new Map<string, Promise<void>>();
  const nap = createNap(parts);
  const claim = createClaim(parts);
  const begin = (task: VideoTask): void => {
    // A claim that took longer than a lease can return a task that is already being processed.
    if (active.has(task.id)) return;
    onPolled?.(Math.max(0, clock.nowMs() - task.nextPollAtMs));
    const ended = work(task)
      .catch((error: unknown) => logger.error({ task: task.id, err: error }, 'processing a video failed'))
      .finally(() => {
        active.delete(task.id);
        if (active.size === pollsAtOnceMax - 1) nap.wake();
      });
    active.set(task.id, ended);
  };
  return {
    polling: () => active.size,
    wake: nap.wake,
    run: async (signal) => {
      let busyUntilMs = 0;
      while (!signal.aborted) {
        const limit = Math.min(claimMax, pollsAtOnceMax - active.size);
        const claimed = limit > 0 ? await claim({ limit, storingMax: storingMax() }, signal) : [];
        for (const task of claimed) begin(task);
        const nowMs = clock.monotonicMs();
        if (claimed.length > 0) busyUntilMs = nowMs + leaseMs;
        if (limit === 0 || claimed.length < limit) await nap.sleep(nowMs < busyUntilMs ? busyTickMs : idleTickMs, signal);
      }
      await Promise.all(active.values());
    },
  };
}

/** Leases due tasks. An outage of the store is logged once. */
function createClaim({
  store,
  owner,
  clock,
  logger,
  wait,
}: TaskParts): (most: { readonly limit: number; readonly storingMax: number }, signal: AbortSignal) => Promise<readonly VideoTask[]> {
  let isDown = false;
  return async (most, signal) => {
    try {
      if (isDown) {
        await store.countTasks(clock.nowMs());
        await wait(storeBackMs, signal);
      }
      const nowMs = clock.nowMs();
      const claimed = await store.claimTasks({ owner, nowMs, leaseUntilMs: nowMs + leaseMs, ...most });
      if (isDown) logger.info({}, 'polling of videos resumed');
      isDown = false;
      return claimed;
    } catch (error) {
      if (!isDown) logger.error({ err: error }, 'polling of videos failed');
      isDown = true;
      return [];
    }
  };
}

type Nap = { readonly sleep: (ms: number, signal: AbortSignal) => Promise<void>; readonly wake: () => void };

function createNap({ wait }: Pick<TaskParts, 'wait'>): Nap {
  let woken = false;
  let current: AbortController | undefined;
  return {
    wake: () => {
      woken = true;
      current?.abort();
    },
    sleep: async (ms, signal) => {
      if (!woken) {
        current = new AbortController();
        const end = (): void => current?.abort();
        signal.addEventListener('abort', end, { once: true });
        if (!signal.aborted) await wait(ms, current.signal);
        signal.removeEventListener('abort', end);
        current = undefined;
      }
      woken = false;
    },
  };
}

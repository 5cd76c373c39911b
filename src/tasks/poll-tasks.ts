import type { TaskParts } from './task-parts.ts';
import { busyTickMs, claimMax, idleTickMs, leaseMs, pollsAtOnceMax, storeBackMs } from './timings.ts';
import type { VideoTask } from './video-task.ts';

/** Takes due tasks from the store and has each worked on once at a time. */
export type Poller = {
  readonly polling: () => number;
  /** There is room for work again: has it looked for at once. */
  readonly wake: () => void;
  /** Goes on until the signal aborts, and resolves when nothing is under way. */
  readonly run: (signal: AbortSignal) => Promise<void>;
};

/** What is done with tasks, and how much of it there is room for. */
type PollerWork = {
  /** Does what the task needs. What it throws is a fault of our own, and the task is taken again when its lease has run out. */
  readonly work: (task: VideoTask) => Promise<void>;
  /** How many finished tasks there is room for whose file is to be copied. */
  readonly storingMax: () => number;
};

export function createPoller(parts: TaskParts, { work, storingMax }: PollerWork): Poller {
  const { logger, clock, onPolled } = parts;
  const active = new Map<string, Promise<void>>();
  const nap = createNap(parts);
  const claim = createClaim(parts);
  const begin = (task: VideoTask): void => {
    // A claim that took longer than a lease can bring a task again that is being worked on.
    if (active.has(task.id)) return;
    onPolled?.(Math.max(0, clock.nowMs() - task.nextPollAtMs));
    const ended = work(task)
      .catch((error: unknown) => logger.error({ task: task.id, err: error }, 'a video could not be looked after; it is tried again'))
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

/** Takes due tasks. A store that is away is told of once. */
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
      if (isDown) logger.info({}, 'videos are looked after again');
      isDown = false;
      return claimed;
    } catch (error) {
      if (!isDown) logger.error({ err: error }, 'open videos cannot be looked after: the store does not answer');
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

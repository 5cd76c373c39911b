import type { Clock } from '../../platform/clock.ts';
import type { Logger } from '../../platform/log.ts';
import type { UsageDays } from '../usage/usage-store.ts';
import type { CallFactsStore } from './call-facts-store.ts';

/** Rows of a step: some milliseconds, in which a booking may have to wait. */
const stepRows = 200;
/** After a booking it waits this long, so that it follows several batches at once. */
const wakeMs = 300;
/** Calls that other processes booked are followed after this time at the latest. */
const idleMs = 10_000;
/** When nothing was left to pack, the next is looked for after this time. */
const packPauseMs = 60_000;
/** A store that fails is asked less often. */
const failurePauseMs = 5000;

/** Writes the facts about calls in the background, in the order of booking. */
export type CallFollower = {
  /** Something was booked. Without this an idle process is woken rarely. */
  readonly wake: () => void;
  /** Follows everything that is booked by now. For programs that read lists right after bookings. */
  readonly catchUp: () => Promise<void>;
  /** Waits for the step that is under way. */
  readonly close: () => Promise<void>;
};

/**
 * Follows the ledger: facts of calls are written after their booking, so that booking costs nothing for them. Half of
 * the time of the store's thread at most is used, the rest is left to bookings. Calls from before the facts existed
 * come last. Days and hours that have ended are packed beside it. Any number of processes may follow one ledger.
 */
export function startCallFollower({
  store,
  clock,
  logger,
}: {
  readonly store: Pick<CallFactsStore, 'followCalls'> & UsageDays;
  readonly clock: Clock;
  readonly logger: Pick<Logger, 'warn' | 'info'>;
}): CallFollower {
  let timer: NodeJS.Timeout | undefined;
  let step: Promise<void> | undefined;
  let isClosed = false;
  let isWoken = false;
  let isWorking = false;
  let hasFailed = false;
  let nextPackMs = 0;

  async function packSums(): Promise<'more' | 'done'> {
    if (clock.monotonicMs() < nextPackMs) return 'done';
    const steps = [await store.packUsageDay(clock.nowMs()), await store.packCalls(clock.nowMs())];
    const packed = steps.includes('more') ? 'more' : 'done';
    if (packed === 'done') nextPackMs = clock.monotonicMs() + packPauseMs;
    return packed;
  }

  async function follow(): Promise<number> {
    isWoken = false;
    const begunMs = clock.monotonicMs();
    try {
      const followed = await store.followCalls(stepRows, clock.nowMs());
      const packed = await packSums();
      if (hasFailed) logger.info({}, 'facts about calls written again');
      hasFailed = false;
      if (followed === 'more' || packed === 'more') return clock.monotonicMs() - begunMs;
      return isWoken ? wakeMs : idleMs;
    } catch (error) {
      if (!hasFailed) logger.warn({ err: error }, 'writing facts about calls failed');
      hasFailed = true;
      return failurePauseMs;
    }
  }

  function plan(ms: number): void {
    if (isClosed) return;
    timer = setTimeout(() => {
      isWorking = true;
      step = follow().then((nextMs) => {
        isWorking = false;
        plan(nextMs);
      });
    }, ms).unref();
  }

  plan(0);
  return {
    wake: () => {
      if (isWoken || isClosed) return;
      isWoken = true;
      if (isWorking || hasFailed) return;
      clearTimeout(timer);
      plan(wakeMs);
    },
    catchUp: async () => {
      while (!isClosed && (await store.followCalls(stepRows, clock.nowMs())) === 'more');
    },
    close: async () => {
      isClosed = true;
      clearTimeout(timer);
      await step;
    },
  };
}

import type { Clock } from '../../platform/clock.ts';
import type { Logger } from '../../platform/log.ts';
import { waitFor } from '../../platform/wait-for.ts';
import type { Refusal, RefusalStore } from './refusal.ts';

/** Writes refusals to the store, off the path of calls. */
export type RefusalWriter = {
  /** Whether a refusal may be written now. Ask before one is described: a flood then costs next to nothing. */
  readonly admits: () => boolean;
  readonly add: (refusal: Refusal) => void;
  /** Refusals that were not written since the start. */
  readonly dropped: () => number;
  /** Writes what waits, for a limited time. */
  readonly close: () => Promise<void>;
};

/** As many at once, and then as many in a second: those of the log. */
const burst = 100;
const perSecond = 20;
const waitingMax = 1000;
const writeEveryMs = 1000;
const sweepEveryMs = 600_000;
const storeTimeoutMs = 5000;
const keptMs = 7 * 86_400_000;
const rowsMax = 1_000_000;
const sweptAtOnce = 5000;
/** The most steps of one sweep. The next one continues. */
const sweepStepsMax = 100;

/** Samples, collects and writes refusals, one write at a time. While the store does not answer, they are dropped. */
export function createRefusalWriter(options: {
  readonly store: Pick<RefusalStore, 'addRefusals' | 'sweepRefusals'>;
  readonly clock: Clock;
  readonly logger: Logger;
}): RefusalWriter {
  const { store, clock, logger } = options;
  let waiting: Refusal[] = [];
  let allowed = burst;
  let countedMs = clock.monotonicMs();
  let dropped = 0;
  let writing: Promise<void> | undefined;
  let timer: NodeJS.Timeout | undefined;
  let sweptMs = -Infinity;
  let isFailing = false;

  async function write(): Promise<void> {
    let batch = waiting;
    waiting = [];
    try {
      await waitFor(store.addRefusals(batch), storeTimeoutMs);
      batch = [];
      await sweepIfDue();
      isFailing = false;
    } catch (error) {
      dropped += batch.length;
      if (!isFailing) logger.warn({ err: error }, 'writing refused requests failed');
      isFailing = true;
    }
  }

  /** Several processes may sweep the same rows: each deletes what it finds. */
  async function sweepIfDue(): Promise<void> {
    if (clock.monotonicMs() - sweptMs < sweepEveryMs) return;
    sweptMs = clock.monotonicMs();
    for (let step = 0; step < sweepStepsMax; step += 1) {
      const bounds = { beforeMs: clock.nowMs() - keptMs, rowsMax, atOnce: sweptAtOnce };
      if ((await waitFor(store.sweepRefusals(bounds), storeTimeoutMs)) < sweptAtOnce) return;
    }
  }

  function schedule(): void {
    if (timer !== undefined || writing !== undefined) return;
    timer = setTimeout(() => {
      timer = undefined;
      writing = write().finally(() => {
        writing = undefined;
        if (waiting.length > 0) schedule();
      });
    }, writeEveryMs).unref();
  }

  return {
    admits: () => {
      const nowMs = clock.monotonicMs();
      allowed = Math.min(burst, allowed + ((nowMs - countedMs) / 1000) * perSecond);
      countedMs = nowMs;
      if (allowed >= 1 && waiting.length < waitingMax) return true;
      dropped += 1;
      return false;
    },
    add: (refusal) => {
      allowed -= 1;
      waiting.push(refusal);
      schedule();
    },
    dropped: () => dropped,
    close: async () => {
      clearTimeout(timer);
      await writing;
      clearTimeout(timer);
      if (waiting.length > 0) await write();
    },
  };
}

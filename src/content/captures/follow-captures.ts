import type { Clock } from '../../platform/clock.ts';
import type { Logger } from '../../platform/log.ts';
import { waitFor } from '../../platform/wait-for.ts';
import type { Capture, CaptureStore } from './capture.ts';

/** Orders that were made in any process take effect within two seconds. */
const pollMs = 1000;
const storeMsMax = 2000;
/** The time between two sweeps of what is over. */
const sweepEveryMs = 60_000;

export type CaptureFollower = {
  /** Whether any capture is open. Cheap. */
  readonly isAny: () => boolean;
  /** The open capture of a key, with one of its calls for the caller. */
  readonly take: (keyId: string) => Capture | undefined;
  readonly start: () => void;
  readonly close: () => Promise<void>;
};

/** Follows the orders of the store. While it does not answer, the known orders stay until their time is over. */
export function createCaptureFollower(parts: {
  readonly store: Pick<CaptureStore, 'openCaptures' | 'sweepCaptures'>;
  readonly clock: Clock;
  readonly logger: Pick<Logger, 'warn'>;
}): CaptureFollower {
  const { store, clock, logger } = parts;
  let open: readonly Capture[] = [];
  /** Calls that this process has begun to keep, by capture: the store may not count them yet. */
  const begun = new Map<string, number>();
  let sweptMs = -Infinity;
  let isAway = false;
  const poll = async (): Promise<void> => {
    try {
      open = await waitFor(store.openCaptures(clock.nowMs()), storeMsMax);
      for (const id of begun.keys()) if (!open.some((capture) => capture.id === id)) begun.delete(id);
      if (clock.monotonicMs() - sweptMs >= sweepEveryMs) {
        sweptMs = clock.monotonicMs();
        await waitFor(store.sweepCaptures(clock.nowMs()), storeMsMax);
      }
      isAway = false;
    } catch (error) {
      if (!isAway) logger.warn({ err: error }, 'reading orders of captures failed');
      isAway = true;
    }
  };
  let timer: NodeJS.Timeout | undefined;
  let running: Promise<void> = Promise.resolve();
  let isClosed = false;
  const schedule = (): void => {
    timer = setTimeout(() => {
      running = poll().then(() => {
        if (!isClosed) schedule();
      });
    }, pollMs).unref();
  };
  return {
    isAny: () => open.length > 0,
    take: (keyId) => {
      const capture = open.find((each) => each.keyId === keyId);
      if (capture === undefined || capture.untilMs <= clock.nowMs()) return undefined;
      const count = begun.get(capture.id) ?? 0;
      if (count >= capture.calls) return undefined;
      begun.set(capture.id, count + 1);
      return capture;
    },
    start: schedule,
    close: async () => {
      isClosed = true;
      clearTimeout(timer);
      await running;
    },
  };
}

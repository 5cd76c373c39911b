import type { Clock } from '../platform/clock.ts';
import type { Logger } from '../platform/log.ts';
import type { ConversationStore } from './conversation-store.ts';

/** Rows that one pass deletes before other queries can run. */
const rowsMax = 200;
const passesMax = 50;
const everyMs = 60_000;
const retryMs = 1000;

export type ConversationSweeper = { readonly close: () => Promise<void> };

/**
 * Periodically deletes expired and unneeded rows in small passes. An outage of the store is logged, and the sweep is
 * retried.
 */
export function startConversationSweeper(options: {
  readonly store: Pick<ConversationStore, 'sweepConversations'>;
  readonly clock: Clock;
  readonly logger: Logger;
  /** A number in [0, 1), so that processes that share a store do not sweep at the same moment. */
  readonly random: () => number;
}): ConversationSweeper {
  const { store, clock, logger, random } = options;
  let timer: NodeJS.Timeout | undefined;
  let running: Promise<void> = Promise.resolve();
  let closed = false;

  function schedule(delayMs: number): void {
    if (closed) return;
    timer = setTimeout(() => {
      running = sweep().then(schedule);
    }, delayMs).unref();
  }

  /** Returns the time until the next pass. */
  async function sweep(): Promise<number> {
    try {
      for (let pass = 0; pass < passesMax && !closed; pass += 1) {
        if ((await store.sweepConversations({ nowMs: clock.nowMs(), rowsMax })) < rowsMax) return everyMs * (0.5 + random());
      }
      return retryMs;
    } catch (error) {
      logger.warn({ err: error }, 'deleting expired responses failed');
      return everyMs;
    }
  }

  schedule(retryMs * (1 + random()));
  return {
    close: async () => {
      closed = true;
      clearTimeout(timer);
      await running;
    },
  };
}

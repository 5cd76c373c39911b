import type { Clock } from '../../../../platform/clock.ts';
import type { Logger } from '../../../../platform/log.ts';

/** Whether the store answers. An outage is logged once, and so is its end. */
export type StoreHealth = {
  readonly failed: (error: unknown) => void;
  readonly worked: () => void;
  /** False for a moment after a failure, so that calls do not wait one after another for a store that is down. */
  readonly mayAsk: () => boolean;
};

export function createStoreHealth(options: { readonly clock: Clock; readonly logger: Logger; readonly retryMs: number }): StoreHealth {
  const { clock, logger, retryMs } = options;
  let askAgainAtMs: number | undefined;
  return {
    failed: (error) => {
      if (askAgainAtMs === undefined) {
        logger.error({ err: error }, 'reasoning proofs cannot be stored or read: those in memory go on working, others are missing');
      }
      askAgainAtMs = clock.monotonicMs() + retryMs;
    },
    worked: () => {
      if (askAgainAtMs !== undefined) logger.info({}, 'reasoning proofs are stored and read again');
      askAgainAtMs = undefined;
    },
    mayAsk: () => askAgainAtMs === undefined || clock.monotonicMs() >= askAgainAtMs,
  };
}

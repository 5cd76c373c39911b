import type { Clock } from '../../../../platform/clock.ts';
import type { Logger } from '../../../../platform/log.ts';

/** Whether the store answers. The beginning and the end of an outage are each logged once. */
export type StoreHealth = {
  readonly failed: (error: unknown) => void;
  readonly worked: () => void;
  /** False for a moment after a failure, so that calls do not wait one after another for a failed store. */
  readonly mayAsk: () => boolean;
};

export function createStoreHealth(options: { readonly clock: Clock; readonly logger: Logger; readonly retryMs: number }): StoreHealth {
  const { clock, logger, retryMs } = options;
  let askAgainAtMs: number | undefined;
  return {
    failed: (error) => {
      if (askAgainAtMs === undefined) {
        logger.error({ err: error }, 'reasoning proof store failed');
      }
      askAgainAtMs = clock.monotonicMs() + retryMs;
    },
    worked: () => {
      if (askAgainAtMs !== undefined) logger.info({}, 'reasoning proof store recovered');
      askAgainAtMs = undefined;
    },
    mayAsk: () => askAgainAtMs === undefined || clock.monotonicMs() >= askAgainAtMs,
  };
}

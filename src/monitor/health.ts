import type { Logger } from '../platform/log.ts';
import { waitFor } from '../platform/wait-for.ts';

/**
 * Whether the monitor is ready for requests, and the reasons if not, in words that may be public. The gateway's report
 * has the same shape.
 */
export type HealthReport = { readonly live: true; readonly ready: boolean; readonly reasons?: readonly string[] };

/** Returns the reasons why the monitor cannot answer at the moment; an empty list if it can. */
export type HealthCheck = () => Promise<readonly string[]>;

/**
 * A check takes at most `timeoutMs`. Requests that arrive while a check runs share its result, so that a flood of
 * probes is one query to the store.
 */
export function createHealth(options: {
  readonly check: HealthCheck;
  readonly logger: Logger;
  readonly timeoutMs: number;
}): () => Promise<HealthReport> {
  const { check, logger, timeoutMs } = options;
  let running: Promise<HealthReport> | undefined;

  async function ask(): Promise<HealthReport> {
    try {
      const reasons = await waitFor(check(), timeoutMs);
      return reasons.length === 0 ? { live: true, ready: true } : { live: true, ready: false, reasons };
    } catch (error) {
      logger.warn({ err: error }, 'monitor health check failed');
      return { live: true, ready: false, reasons: ['the health check failed'] };
    } finally {
      running = undefined;
    }
  }

  return () => (running ??= ask());
}

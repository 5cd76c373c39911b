import type { Clock } from '../platform/clock.ts';
import type { Logger } from '../platform/log.ts';
import { waitFor } from '../platform/wait-for.ts';
import type { BillingTokenStore } from './billing-token-store.ts';

/** When tokens were used last, for those who list them. */
export type BillingTokenUses = { readonly note: (tokenId: string) => void };

/** A token's use is written down at most once in this time. */
const everyMs = 60_000;
const writeTimeoutMs = 5000;
const notedMax = 10_000;

/**
 * Writes down when tokens are used, beside the requests and never in their way: a store that cannot be written to costs the note and nothing else, and is told once.
 */
export function createBillingTokenUses(options: {
  readonly store: Pick<BillingTokenStore, 'noteBillingTokenUse'>;
  readonly clock: Clock;
  readonly logger: Logger;
}): BillingTokenUses {
  const { store, clock, logger } = options;
  const notedAtMs = new Map<string, number>();
  let isTold = false;

  return {
    note: (tokenId) => {
      const nowMs = clock.monotonicMs();
      if (nowMs - (notedAtMs.get(tokenId) ?? -Infinity) < everyMs) return;
      if (notedAtMs.size >= notedMax) notedAtMs.clear();
      notedAtMs.set(tokenId, nowMs);
      waitFor(store.noteBillingTokenUse({ tokenId, usedAtMs: clock.nowMs() }), writeTimeoutMs).catch((error: unknown) => {
        if (!isTold) logger.warn({ err: error }, 'recording the last use of a billing token failed');
        isTold = true;
      });
    },
  };
}

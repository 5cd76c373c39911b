import type { Clock } from '../platform/clock.ts';
import type { Logger } from '../platform/log.ts';
import { waitFor } from '../platform/wait-for.ts';
import type { BillingTokenStore } from './billing-token-store.ts';

/** Records when tokens were last used, which the list of tokens shows. */
export type BillingTokenUses = { readonly note: (tokenId: string) => void };

/** The use of a token is recorded at most once in this time. */
const everyMs = 60_000;
const writeTimeoutMs = 5000;
const notedMax = 10_000;

/**
 * Records the use of tokens without delaying requests. If the store cannot be written to, only the record is lost; one
 * warning is logged for an outage.
 */
export function createBillingTokenUses(options: {
  readonly store: Pick<BillingTokenStore, 'noteBillingTokenUse'>;
  readonly clock: Clock;
  readonly logger: Logger;
}): BillingTokenUses {
  const { store, clock, logger } = options;
  const notedAtMs = new Map<string, number>();
  let isReported = false;

  return {
    note: (tokenId) => {
      const nowMs = clock.monotonicMs();
      if (nowMs - (notedAtMs.get(tokenId) ?? -Infinity) < everyMs) return;
      if (notedAtMs.size >= notedMax) notedAtMs.clear();
      notedAtMs.set(tokenId, nowMs);
      waitFor(store.noteBillingTokenUse({ tokenId, usedAtMs: clock.nowMs() }), writeTimeoutMs).catch((error: unknown) => {
        if (!isReported) logger.warn({ err: error }, 'recording the last use of a billing token failed');
        isReported = true;
      });
    },
  };
}

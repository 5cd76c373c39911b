import type { CreditBooks } from './credit-books.ts';
import type { Payer, SpendPeriod } from './credit-desk.ts';
import { potsOf, spanEndMs } from './pots.ts';

/** How one limit stands, in nano-USD. What is reserved is leased by processes, for calls under way and the next ones, or held for videos in the making. */
type LimitOverview = {
  readonly scope: 'key' | 'user';
  readonly period: SpendPeriod;
  readonly limitNanoUsd: bigint;
  readonly spentNanoUsd: bigint;
  readonly reservedNanoUsd: bigint;
  /** When the period ends, in Unix milliseconds; absent for `total`. */
  readonly resetsAtMs?: number;
};

/** What a payer has and may spend. */
export type SpendingOverview = {
  /** Of a prepaid user: what was paid in and not charged yet, and what of it is reserved. */
  readonly balance?: { readonly balanceNanoUsd: bigint; readonly reservedNanoUsd: bigint };
  readonly limits: readonly LimitOverview[];
};

/** Tells payers how their balance and their limits stand. Rejects with the store's error. */
export type SpendingReader = { readonly read: (payer: Payer, nowMs: number) => Promise<SpendingOverview> };

export function createSpendingReader({ store }: { readonly store: Pick<CreditBooks, 'readPots'> }): SpendingReader {
  return {
    read: async (payer, nowMs) => {
      const pots = potsOf(payer, nowMs);
      if (pots.length === 0) return { limits: [] };
      const limits: LimitOverview[] = [];
      let balance: SpendingOverview['balance'];
      for (const { pot, limitNanoUsd, spentNanoUsd, leasedNanoUsd, videosNanoUsd } of await store.readPots(pots)) {
        // A limit that was lifted while it was asked for is none.
        if (limitNanoUsd === undefined) continue;
        const reservedNanoUsd = leasedNanoUsd + videosNanoUsd;
        if (pot.kind === 'balance') {
          balance = { balanceNanoUsd: limitNanoUsd, reservedNanoUsd };
          continue;
        }
        const resetsAtMs = spanEndMs(pot.span);
        const { scope, period } = pot;
        limits.push({ scope, period, limitNanoUsd, spentNanoUsd, reservedNanoUsd, ...(resetsAtMs === undefined ? {} : { resetsAtMs }) });
      }
      return { ...(balance === undefined ? {} : { balance }), limits };
    },
  };
}

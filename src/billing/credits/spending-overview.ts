import type { AccountLevel } from '../../accounts/team.ts';
import type { CreditBooks } from './credit-books.ts';
import type { Payer, SpendPeriod } from './credit-desk.ts';
import { type PotOwner, potsOf, spanEndMs } from './pots.ts';

/**
 * One limit, in nano-USD. The reserve is leased by processes, for running and future calls, or held for unfinished
 * videos.
 */
type LimitOverview = {
  readonly scope: AccountLevel;
  readonly period: SpendPeriod;
  readonly limitNanoUsd: bigint;
  readonly spentNanoUsd: bigint;
  readonly reservedNanoUsd: bigint;
  /** The part of the reserve that unfinished videos hold. Calls draw from the rest. */
  readonly videosNanoUsd: bigint;
  /** When the period ends, in Unix milliseconds; absent for `total`. */
  readonly resetsAtMs?: number;
};

/** The balance and the limits of a payer. */
export type SpendingOverview = {
  /** Only if a level is prepaid: its payments less charges, and the reserved part. */
  readonly balance?: {
    readonly scope: PotOwner['level'];
    readonly balanceNanoUsd: bigint;
    readonly reservedNanoUsd: bigint;
    readonly videosNanoUsd: bigint;
  };
  readonly limits: readonly LimitOverview[];
};

/** Reads balance and limits of payers. Rejects with the store's error. */
export type SpendingReader = { readonly read: (payer: Payer, nowMs: number) => Promise<SpendingOverview> };

export function createSpendingReader({ store }: { readonly store: Pick<CreditBooks, 'readPots'> }): SpendingReader {
  return {
    read: async (payer, nowMs) => {
      const pots = potsOf(payer, nowMs);
      if (pots.length === 0) return { limits: [] };
      const limits: LimitOverview[] = [];
      let balance: SpendingOverview['balance'];
      for (const { pot, limitNanoUsd, spentNanoUsd, leasedNanoUsd, videosNanoUsd } of await store.readPots(pots)) {
        // The limit was removed since it was read.
        if (limitNanoUsd === undefined) continue;
        const reservedNanoUsd = leasedNanoUsd + videosNanoUsd;
        if (pot.kind === 'balance') {
          balance = { scope: pot.owner.level, balanceNanoUsd: limitNanoUsd, reservedNanoUsd, videosNanoUsd };
          continue;
        }
        const resetsAtMs = spanEndMs(pot.span);
        const { scope, period } = pot;
        const amounts = { limitNanoUsd, spentNanoUsd, reservedNanoUsd, videosNanoUsd };
        limits.push({ scope, period, ...amounts, ...(resetsAtMs === undefined ? {} : { resetsAtMs }) });
      }
      return { ...(balance === undefined ? {} : { balance }), limits };
    },
  };
}

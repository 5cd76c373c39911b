import type { ApiKey } from '../../accounts/api-key.ts';

/** Whose money a call spends: its key, the key's owner, and the limits of both. */
export type Payer = Pick<ApiKey, 'id' | 'userName' | 'limits' | 'userLimits'>;

/** A period over which spending is limited. Days and months are of the calendar in UTC. */
export type SpendPeriod = 'day' | 'month' | 'total';

/** Why money is not to be had. `unavailable`: what was leased is used up and the store does not answer, or processes that are gone have leased what is needed. */
export type CreditRefusal =
  | { readonly admitted: false; readonly reason: 'balance'; readonly availableNanoUsd: bigint }
  | {
      readonly admitted: false;
      readonly reason: 'spend-limit';
      readonly scope: 'key' | 'user';
      readonly period: SpendPeriod;
      readonly limitNanoUsd: bigint;
      /** When the period ends, in Unix milliseconds; absent for `total`. */
      readonly resetsAtMs?: number;
    }
  | { readonly admitted: false; readonly reason: 'unavailable' };

/** What is reserved for one call, with all its rounds and parts, until it ends. */
export type CreditHold = {
  readonly admitted: true;
  /** Which pots the reserve came out of, as every ledger row of the call says it: see CallOpening.heldPots. */
  readonly pots: number;
  /** What is reserved or charged for the call so far, in nano-USD. */
  readonly heldNanoUsd: () => bigint;
  /** Reserves more. Undefined when it was reserved; at once where the lease has it. */
  readonly extend: (nanoUsd: bigint) => undefined | CreditRefusal | Promise<CreditRefusal | undefined>;
  /** A ledger row of the call has this charge. It comes out of what is reserved, once for each row. */
  readonly charge: (nanoUsd: bigint) => void;
  /** The call is over: gives back what is reserved and not charged. Further calls do nothing. */
  readonly end: () => void;
};

/** Where calls get money from. It answers at once from what this process has leased, and asks the store only when that is used up. */
export type CreditDesk = {
  /**
   * Reserves what a call may cost at most. Undefined when nothing limits what its payer may spend.
   * @param nanoUsd at least 0
   */
  readonly hold: (
    payer: Payer,
    nanoUsd: bigint,
    nowMs: number,
  ) => undefined | CreditHold | CreditRefusal | Promise<CreditHold | CreditRefusal>;
};

import type { ApiKey } from '../../accounts/api-key.ts';
import type { AccountLevel } from '../../accounts/team.ts';

/** The payer of a call: its key, the levels above the key, and the limits of all. */
export type Payer = Pick<ApiKey, 'id' | 'userName' | 'limits' | 'userLimits' | 'team' | 'organizationLimits'>;

/** A period of a spend limit. Days and months are those of the calendar in UTC. */
export type SpendPeriod = 'day' | 'month' | 'total';

/**
 * Why a hold was refused. `unavailable`: the lease is used up and the store does not answer, or processes that died
 * have leased the needed amount.
 */
export type CreditRefusal =
  | {
      readonly admitted: false;
      readonly reason: 'balance';
      readonly scope: Exclude<AccountLevel, 'key'>;
      readonly availableNanoUsd: bigint;
    }
  | {
      readonly admitted: false;
      readonly reason: 'spend-limit';
      readonly scope: AccountLevel;
      readonly period: SpendPeriod;
      readonly limitNanoUsd: bigint;
      /** The part of the limit that is neither spent nor reserved; 0 or more. */
      readonly availableNanoUsd: bigint;
      /** When the period ends, in Unix milliseconds; absent for `total`. */
      readonly resetsAtMs?: number;
    }
  | { readonly admitted: false; readonly reason: 'unavailable' };

/** The reserve of one call, with all its rounds and parts, until it ends. */
export type CreditHold = {
  readonly admitted: true;
  /** The pots of the reserve, as every ledger row of the call records them: see CallOpening.heldPots. */
  readonly pots: number;
  /** The amount reserved or charged for the call so far, in nano-USD. */
  readonly heldNanoUsd: () => bigint;
  /** Reserves more. Undefined if it was reserved; synchronous if the lease has enough. */
  readonly extend: (nanoUsd: bigint) => undefined | CreditRefusal | Promise<CreditRefusal | undefined>;
  /** Charges a ledger row of the call to the reserve. Called once for each row. */
  readonly charge: (nanoUsd: bigint) => void;
  /** Ends the call: releases the reserve that was not charged. Further calls do nothing. */
  readonly end: () => void;
};

/**
 * Reserves money for calls. It answers at once from the leases of this process, and calls the store only when they are
 * used up.
 */
export type CreditDesk = {
  /**
   * Reserves the highest cost of a call. Undefined if nothing limits its payer.
   * @param nanoUsd 0 or more
   */
  readonly hold: (
    payer: Payer,
    nanoUsd: bigint,
    nowMs: number,
  ) => undefined | CreditHold | CreditRefusal | Promise<CreditHold | CreditRefusal>;
};

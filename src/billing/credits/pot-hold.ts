import type { CreditHold, CreditRefusal } from './credit-desk.ts';
import type { LeasedPot } from './leased-pot.ts';
import type { PayerAccount } from './payer-account.ts';

/** What a hold tells of: a charge beyond what was reserved, that nothing was leased for. */
export type HoldContext = {
  readonly monotonicMs: () => number;
  readonly onOverdraft: (pot: LeasedPot, nanoUsd: bigint) => void;
  /** Whether nothing more is given out. */
  readonly isClosed: () => boolean;
};

/** Where a hold waits for money, and tells that some may be given back. */
type HoldAccount = Pick<PayerAccount, 'wait' | 'wake' | 'waiting'>;

/** A reserve of one call in all pots of its payer. It is made when its amount is to be had from each. */
export class PotHold implements CreditHold {
  readonly admitted = true;
  readonly pots: number;
  readonly #account: HoldAccount;
  readonly #leased: readonly LeasedPot[];
  readonly #context: HoldContext;
  /** What is reserved and not charged. */
  #reserved = 0n;
  #charged = 0n;
  #ended = false;

  constructor(account: HoldAccount, leased: readonly LeasedPot[], nanoUsd: bigint, context: HoldContext) {
    this.#account = account;
    this.#leased = leased;
    this.#context = context;
    this.pots = leased.reduce((sum, { pot }) => sum + pot.bit, 0);
    this.#reserve(nanoUsd);
    for (const pot of leased) pot.openHolds += 1;
  }

  heldNanoUsd(): bigint {
    return this.#reserved + this.#charged;
  }

  extend(nanoUsd: bigint): undefined | CreditRefusal | Promise<CreditRefusal | undefined> {
    if (this.#ended || nanoUsd <= 0n) return undefined;
    if (this.#context.isClosed()) return { admitted: false, reason: 'unavailable' };
    if (fitsAll(this.#leased, nanoUsd)) return this.#reserve(nanoUsd);
    const { promise, resolve } = Promise.withResolvers<CreditRefusal | undefined>();
    this.#account.wait(this.#leased, nanoUsd, (refusal) => {
      // The call may be over by now: then nobody wants it any more.
      if (refusal === undefined && !this.#ended) this.#reserve(nanoUsd);
      resolve(refusal);
    });
    return promise;
  }

  charge(nanoUsd: bigint): void {
    if (nanoUsd <= 0n) return;
    const reserved = nanoUsd < this.#reserved ? nanoUsd : this.#reserved;
    const nowMs = this.#context.monotonicMs();
    this.#reserved -= reserved;
    this.#charged += nanoUsd;
    for (const pot of this.#leased) {
      // A lease that has ended since then is no longer counted: the row comes out of the pot itself.
      if (pot.removed) continue;
      const overdraft = pot.charge(nanoUsd, reserved, nowMs);
      if (overdraft > 0n) this.#context.onOverdraft(pot, overdraft);
    }
  }

  end(): void {
    if (this.#ended) return;
    this.#ended = true;
    const nowMs = this.#context.monotonicMs();
    let isWanted = false;
    for (const pot of this.#leased) {
      pot.openHolds -= 1;
      pot.release(this.#reserved);
      pot.lastUsedMs = nowMs;
      if (pot.scarce || pot.recalled || pot.closing || !pot.limited || pot.remaining < 0n) isWanted = true;
    }
    this.#reserved = 0n;
    if (isWanted || this.#account.waiting > 0) this.#account.wake();
  }

  #reserve(nanoUsd: bigint): undefined {
    const nowMs = this.#context.monotonicMs();
    for (const pot of this.#leased) {
      pot.hold(nanoUsd);
      pot.lastUsedMs = nowMs;
    }
    this.#reserved += nanoUsd;
  }
}

/** Whether each pot has the amount at this moment. */
export function fitsAll(pots: readonly LeasedPot[], nanoUsd: bigint): boolean {
  for (const pot of pots) if (!pot.fits(nanoUsd)) return false;
  return true;
}

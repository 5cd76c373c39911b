import type { CreditHold, CreditRefusal } from './credit-desk.ts';
import type { LeasedPot } from './leased-pot.ts';
import type { LeaseQueues } from './lease-queues.ts';

/** The context of a hold; `onOverdraft` reports a charge beyond hold and lease. */
export type HoldContext = {
  readonly queues: Pick<LeaseQueues, 'wait'>;
  readonly monotonicMs: () => number;
  readonly onOverdraft: (pot: LeasedPot, nanoUsd: bigint) => void;
  /** Whether the desk grants nothing more. */
  readonly isClosed: () => boolean;
};

/** The reserve of one call in all pots of its payer. It is created when each pot has its amount. */
export class PotHold implements CreditHold {
  readonly admitted = true;
  readonly pots: number;
  readonly #leased: readonly LeasedPot[];
  readonly #context: HoldContext;
  /** The reserve that is not charged. */
  #reserved = 0n;
  #charged = 0n;
  #ended = false;

  constructor(leased: readonly LeasedPot[], nanoUsd: bigint, context: HoldContext) {
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
    this.#context.queues.wait(this.#leased, nanoUsd, (refusal) => {
      // The call may have ended in the meantime.
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
      // A lease that has ended is not counted any more: the row reduces the pot itself.
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
    for (const { queue } of this.#leased) if (queue !== undefined && (isWanted || queue.waiting > 0)) queue.wake();
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

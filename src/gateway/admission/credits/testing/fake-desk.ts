import type { CreditDesk, CreditHold, CreditRefusal } from '../../../../billing/credits/credit-desk.ts';

/** A desk with one pot. It counts the held money and the ends of each hold. */
export class FakeDesk implements CreditDesk {
  availableNanoUsd: bigint;
  chargedNanoUsd = 0n;
  heldNanoUsd = 0n;
  /** Holds that have not ended. */
  open = 0;
  holds = 0;
  /** Calls of `end` on a hold that had already ended. */
  endedAgain = 0;
  /** Set to make every request go to the store. */
  isSlow = false;
  /** Set to refuse every request. */
  refusal: CreditRefusal | undefined;

  constructor(limitNanoUsd: bigint) {
    this.availableNanoUsd = limitNanoUsd;
  }

  hold(_payer: unknown, nanoUsd: bigint): CreditHold | CreditRefusal | Promise<CreditHold | CreditRefusal> {
    const answer = this.#take(nanoUsd) ?? this.#open(nanoUsd);
    return this.isSlow ? Promise.resolve(answer) : answer;
  }

  #take(nanoUsd: bigint): CreditRefusal | undefined {
    if (this.refusal !== undefined) return this.refusal;
    if (nanoUsd > this.availableNanoUsd)
      return { admitted: false, reason: 'balance', scope: 'user', availableNanoUsd: this.availableNanoUsd };
    this.availableNanoUsd -= nanoUsd;
    this.heldNanoUsd += nanoUsd;
    return undefined;
  }

  #open(nanoUsd: bigint): CreditHold {
    let reserved = nanoUsd;
    let charged = 0n;
    let isEnded = false;
    this.open += 1;
    this.holds += 1;
    return {
      admitted: true,
      pots: 1,
      heldNanoUsd: () => reserved,
      extend: (more) => {
        const refused = this.#take(more);
        if (refused === undefined) reserved += more;
        return this.isSlow ? Promise.resolve(refused) : refused;
      },
      charge: (amount) => {
        charged += amount;
        this.chargedNanoUsd += amount;
      },
      end: () => {
        if (isEnded) {
          this.endedAgain += 1;
          return;
        }
        isEnded = true;
        this.open -= 1;
        this.heldNanoUsd -= reserved;
        this.availableNanoUsd += reserved - charged;
      },
    };
  }
}

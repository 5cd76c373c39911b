import type { LeaseRequest, LeaseState } from './credit-store.ts';
import type { Pot } from './pots.ts';

const windowMs = 300_000;

/**
 * A node's part of a pot, in memory. `granted` is what the store has let it have, ever; what of that is neither held nor charged is `free`. It falls below 0 when calls
 * cost more than was held for them.
 */
export class LeasedPot {
  readonly pot: Pot;
  generation: string;
  version = 0;
  granted = 0n;
  free = 0n;
  /** What calls under way have reserved and not been charged. */
  held = 0n;
  openHolds = 0;
  /** Whether the store has a lease of ours that is not closed. */
  open = false;
  /** Not to be used any more: another stands for it, or will. */
  removed = false;
  /** False after the store said that nothing limits this any more. */
  limited = true;
  limit = 0n;
  /** What the store had for anybody when it was asked last. */
  remaining = 0n;
  leasedElsewhere = 0n;
  stranded = 0n;
  /** Give back at once what is not needed. */
  scarce = false;
  /** Another node asked for it: whatever is free goes back with the next request. */
  recalled = false;
  /** The store is to be asked how it stands, though nothing is needed. */
  stale = false;
  /** The lease is to end as soon as no call has a hold of it. */
  closing = false;
  lastUsedMs: number;
  /** Until when nodes that had something to give back were asked in vain. */
  fruitlessUntilMs = -Infinity;
  #spent = 0n;
  #spentBefore = 0n;
  #windowStartMs: number;
  /** What the last request told the store of charges beyond the lease. */
  #raised = 0n;

  constructor(pot: Pot, generation: string, nowMs: number) {
    this.pot = pot;
    this.generation = generation;
    this.lastUsedMs = nowMs;
    this.#windowStartMs = nowMs;
  }

  fits(nanoUsd: bigint): boolean {
    // Without a lease in the store nothing is reserved, not even nothing: what is charged later has to come out of one.
    return !this.limited || (this.open && this.free >= nanoUsd);
  }

  /** There is a limit again: the store is to be asked before anything is reserved. */
  relimit(): void {
    this.limited = true;
    this.open = false;
  }

  /** Takes an amount for a call. */
  hold(nanoUsd: bigint): void {
    this.free -= nanoUsd;
    this.held += nanoUsd;
  }

  /** Gives back what was reserved for a call. */
  release(nanoUsd: bigint): void {
    this.held -= nanoUsd;
    this.free += nanoUsd;
  }

  /** Charges an amount, of which so much was reserved. Returns by how much the pot is overdrawn because of it. */
  charge(nanoUsd: bigint, reserved: bigint, nowMs: number): bigint {
    const before = this.free < 0n ? this.free : 0n;
    this.held -= reserved;
    this.free -= nanoUsd - reserved;
    this.#shiftWindow(nowMs);
    this.#spent += nanoUsd;
    return this.limited && this.free < before ? before - this.free : 0n;
  }

  /** What was charged in the last five to ten minutes. */
  recentSpend(nowMs: number): bigint {
    this.#shiftWindow(nowMs);
    return this.#spent + this.#spentBefore;
  }

  #shiftWindow(nowMs: number): void {
    const age = nowMs - this.#windowStartMs;
    if (age < windowMs) return;
    this.#spentBefore = age < 2 * windowMs ? this.#spent : 0n;
    this.#spent = 0n;
    this.#windowStartMs = nowMs;
  }

  /** Takes what is given back out of reach, and words the request that gives it back and asks for what is needed. */
  request(options: { readonly need: bigint; readonly giveBack: bigint; readonly close: boolean; readonly nowMs: number }): LeaseRequest {
    const { need, giveBack, close, nowMs } = options;
    this.#raised = this.free < 0n ? -this.free : 0n;
    // What is given back is not to be used any more from now on, whatever becomes of the request. What was charged beyond the lease is acknowledged.
    const change = this.#raised - giveBack;
    this.granted += change;
    this.free += change;
    const { pot, version, generation, granted } = this;
    return { pot, version, generation, keep: granted, need, recentSpend: this.recentSpend(nowMs), close };
  }

  /** Takes over how the lease stands. @param closed whether the request was to end it */
  apply(state: LeaseState, closed: boolean): void {
    this.stale = false;
    this.limited = state.limit !== undefined;
    this.limit = state.limit ?? 0n;
    this.remaining = state.remaining;
    this.leasedElsewhere = state.leasedElsewhere;
    this.stranded = state.stranded;
    this.scarce = state.scarce;
    const isOurs = state.version > 0 && state.generation === this.generation;
    // What a lease of another life has is not ours to spend.
    if (isOurs) this.free += state.granted - this.granted;
    else if (!closed) this.free -= this.#raised;
    this.generation = state.generation;
    this.granted = state.granted;
    this.version = state.version;
    this.open = state.version > 0 && !closed;
  }
}

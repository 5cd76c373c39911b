import type { LeaseRequest, LeaseState } from './credit-store.ts';
import type { Pot } from './pots.ts';

const windowMs = 300_000;

/** The queue of a lease, as a call that ends needs it. */
type Queue = { readonly waiting: number; readonly wake: () => void };

/**
 * A node's lease of a pot, in memory. `granted` is the sum of its grants; `free` is the part that is neither held nor
 * charged. It becomes negative if calls cost more than their holds.
 */
export class LeasedPot {
  readonly pot: Pot;
  generation: string;
  version = 0;
  granted = 0n;
  free = 0n;
  /** The sum of the holds of running calls that is not charged. */
  held = 0n;
  openHolds = 0;
  /** Whether the store has an open lease of ours. */
  open = false;
  /** The queue that has it. Undefined before it is added to one. */
  queue: Queue | undefined;
  /** Must not be used any more: another object replaces it, or will. */
  removed = false;
  /** False after the store reported that nothing limits the pot any more. */
  limited = true;
  limit = 0n;
  /** The amount available to all nodes at the last reply of the store. */
  remaining = 0n;
  leasedElsewhere = 0n;
  stranded = 0n;
  /** Unneeded amounts must be released at once. */
  scarce = false;
  /** Another node needs it: every free amount is released with the next request. */
  recalled = false;
  /** The state must be read from the store, even if nothing is needed. */
  stale = false;
  /** The lease ends as soon as no call has a hold of it. */
  closing = false;
  lastUsedMs: number;
  /** Until then, other nodes are known to have nothing to release. */
  fruitlessUntilMs = -Infinity;
  #spent = 0n;
  #spentBefore = 0n;
  #windowStartMs: number;
  /** The charges beyond the lease that the last request acknowledged. */
  #raised = 0n;

  constructor(pot: Pot, generation: string, nowMs: number) {
    this.pot = pot;
    this.generation = generation;
    this.lastUsedMs = nowMs;
    this.#windowStartMs = nowMs;
  }

  fits(nanoUsd: bigint): boolean {
    // Without a lease in the store nothing is reserved, not even 0: a later charge must be taken from a lease.
    return !this.limited || (this.open && this.free >= nanoUsd);
  }

  /** There is a limit again: the store must be called before anything is reserved. */
  relimit(): void {
    this.limited = true;
    this.open = false;
  }

  /** Reserves an amount for a call. */
  hold(nanoUsd: bigint): void {
    this.free -= nanoUsd;
    this.held += nanoUsd;
  }

  /** Releases the reserve of a call. */
  release(nanoUsd: bigint): void {
    this.held -= nanoUsd;
    this.free += nanoUsd;
  }

  /** Charges an amount, of which `reserved` was reserved. Returns the additional overdraft of the pot. */
  charge(nanoUsd: bigint, reserved: bigint, nowMs: number): bigint {
    const before = this.free < 0n ? this.free : 0n;
    this.held -= reserved;
    this.free -= nanoUsd - reserved;
    this.#shiftWindow(nowMs);
    this.#spent += nanoUsd;
    return this.limited && this.free < before ? before - this.free : 0n;
  }

  /** The charges of the last five to ten minutes. */
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

  /** Makes the returned amount unavailable, and creates the request that returns it and asks for the need. */
  request(options: { readonly need: bigint; readonly release: bigint; readonly close: boolean; readonly nowMs: number }): LeaseRequest {
    const { need, release, close, nowMs } = options;
    this.#raised = this.free < 0n ? -this.free : 0n;
    // A returned amount cannot be used from now on, whether or not the request succeeds. Charges beyond the lease are
    // acknowledged.
    const change = this.#raised - release;
    this.granted += change;
    this.free += change;
    const { pot, version, generation, granted } = this;
    return { pot, version, generation, keep: granted, need, recentSpend: this.recentSpend(nowMs), close };
  }

  /** Applies the state of the lease. @param closed whether the request closed it */
  apply(state: LeaseState, closed: boolean): void {
    this.stale = false;
    this.limited = state.limit !== undefined;
    this.limit = state.limit ?? 0n;
    this.remaining = state.remaining;
    this.leasedElsewhere = state.leasedElsewhere;
    this.stranded = state.stranded;
    this.scarce = state.scarce;
    const isOurs = state.version > 0 && state.generation === this.generation;
    // The grant of another incarnation's lease cannot be spent here.
    if (isOurs) this.free += state.granted - this.granted;
    else if (!closed) this.free -= this.#raised;
    this.generation = state.generation;
    this.granted = state.granted;
    this.version = state.version;
    this.open = state.version > 0 && !closed;
  }
}

import { waitFor } from '../../platform/wait-for.ts';
import { checkLeaseReply } from './check-lease-reply.ts';
import type { CreditRefusal } from './credit-desk.ts';
import type { CreditNode, LeaseReply, LeaseRequest, LeaseStore } from './credit-store.ts';
import { LeasedPot } from './leased-pot.ts';
import { type Pot, spanEndMs } from './pots.ts';

/** A call that waits for an amount from several pots. */
type Waiter = {
  readonly pots: readonly LeasedPot[];
  readonly nanoUsd: bigint;
  readonly deadlineMs: number;
  /** Until when other nodes have time to release; undefined before it is known that they may have the amount. */
  contendUntilMs?: number;
  /**
   * Without a refusal it reserves the amount at once, which is available at that moment. Called once; if it throws, it
   * is called again with a refusal, so that the call is always answered.
   */
  readonly settle: (refusal: CreditRefusal | undefined) => void;
};

/** Shared by all accounts of a desk. */
export type AccountContext = {
  readonly store: Pick<LeaseStore, 'changeLeases'>;
  readonly node: CreditNode;
  readonly nowMs: () => number;
  readonly monotonicMs: () => number;
  readonly newGeneration: () => string;
  readonly storeTimeoutMs: number;
  readonly waitMs: number;
  readonly contendMs: number;
  readonly waitersMax: number;
  readonly onFenced: () => void;
  readonly onStoreFailure: (error: unknown) => void;
  /** An unexpected error. The affected call was refused. */
  readonly onBug: (error: unknown) => void;
};

/** The most pots in one request; the others wait for the next. */
const requestPotsMax = 64;
/** For how long no call waits for other nodes after they had nothing to release. */
const fruitlessMs = 5000;
/** The most consecutive requests that answer no waiter; the remaining ones wait for the next tick. */
const fruitlessRoundsMax = 8;

/** The leases of one user's pots. Requests to the store about them run one after the other, each for all waiters. */
export class PayerAccount {
  readonly userName: string;
  readonly #context: AccountContext;
  readonly #pots = new Map<string, LeasedPot>();
  #queue: Waiter[] = [];
  #running: Promise<void> | undefined;

  constructor(userName: string, context: AccountContext) {
    this.userName = userName;
    this.#context = context;
  }

  get size(): number {
    return this.#pots.size;
  }

  get waiting(): number {
    return this.#queue.length;
  }

  pots(): Iterable<LeasedPot> {
    return this.#pots.values();
  }

  /** The lease of a pot, created without a call to the store. */
  potFor(pot: Pot): LeasedPot {
    const begin = (): LeasedPot => new LeasedPot(pot, this.#context.newGeneration(), this.#context.monotonicMs());
    return this.#pots.getOrInsertComputed(pot.id, begin);
  }

  /** Waits until an amount can be reserved in all pots, or is refused. */
  wait(pots: readonly LeasedPot[], nanoUsd: bigint, settle: Waiter['settle']): void {
    if (this.#queue.length >= this.#context.waitersMax) return settle(unavailable);
    this.#queue.push({ pots, nanoUsd, deadlineMs: this.#context.monotonicMs() + this.#context.waitMs, settle });
    this.wake();
  }

  /** Starts a request if there is something to ask for or to release. */
  wake(): void {
    void this.flush();
  }

  /** Resolves when there is nothing to ask for or to release. Never rejects. */
  flush(): Promise<void> {
    this.#running ??= this.#run();
    return this.#running;
  }

  /** Handles what time has changed: waiters that time out, also during a request to the store; pots that are idle. */
  tick(idleMs: number): void {
    this.#settleQueue(new Set());
    const nowMs = this.#context.monotonicMs();
    for (const waiter of this.#queue) for (const pot of waiter.pots) if (!pot.fits(waiter.nanoUsd)) pot.stale = true;
    for (const [id, pot] of this.#pots) {
      if (pot.openHolds > 0 || this.#queue.length > 0) continue;
      const isOver = pot.pot.kind === 'spend' && (spanEndMs(pot.pot.span) ?? Infinity) <= this.#context.nowMs();
      if (!isOver && nowMs - pot.lastUsedMs < idleMs) continue;
      if (pot.open) pot.closing = true;
      else if (this.#running === undefined) this.#remove(id, pot);
    }
    this.wake();
  }

  /** Refuses all waiters. */
  refuseAll(): void {
    const queue = this.#queue;
    this.#queue = [];
    for (const waiter of queue) this.#answer(waiter, unavailable);
  }

  #remove(id: string, pot: LeasedPot): void {
    pot.removed = true;
    this.#pots.delete(id);
  }

  async #run(): Promise<void> {
    // Calls of the same turn of the event loop share a request.
    await Promise.resolve();
    try {
      for (let vainRounds = 0; vainRounds < fruitlessRoundsMax;) {
        this.#settleQueue(new Set());
        const requested = this.#choosePots();
        if (requested.length === 0) return;
        const closing = new Set(requested.filter(({ closing: isClosing, openHolds }) => isClosing && openHolds === 0));
        const requests = requested.map((pot) => this.#createRequest(pot, closing.has(pot)));
        const reply = await this.#ask(requests);
        if (reply === undefined || reply.status === 'fenced') {
          if (reply !== undefined) this.#context.onFenced();
          // Returned amounts cannot be used here, and the store may not have received them: the next request reports
          // the state again.
          else for (const pot of requested) pot.stale = true;
          this.#fail();
          return;
        }
        for (const [index, state] of reply.leases.entries()) {
          const pot = requested[index];
          pot?.apply(state, closing.has(pot));
        }
        const isFruitless = this.#queue.length > 0 && !this.#settleQueue(new Set(requested));
        vainRounds = isFruitless ? vainRounds + 1 : 0;
      }
    } catch (error) {
      // Whatever the error is, the waiters did not cause it and would wait forever.
      this.#report(error);
      this.#fail();
    } finally {
      // At once and not a turn later: a call that was just answered may ask again before that, and no request would
      // start for it.
      this.#running = undefined;
    }
  }

  async #ask(requests: readonly LeaseRequest[]): Promise<LeaseReply | undefined> {
    const { store, node, nowMs, storeTimeoutMs, onStoreFailure } = this.#context;
    try {
      const asking = store.changeLeases({ ...node, nowMs: nowMs(), userName: this.userName }, requests);
      return checkLeaseReply(requests, await waitFor(asking, storeTimeoutMs));
    } catch (error) {
      onStoreFailure(error);
      return undefined;
    }
  }

  /** Pots with waiters, or with something to release. */
  #choosePots(): readonly LeasedPot[] {
    const lacking = new Set<LeasedPot>();
    for (const { pots, nanoUsd, contendUntilMs } of this.#queue)
      for (const pot of pots) if (!pot.fits(nanoUsd) && (contendUntilMs === undefined || pot.stale)) lacking.add(pot);
    for (const pot of this.#pots.values()) if (pot.stale || this.#isClosable(pot) || this.#surplus(pot) > 0n) lacking.add(pot);
    return [...lacking].slice(0, requestPotsMax);
  }

  #isClosable(pot: LeasedPot): boolean {
    return pot.closing && pot.open && pot.openHolds === 0;
  }

  /** The amount of a pot that should be released now. */
  #surplus(pot: LeasedPot): bigint {
    if (pot.free <= 0n || !pot.open) return 0n;
    if (pot.recalled || this.#isClosable(pot) || !pot.limited) return pot.free;
    // More is leased than available: the limit was lowered, or there were charges elsewhere.
    if (pot.remaining < 0n) return pot.free < -pot.remaining ? pot.free : -pot.remaining;
    return pot.scarce && this.#needOf(pot) === 0n ? pot.free : 0n;
  }

  /** The total need of the waiters for a pot. */
  #needOf(pot: LeasedPot): bigint {
    let sum = 0n;
    for (const { pots, nanoUsd } of this.#queue) if (pots.includes(pot)) sum += nanoUsd;
    return sum;
  }

  #createRequest(pot: LeasedPot, close: boolean): LeaseRequest {
    const sum = this.#needOf(pot);
    const usable = pot.free > 0n ? pot.free : 0n;
    const release = sum > 0n && pot.remaining >= 0n ? 0n : this.#surplus(pot);
    const need = close || sum <= usable ? 0n : sum - usable;
    pot.closing = false;
    pot.recalled = false;
    return pot.request({ need, release, close, nowMs: this.#context.monotonicMs() });
  }

  /**
   * Admits waiters in order, and refuses those whose money is not available after the last reply. Returns whether any
   * was answered.
   */
  #settleQueue(answered: ReadonlySet<LeasedPot>): boolean {
    const nowMs = this.#context.monotonicMs();
    const queue = this.#queue;
    this.#queue = [];
    const left: Waiter[] = [];
    for (const waiter of queue) {
      if (fits(waiter)) {
        this.#answer(waiter, undefined);
        continue;
      }
      const refusal = this.#refusalOf(waiter, answered, nowMs);
      if (refusal === undefined) left.push(waiter);
      else this.#answer(waiter, refusal);
    }
    this.#queue = [...left, ...this.#queue];
    return left.length < queue.length;
  }

  /** The refusal of a waiter; undefined if it waits on. Never throws. */
  #refusalOf(waiter: Waiter, answered: ReadonlySet<LeasedPot>, nowMs: number): CreditRefusal | undefined {
    if (nowMs >= waiter.deadlineMs) return unavailable;
    try {
      return this.#findRefusal(waiter, answered, nowMs);
    } catch (error) {
      this.#report(error);
      return unavailable;
    }
  }

  /** Never throws: one waiter that cannot be answered must not affect the others. */
  #answer(waiter: Waiter, refusal: CreditRefusal | undefined): void {
    try {
      waiter.settle(refusal);
    } catch (error) {
      this.#report(error);
      if (refusal === undefined) this.#answer(waiter, unavailable);
    }
  }

  /** Never throws: a log that cannot be written must not affect an answer. */
  #report(error: unknown): void {
    try {
      this.#context.onBug(error);
    } catch {
      // There is no other place to report it.
    }
  }

  /** The refusal if the missing amount is not available anywhere. */
  #findRefusal(waiter: Waiter, answered: ReadonlySet<LeasedPot>, nowMs: number): CreditRefusal | undefined {
    const { nanoUsd } = waiter;
    for (const pot of waiter.pots) {
      if (!answered.has(pot) || pot.fits(nanoUsd) || !pot.open) continue;
      const missing = nanoUsd - pot.free;
      if (missing <= pot.remaining) continue;
      const isElsewhere = missing <= pot.remaining + pot.leasedElsewhere && nowMs >= pot.fruitlessUntilMs;
      if (!isElsewhere) return describeRefusal(pot, missing);
      waiter.contendUntilMs ??= nowMs + this.#context.contendMs;
      if (nowMs < waiter.contendUntilMs) continue;
      pot.fruitlessUntilMs = nowMs + fruitlessMs;
      return describeRefusal(pot, missing);
    }
    return undefined;
  }

  /** The store does not answer: admits the waiters for whom the lease is sufficient, and refuses the others. */
  #fail(): void {
    const queue = this.#queue;
    this.#queue = [];
    for (const waiter of queue) this.#answer(waiter, fits(waiter) ? undefined : unavailable);
  }
}

const fits = ({ pots, nanoUsd }: Waiter): boolean => pots.every((pot) => pot.fits(nanoUsd));

export const unavailable: CreditRefusal = { admitted: false, reason: 'unavailable' };

/** @param missing the amount needed above the pot's lease; it exceeds what remains */
function describeRefusal({ pot, limit, free, remaining, stranded }: LeasedPot, missing: bigint): CreditRefusal {
  // A dead process may or may not have spent its lease: until that is known, the limit may not be reached.
  if (missing <= remaining + stranded) return unavailable;
  if (pot.kind === 'balance') {
    const available = free + (remaining > 0n ? remaining : 0n);
    return { admitted: false, reason: 'balance', availableNanoUsd: available > 0n ? available : 0n };
  }
  const resetsAtMs = spanEndMs(pot.span);
  return {
    admitted: false,
    reason: 'spend-limit',
    scope: pot.scope,
    period: pot.period,
    limitNanoUsd: limit,
    ...(resetsAtMs === undefined ? {} : { resetsAtMs }),
  };
}

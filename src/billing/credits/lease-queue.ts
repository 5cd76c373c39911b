import { waitFor } from '../../platform/wait-for.ts';
import { checkLeaseReply } from './check-lease-reply.ts';
import type { CreditRefusal } from './credit-desk.ts';
import type { CreditNode, LeaseReply, LeaseRequest, LeaseStore } from './credit-store.ts';
import type { LeasedPot } from './leased-pot.ts';
import { spanEndMs } from './pots.ts';

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

/** Shared by all queues of a desk. */
export type QueueContext = {
  readonly store: Pick<LeaseStore, 'changeLeases'>;
  readonly node: CreditNode;
  readonly nowMs: () => number;
  readonly monotonicMs: () => number;
  readonly storeTimeoutMs: number;
  readonly waitMs: number;
  readonly contendMs: number;
  readonly waitersMax: number;
  readonly onFenced: () => void;
  readonly onStoreFailure: (error: unknown) => void;
  /** An unexpected error. The affected call was refused. */
  readonly onBug: (error: unknown) => void;
  /** A lease has ended, and its pot is not used any more. */
  readonly onEnded: (pot: LeasedPot) => void;
};

/** The most pots in one request; the others wait for the next. */
const requestPotsMax = 64;
/** For how long no call waits for other nodes after they had nothing to release. */
const fruitlessMs = 5000;
/** The most consecutive requests that answer no waiter; the remaining ones wait for the next tick. */
const fruitlessRoundsMax = 8;

/**
 * Leases, and the calls that wait for them. A pot is in one queue, and a queue has one request to the store under way,
 * which is for all its waiters. So no two requests about a lease are under way, and none is about a part of what a call
 * needs.
 */
export class LeaseQueue {
  readonly #context: QueueContext;
  readonly #pots = new Map<string, LeasedPot>();
  #queue: Waiter[] = [];
  #running: Promise<void> | undefined;
  /** Requests of queues that were added to this one while they were under way. */
  readonly #unfinished = new Set<Promise<void>>();

  constructor(context: QueueContext) {
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

  /** Adds a pot that no other queue has. */
  add(pot: LeasedPot): void {
    this.#pots.set(pot.pot.id, pot);
    pot.queue = this;
  }

  /**
   * Adds all pots and waiters of another queue, which is empty then. Nothing is requested until its request has ended,
   * so that no lease has two.
   */
  absorb(other: LeaseQueue): void {
    for (const pot of other.#pots.values()) this.add(pot);
    other.#pots.clear();
    if (other.#running !== undefined) this.#unfinished.add(other.#running);
    if (other.#queue.length > 0) {
      // All wait for the same time: this is the order in which they came.
      this.#queue = [...this.#queue, ...other.#queue].toSorted((one, next) => one.deadlineMs - next.deadlineMs);
      other.#queue = [];
    }
    this.wake();
  }

  /** Removes all pots and returns them. Undefined, and nothing changes, if a call waits or a request is under way. */
  release(): readonly LeasedPot[] | undefined {
    if (this.#queue.length > 0 || this.#isAsking()) return undefined;
    const pots = [...this.#pots.values()];
    this.#pots.clear();
    return pots;
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
      else if (!this.#isAsking()) this.#remove(id, pot);
    }
    this.wake();
  }

  /** Refuses all waiters. */
  refuseAll(): void {
    const queue = this.#queue;
    this.#queue = [];
    for (const waiter of queue) this.#answer(waiter, unavailable);
  }

  /** Whether a request may be under way. */
  #isAsking(): boolean {
    return this.#running !== undefined || this.#unfinished.size > 0;
  }

  #remove(id: string, pot: LeasedPot): void {
    pot.removed = true;
    this.#pots.delete(id);
    this.#context.onEnded(pot);
  }

  async #run(): Promise<void> {
    // Calls of the same turn of the event loop share a request.
    await Promise.resolve();
    try {
      for (let vainRounds = 0; vainRounds < fruitlessRoundsMax;) {
        if (this.#unfinished.size > 0) await this.#finishOthers();
        this.#settleQueue(new Set());
        const needs = this.#addUpNeeds();
        const requested = this.#choosePots(needs);
        if (requested.length === 0) return;
        const closing = new Set(requested.filter(({ closing: isClosing, openHolds }) => isClosing && openHolds === 0));
        const requests = requested.map((pot) => this.#createRequest(pot, needs, closing.has(pot)));
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

  /** Each request has a time limit, and none rejects. */
  async #finishOthers(): Promise<void> {
    for (const running of this.#unfinished) {
      await running;
      this.#unfinished.delete(running);
    }
  }

  async #ask(requests: readonly LeaseRequest[]): Promise<LeaseReply | undefined> {
    const { store, node, nowMs, storeTimeoutMs, onStoreFailure } = this.#context;
    try {
      const asking = store.changeLeases({ ...node, nowMs: nowMs() }, requests);
      return checkLeaseReply(requests, await waitFor(asking, storeTimeoutMs));
    } catch (error) {
      onStoreFailure(error);
      return undefined;
    }
  }

  /** Pots with waiters, or with something to release. */
  #choosePots(needs: Needs): readonly LeasedPot[] {
    const lacking = new Set<LeasedPot>();
    for (const { pots, nanoUsd, contendUntilMs } of this.#queue)
      for (const pot of pots) if (!pot.fits(nanoUsd) && (contendUntilMs === undefined || pot.stale)) lacking.add(pot);
    for (const pot of this.#pots.values()) if (pot.stale || isClosable(pot) || surplusOf(pot, needs) > 0n) lacking.add(pot);
    return [...lacking].slice(0, requestPotsMax);
  }

  /** The total need of the waiters for each pot. */
  #addUpNeeds(): Needs {
    const needs = new Map<LeasedPot, bigint>();
    for (const { pots, nanoUsd } of this.#queue) for (const pot of pots) needs.set(pot, (needs.get(pot) ?? 0n) + nanoUsd);
    return needs;
  }

  #createRequest(pot: LeasedPot, needs: Needs, close: boolean): LeaseRequest {
    const sum = needs.get(pot) ?? 0n;
    const usable = pot.free > 0n ? pot.free : 0n;
    const release = sum > 0n && pot.remaining >= 0n ? 0n : surplusOf(pot, needs);
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

type Needs = ReadonlyMap<LeasedPot, bigint>;

function isClosable({ closing, open, openHolds }: LeasedPot): boolean {
  return closing && open && openHolds === 0;
}

/** The amount of a pot that should be released now. */
function surplusOf(pot: LeasedPot, needs: Needs): bigint {
  if (pot.free <= 0n || !pot.open) return 0n;
  if (pot.recalled || isClosable(pot) || !pot.limited) return pot.free;
  // More is leased than available: the limit was lowered, or there were charges elsewhere.
  if (pot.remaining < 0n) return pot.free < -pot.remaining ? pot.free : -pot.remaining;
  return pot.scarce && (needs.get(pot) ?? 0n) === 0n ? pot.free : 0n;
}

const fits = ({ pots, nanoUsd }: Waiter): boolean => pots.every((pot) => pot.fits(nanoUsd));

export const unavailable: CreditRefusal = { admitted: false, reason: 'unavailable' };

/** @param missing the amount needed above the pot's lease; it exceeds what remains */
function describeRefusal({ pot, limit, free, remaining, stranded }: LeasedPot, missing: bigint): CreditRefusal {
  // A dead process may or may not have spent its lease: until that is known, the limit may not be reached.
  if (missing <= remaining + stranded) return unavailable;
  const available = free + (remaining > 0n ? remaining : 0n);
  const availableNanoUsd = available > 0n ? available : 0n;
  if (pot.kind === 'balance') return { admitted: false, reason: 'balance', scope: pot.owner.level, availableNanoUsd };
  const resetsAtMs = spanEndMs(pot.span);
  return {
    admitted: false,
    reason: 'spend-limit',
    scope: pot.scope,
    period: pot.period,
    limitNanoUsd: limit,
    availableNanoUsd,
    ...(resetsAtMs === undefined ? {} : { resetsAtMs }),
  };
}

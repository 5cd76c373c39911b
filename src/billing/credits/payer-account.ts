import { waitFor } from '../../platform/wait-for.ts';
import { checkLeaseReply } from './check-lease-reply.ts';
import type { CreditRefusal } from './credit-desk.ts';
import type { CreditNode, LeaseReply, LeaseRequest, LeaseStore } from './credit-store.ts';
import { LeasedPot } from './leased-pot.ts';
import { type Pot, spanEndMs } from './pots.ts';

/** Someone who waits for an amount from several pots. */
type Waiter = {
  readonly pots: readonly LeasedPot[];
  readonly nanoUsd: bigint;
  readonly deadlineMs: number;
  /** Until when other nodes are given time to give back; undefined before it was found that they may have it. */
  contendUntilMs?: number;
  /**
   * Without a refusal it reserves the amount there and then, which is to be had at that moment. Called once; again, with a refusal, only where it threw: whoever waits
   * for it is answered in any case.
   */
  readonly settle: (refusal: CreditRefusal | undefined) => void;
};

/** What all accounts of a desk share. */
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
  /** Something threw that never should. Whom it concerned was refused. */
  readonly onDefect: (error: unknown) => void;
};

/** Pots in one request: more wait for the next. */
const requestPotsMax = 64;
/** How long nobody waits for other nodes again after they had nothing to give back. */
const fruitlessMs = 5000;
/** So often in a row the store is asked although nobody gets an answer of it; those who wait are looked after again with the next tick. */
const vainRoundsMax = 8;

/** The leases of one user's pots. Everything that is asked of the store about them goes one request after the other, each for all who wait. */
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

  /** The lease of a pot, begun without asking the store. */
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

  /** Something may be asked of the store, or given back to it. */
  wake(): void {
    void this.flush();
  }

  /** Resolves when nothing is to be asked or given back at the moment. Never rejects. */
  flush(): Promise<void> {
    this.#running ??= this.#run();
    return this.#running;
  }

  /** Looks after what time has changed: waiters whose time is over, also while the store is being asked, or that nobody answered; pots that nobody uses. */
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

  /** Refuses all who wait. */
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
    // What is asked for within the same turn goes together.
    await Promise.resolve();
    try {
      for (let vainRounds = 0; vainRounds < vainRoundsMax;) {
        this.#settleQueue(new Set());
        const asked = this.#choosePots();
        if (asked.length === 0) return;
        const closing = new Set(asked.filter(({ closing: isClosing, openHolds }) => isClosing && openHolds === 0));
        const requests = asked.map((pot) => this.#wordRequest(pot, closing.has(pot)));
        const reply = await this.#ask(requests);
        if (reply === undefined || reply.status === 'fenced') {
          if (reply !== undefined) this.#context.onFenced();
          // What was given back is out of reach here, and whether the store has it is not known: it is told again at the next look, or nobody could use it until then.
          else for (const pot of asked) pot.stale = true;
          this.#fail();
          return;
        }
        for (const [index, state] of reply.leases.entries()) {
          const pot = asked[index];
          pot?.apply(state, closing.has(pot));
        }
        const isVain = this.#queue.length > 0 && !this.#settleQueue(new Set(asked));
        vainRounds = isVain ? vainRounds + 1 : 0;
      }
    } catch (error) {
      // Whatever it was: those who wait did not do it, and would wait for good.
      this.#report(error);
      this.#fail();
    } finally {
      // At once, and not a turn later: who was answered last may ask for more before that, and nobody would ask the store for it.
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

  /** Pots that somebody waits for, or that have something to give back. */
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

  /** What of a pot is to be given back now. */
  #surplus(pot: LeasedPot): bigint {
    if (pot.free <= 0n || !pot.open) return 0n;
    if (pot.recalled || this.#isClosable(pot) || !pot.limited) return pot.free;
    // More is leased than there is: the limit was lowered, or something was charged elsewhere.
    if (pot.remaining < 0n) return pot.free < -pot.remaining ? pot.free : -pot.remaining;
    return pot.scarce && this.#needOf(pot) === 0n ? pot.free : 0n;
  }

  /** What those who wait for a pot need of it together. */
  #needOf(pot: LeasedPot): bigint {
    let sum = 0n;
    for (const { pots, nanoUsd } of this.#queue) if (pots.includes(pot)) sum += nanoUsd;
    return sum;
  }

  #wordRequest(pot: LeasedPot, close: boolean): LeaseRequest {
    const sum = this.#needOf(pot);
    const usable = pot.free > 0n ? pot.free : 0n;
    const giveBack = sum > 0n && pot.remaining >= 0n ? 0n : this.#surplus(pot);
    const need = close || sum <= usable ? 0n : sum - usable;
    pot.closing = false;
    pot.recalled = false;
    return pot.request({ need, giveBack, close, nowMs: this.#context.monotonicMs() });
  }

  /** Admits who can be, in the order in which they came, and refuses whose money the store has just said is not there. Returns whether anybody was answered. */
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

  /** Why one who lacks something is to be told so now; undefined: it goes on waiting. Never throws. */
  #refusalOf(waiter: Waiter, answered: ReadonlySet<LeasedPot>, nowMs: number): CreditRefusal | undefined {
    if (nowMs >= waiter.deadlineMs) return unavailable;
    try {
      return this.#judge(waiter, answered, nowMs);
    } catch (error) {
      this.#report(error);
      return unavailable;
    }
  }

  /** Never throws: one who cannot be answered keeps nobody else from it. */
  #answer(waiter: Waiter, refusal: CreditRefusal | undefined): void {
    try {
      waiter.settle(refusal);
    } catch (error) {
      this.#report(error);
      if (refusal === undefined) this.#answer(waiter, unavailable);
    }
  }

  /** Never throws: a log that cannot be written has to cost nobody an answer. */
  #report(error: unknown): void {
    try {
      this.#context.onDefect(error);
    } catch {
      // There is nowhere left to tell it.
    }
  }

  /** Whether what a waiter lacks is nowhere to be had. */
  #judge(waiter: Waiter, answered: ReadonlySet<LeasedPot>, nowMs: number): CreditRefusal | undefined {
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

  /** The store does not answer: who can be admitted from what is leased is, and the others are told. */
  #fail(): void {
    const queue = this.#queue;
    this.#queue = [];
    for (const waiter of queue) this.#answer(waiter, fits(waiter) ? undefined : unavailable);
  }
}

const fits = ({ pots, nanoUsd }: Waiter): boolean => pots.every((pot) => pot.fits(nanoUsd));

export const unavailable: CreditRefusal = { admitted: false, reason: 'unavailable' };

/** @param missing how much more than the pot's lease is needed: beyond what remains for anybody */
function describeRefusal({ pot, limit, free, remaining, stranded }: LeasedPot, missing: bigint): CreditRefusal {
  // A process that is gone may have spent what it had leased, or not: until that is known, the limit is not known to be reached.
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

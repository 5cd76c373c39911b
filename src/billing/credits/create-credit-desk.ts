import type { Clock } from '../../platform/clock.ts';
import type { Logger } from '../../platform/log.ts';
import { waitFor } from '../../platform/wait-for.ts';
import type { CreditDesk, CreditHold, CreditRefusal, Payer } from './credit-desk.ts';
import { type CreditNode, leaseGeneration, type LeaseStore } from './credit-store.ts';
import type { LeasedPot } from './leased-pot.ts';
import { type LeaseQueue, unavailable } from './lease-queue.ts';
import { LeaseQueues } from './lease-queues.ts';
import { fitsAll, type HoldContext, PotHold } from './pot-hold.ts';
import { accountIdOf, dayNumber, potsOf } from './pots.ts';

export type CreditDeskOptions = {
  readonly store: LeaseStore;
  readonly node: CreditNode;
  readonly clock: Clock;
  readonly logger: Pick<Logger, 'info' | 'warn' | 'error'>;
  /** Books all charges, or rejects. Runs at the start, for the journal of an earlier run, and at the end. */
  readonly ship: () => Promise<void>;
  /** How long to wait for one reply of the store. */
  readonly storeTimeoutMs?: number;
  /** How long a call waits for money that is available. */
  readonly waitMs?: number;
  /** How long a call waits for other nodes to return what they do not use. */
  readonly contendMs?: number;
  /** A lease without calls for this time is released. */
  readonly idleMs?: number;
  /** The most calls that wait for common limits; a further one is refused as `unavailable`. */
  readonly waitersMax?: number;
};

/** The amounts of this process, in nano-USD. */
type CreditFigures = {
  readonly free: bigint;
  readonly held: bigint;
  readonly waiting: number;
  readonly pots: number;
  /** Charges beyond both hold and lease, and their sum. */
  readonly overdrafts: number;
  readonly overdraftNanoUsd: bigint;
};

/** The credit desk of a process, and its maintenance. */
export type RunningCreditDesk = CreditDesk & {
  /**
   * Handles waiters, recalls, changes and idle leases. Call it a few times a second; it runs once at a time and never
   * rejects.
   */
  readonly tick: () => Promise<void>;
  /**
   * Refuses new calls of users whose account is listed, and calls that a listed account limits, because their books do
   * not add up. Others are served again.
   * @param accountIds see accountIdOf
   */
  readonly freeze: (accountIds: ReadonlySet<string>) => void;
  readonly figures: () => CreditFigures;
  /** Releases everything that is not used. Later calls are refused as `unavailable`. */
  readonly close: () => Promise<void>;
};

const defaults = { storeTimeoutMs: 2000, waitMs: 5000, contendMs: 1500, idleMs: 60_000, waitersMax: 5000 };
const signalsEveryMs = 1000;
const sweepEveryMs = 10_000;
const bugEveryMs = 60_000;
/** After this time of attempts to book the calls of an earlier run, its leases stay as they are and new ones begin. */
const recoveryMsMax = 60_000;

/** The leases of a payer's pots on one day. */
type Cached = { readonly day: number; readonly pots: readonly LeasedPot[] };

class Desk {
  readonly #options: Required<CreditDeskOptions>;
  readonly #queues: LeaseQueues;
  readonly #cache = new WeakMap<Payer, Cached | undefined>();
  readonly #holdContext: HoldContext;
  #state: 'starting' | 'open' | 'fenced' | 'closed' = 'starting';
  #frozen: ReadonlySet<string> = new Set();
  #generations = 0;
  #version: number | undefined;
  #startedMs: number | undefined;
  #nextSignalsMs = -Infinity;
  #nextSweepMs = -Infinity;
  #nextBugMs = -Infinity;
  #isStoreDown = false;
  #overdrafts = 0;
  #overdraftNanoUsd = 0n;

  constructor(options: CreditDeskOptions) {
    this.#options = { ...defaults, ...options };
    const { store, node, clock, logger } = options;
    const context: ConstructorParameters<typeof LeaseQueues>[0] = {
      ...this.#options,
      store,
      node,
      nowMs: clock.nowMs,
      monotonicMs: clock.monotonicMs,
      onFenced: () => this.#fence(),
      onStoreFailure: (error) => this.#noteFailure(error),
      onBug: (error) => this.noteBug(error),
    };
    this.#queues = new LeaseQueues(context, () => leaseGeneration(node.sessionId, (this.#generations += 1)));
    this.#holdContext = {
      queues: this.#queues,
      monotonicMs: clock.monotonicMs,
      isClosed: () => this.#state !== 'open',
      onOverdraft: ({ pot }, nanoUsd) => {
        this.#overdrafts += 1;
        this.#overdraftNanoUsd += nanoUsd;
        logger.warn({ pot: pot.id, amountNanoUsd: String(nanoUsd) }, 'call charged beyond its credit limit');
      },
    };
  }

  hold(payer: Payer, nanoUsd: bigint, nowMs: number): ReturnType<CreditDesk['hold']> {
    const cached = this.#find(payer, nowMs);
    if (cached === undefined) return undefined;
    const { pots } = cached;
    if (this.#state !== 'open' || this.#isFrozen(payer, pots)) return unavailable;
    if (fitsAll(pots, nanoUsd)) return this.#admit(pots, nanoUsd);
    const { promise, resolve } = Promise.withResolvers<CreditHold | CreditRefusal>();
    this.#queues.wait(pots, nanoUsd, (refusal) => resolve(refusal ?? this.#admit(pots, nanoUsd)));
    return promise;
  }

  #isFrozen({ userName }: Payer, pots: readonly LeasedPot[]): boolean {
    if (this.#frozen.size === 0) return false;
    return this.#frozen.has(accountIdOf({ level: 'user', userName })) || pots.some(({ pot }) => this.#frozen.has(accountIdOf(pot.owner)));
  }

  /** A pot without a limit is skipped: there is no lease to reserve from. */
  #admit(pots: readonly LeasedPot[], nanoUsd: bigint): CreditHold {
    const limited = pots.every((pot) => pot.limited) ? pots : pots.filter((pot) => pot.limited);
    return new PotHold(limited, nanoUsd, this.#holdContext);
  }

  #find(payer: Payer, nowMs: number): Cached | undefined {
    const day = dayNumber(nowMs);
    const cached = this.#cache.get(payer);
    if (cached !== undefined && cached.day === day && !cached.pots.some((pot) => pot.removed)) return cached;
    if (cached === undefined && this.#cache.has(payer)) return undefined;
    return this.#look(payer, nowMs, day);
  }

  #look(payer: Payer, nowMs: number, day: number): Cached | undefined {
    const pots = potsOf(payer, nowMs);
    if (pots.length === 0) {
      this.#cache.set(payer, undefined);
      return undefined;
    }
    const leased = pots.map((pot) => this.#queues.potFor(pot));
    // These limits are newer than the last reply, which said that there are none.
    for (const pot of leased) if (!pot.limited) pot.relimit();
    const cached = { day, pots: leased };
    this.#cache.set(payer, cached);
    return cached;
  }

  /** Answers waiters whose time is over. Does not wait for the store. */
  attendWaiters(): void {
    if (this.#state !== 'open') return;
    try {
      for (const queue of this.#queues.all()) if (queue.waiting > 0) queue.tick(this.#options.idleMs);
    } catch (error) {
      this.noteBug(error);
    }
  }

  async tick(): Promise<void> {
    const { clock, idleMs } = this.#options;
    const nowMs = clock.monotonicMs();
    if (this.#state === 'starting') await this.#start(nowMs);
    if (this.#state !== 'open') return;
    if (nowMs >= this.#nextSignalsMs) {
      this.#nextSignalsMs = nowMs + signalsEveryMs;
      await this.#readSignals();
    }
    if (nowMs < this.#nextSweepMs) return;
    this.#nextSweepMs = nowMs + sweepEveryMs;
    for (const queue of this.#queues.all()) {
      if (this.#state !== 'open') return;
      queue.tick(idleMs);
      await queue.flush();
    }
    this.#queues.tidy();
  }

  /** Begins this incarnation of the node after all charges of the one before are booked. */
  async #start(nowMs: number): Promise<void> {
    const { store, node, clock, ship, storeTimeoutMs, logger } = this.#options;
    try {
      await waitFor(store.openCreditNode({ ...node, nowMs: clock.nowMs() }), storeTimeoutMs);
      this.#startedMs ??= nowMs;
      const isShipped = await ship().then(
        () => true,
        () => false,
      );
      if (isShipped) await waitFor(store.releaseCreditNode(node), storeTimeoutMs);
      else if (nowMs - this.#startedMs < recoveryMsMax) return;
      else logger.error({ nodeId: node.nodeId }, 'credit leases of the last run kept');
      if (this.#state === 'starting') this.#state = 'open';
    } catch (error) {
      this.#noteFailure(error);
    }
  }

  async #readSignals(): Promise<void> {
    const { store, node, clock, storeTimeoutMs } = this.#options;
    try {
      const signals = await waitFor(store.readCreditSignals({ ...node, nowMs: clock.nowMs() }), storeTimeoutMs);
      if (signals.status === 'fenced') return this.#fence();
      if (this.#isStoreDown) this.#options.logger.info({}, 'credit store recovered');
      this.#isStoreDown = false;
      const recalled = new Set(signals.recalled);
      const isChanged = signals.version !== this.#version;
      this.#version = signals.version;
      for (const queue of recalled.size > 0 || isChanged ? this.#queues.all() : []) await this.#attend(queue, recalled, isChanged);
    } catch (error) {
      this.#noteFailure(error);
    }
  }

  async #attend(queue: LeaseQueue, recalled: ReadonlySet<string>, isChanged: boolean): Promise<void> {
    let needsFlush = false;
    for (const pot of queue.pots()) {
      if (recalled.has(pot.pot.id)) pot.recalled = true;
      if (isChanged && pot.open) pot.stale = true;
      if (pot.recalled || pot.stale) needsFlush = true;
    }
    if (needsFlush && this.#state === 'open') await queue.flush();
  }

  freeze(accountIds: ReadonlySet<string>): void {
    this.#frozen = accountIds;
  }

  figures(): CreditFigures {
    let free = 0n;
    let held = 0n;
    let pots = 0;
    let waiting = 0;
    for (const queue of this.#queues.all()) waiting += queue.waiting;
    for (const pot of this.#queues.pots()) {
      free += pot.free;
      held += pot.held;
      pots += 1;
    }
    return { free, held, waiting, pots, overdrafts: this.#overdrafts, overdraftNanoUsd: this.#overdraftNanoUsd };
  }

  #fence(): void {
    if (this.#state === 'closed' || this.#state === 'fenced') return;
    this.#state = 'fenced';
    this.#options.logger.error({ nodeId: this.#options.node.nodeId }, 'credit node fenced');
    for (const queue of this.#queues.all()) queue.refuseAll();
  }

  #noteFailure(error: unknown): void {
    if (!this.#isStoreDown) this.#options.logger.warn({ err: error }, 'credit store request failed');
    this.#isStoreDown = true;
  }

  /** Logs an unexpected error, at most once a minute because it may happen in each call. */
  noteBug(error: unknown): void {
    const nowMs = this.#options.clock.monotonicMs();
    if (nowMs < this.#nextBugMs) return;
    this.#nextBugMs = nowMs + bugEveryMs;
    this.#options.logger.error({ err: error }, 'credit desk failed (bug)');
  }

  /** Grants nothing more. Returns whether leases may have to be released. */
  stop(): boolean {
    const wasOpen = this.#state === 'open';
    this.#state = 'closed';
    for (const queue of this.#queues.all()) queue.refuseAll();
    return wasOpen;
  }

  async releaseLeases(): Promise<void> {
    const { store, node, ship, storeTimeoutMs } = this.#options;
    try {
      await ship();
      if (this.figures().held === 0n) await waitFor(store.releaseCreditNode(node), storeTimeoutMs);
    } catch (error) {
      // Leases that are not released stay until the next start.
      this.#noteFailure(error);
    }
  }
}

/** Creates the desk of a process. It refuses as `unavailable` until a tick has reached the store. */
export function createCreditDesk(options: CreditDeskOptions): RunningCreditDesk {
  const desk = new Desk(options);
  let running: Promise<void> | undefined;
  return {
    hold: (payer, nanoUsd, nowMs) => desk.hold(payer, nanoUsd, nowMs),
    tick: () => {
      // First, because the rest may take long: the store is called for one user after the other, and waiters must be
      // answered in time.
      desk.attendWaiters();
      running ??= desk
        .tick()
        .catch((error: unknown) => desk.noteBug(error))
        .finally(() => {
          running = undefined;
        });
      return running;
    },
    freeze: (accountIds) => desk.freeze(accountIds),
    figures: () => desk.figures(),
    close: async () => {
      // Waiters are answered at once, without waiting for the current call to the store.
      const wasOpen = desk.stop();
      await running;
      if (wasOpen) await desk.releaseLeases();
    },
  };
}

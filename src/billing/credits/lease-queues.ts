import { LeasedPot } from './leased-pot.ts';
import { LeaseQueue, type QueueContext } from './lease-queue.ts';
import { accountIdOf, type Pot } from './pots.ts';

/**
 * The leases of a process and their queues. The pots of an owner are in one queue. If a call has to wait for pots of
 * several owners, their queues become one, so that one request is for all of them; later they are separated again.
 * Payers without a common pot never wait for each other.
 */
export class LeaseQueues {
  readonly #context: QueueContext;
  readonly #newGeneration: () => string;
  readonly #pots = new Map<string, LeasedPot>();
  /** The queue of each owner with pots. Several owners may have the same one. */
  readonly #queues = new Map<string, LeaseQueue>();
  readonly #owners = new Map<LeaseQueue, Set<string>>();

  constructor(context: Omit<QueueContext, 'onEnded'>, newGeneration: () => string) {
    this.#context = { ...context, onEnded: ({ pot }) => void this.#pots.delete(pot.id) };
    this.#newGeneration = newGeneration;
  }

  /** Queues with pots, each once. */
  all(): Iterable<LeaseQueue> {
    return this.#owners.keys();
  }

  pots(): Iterable<LeasedPot> {
    return this.#pots.values();
  }

  /** The lease of a pot, created without a call to the store. */
  potFor(pot: Pot): LeasedPot {
    const known = this.#pots.get(pot.id);
    if (known !== undefined) return known;
    const leased = new LeasedPot(pot, this.#newGeneration(), this.#context.monotonicMs());
    this.#pots.set(pot.id, leased);
    this.#queueOf(leased).add(leased);
    return leased;
  }

  #queueOf({ pot }: LeasedPot): LeaseQueue {
    const owner = accountIdOf(pot.owner);
    return this.#queues.get(owner) ?? this.#assign(owner, new LeaseQueue(this.#context));
  }

  #assign(owner: string, queue: LeaseQueue): LeaseQueue {
    this.#queues.set(owner, queue);
    this.#owners.getOrInsertComputed(queue, () => new Set()).add(owner);
    return queue;
  }

  /** Waits until an amount can be reserved in all pots, or is refused: see LeaseQueue.wait. */
  wait(pots: readonly LeasedPot[], nanoUsd: bigint, settle: Parameters<LeaseQueue['wait']>[2]): void {
    const queues = new Set(pots.map((pot) => this.#queueOf(pot)));
    const [largest, ...others] = queues.size === 1 ? queues : [...queues].toSorted((one, other) => other.size - one.size);
    for (const other of others) {
      for (const owner of this.#owners.get(other) ?? []) if (largest !== undefined) this.#assign(owner, largest);
      this.#owners.delete(other);
      largest?.absorb(other);
    }
    largest?.wait(pots, nanoUsd, settle);
  }

  /** Separates the owners of queues in which nothing happens, and forgets queues without pots. */
  tidy(): void {
    // Queues that are added meanwhile have one owner.
    for (const [queue, owners] of this.#owners) {
      if (queue.size > 0 && owners.size === 1) continue;
      const pots = queue.release();
      if (pots === undefined) continue;
      this.#owners.delete(queue);
      for (const owner of owners) this.#queues.delete(owner);
      for (const pot of pots) this.#queueOf(pot).add(pot);
    }
  }
}

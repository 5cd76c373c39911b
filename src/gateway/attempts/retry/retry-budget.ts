/** A retry that was granted. */
export type RetryGrant = {
  /** The retry's attempt has ended, or was never made. Once; later words are ignored. */
  readonly release: () => void;
};

/**
 * Bounds what retries may add to the load of upstreams that are in trouble: a bucket for each upstream, which successes refill, and a share of the calls
 * that are under way in the process.
 *
 * The bucket is that of the upstream that receives the retry, not of the one that failed: it is the receiver that has to be kept from being run down by
 * what another one's failure brings it.
 */
export type RetryBudget = {
  /**
   * @param cost see RetryDecision
   * @param activeCalls calls under way in this process, the asking one among them
   * @returns undefined where there is no budget left: the call ends with the failure it has
   */
  readonly take: (upstreamId: string, cost: number, activeCalls: number) => RetryGrant | undefined;
  /**
   * The same for a retry at another upstream, which is healthy: only the bucket bounds it. When an upstream breaks all its connections at once, everything
   * that was under way there moves in one moment, and routing would have moved it anyway had it known a moment sooner.
   */
  readonly takeFailover: (upstreamId: string, cost: number) => boolean;
  /** An attempt at the upstream went well. */
  readonly succeeded: (upstreamId: string) => void;
  /**
   * A retry has begun to be answered: what it took of the bucket goes back, because what an upstream answers does not run it down. Without that an upstream that fails
   * every other call would empty the bucket of the one that makes up for it.
   */
  readonly giveBack: (upstreamId: string, cost: number) => void;
  /** What is left in the upstream's bucket. */
  readonly left: (upstreamId: string) => number;
};

const bucketSize = 500;
const refund = 1;
/** Retries at a time: this share of the calls under way, and so many in any case. */
const activeShare = 0.2;
const concurrentMin = 3;

export function createRetryBudget(): RetryBudget {
  /** What was taken from each bucket; full ones are not kept. */
  const taken = new Map<string, number>();
  const running = { retries: 0 };
  const spend = (upstreamId: string, cost: number): boolean => {
    const spent = (taken.get(upstreamId) ?? 0) + cost;
    if (spent > bucketSize) return false;
    taken.set(upstreamId, spent);
    return true;
  };
  const giveBack = (upstreamId: string, cost: number): void => {
    const spent = (taken.get(upstreamId) ?? 0) - cost;
    if (spent <= 0) taken.delete(upstreamId);
    else taken.set(upstreamId, spent);
  };
  return {
    take: (upstreamId, cost, activeCalls) => {
      const hasRoom = running.retries < Math.max(concurrentMin, Math.floor(activeShare * activeCalls));
      if (!hasRoom || !spend(upstreamId, cost)) return undefined;
      running.retries += 1;
      return new Grant(running);
    },
    takeFailover: spend,
    succeeded: (upstreamId) => {
      if (taken.size > 0) giveBack(upstreamId, refund);
    },
    giveBack,
    left: (upstreamId) => bucketSize - (taken.get(upstreamId) ?? 0),
  };
}

class Grant implements RetryGrant {
  readonly #running: { retries: number };
  #isReleased = false;

  constructor(running: { retries: number }) {
    this.#running = running;
  }

  release(): void {
    if (this.#isReleased) return;
    this.#isReleased = true;
    this.#running.retries -= 1;
  }
}

/** A retry that was granted. */
export type RetryGrant = {
  /** The attempt of the retry has ended, or was never made. Only the first call counts. */
  readonly release: () => void;
};

/**
 * Bounds the load that retries may add to failing upstreams: a bucket for each upstream, which successes refill, and a
 * share of the calls that run in the process.
 *
 * The bucket belongs to the upstream that receives the retry, not to the one that failed: the receiver must be
 * protected from the load that another failure moves to it.
 */
export type RetryBudget = {
  /**
   * @param cost see RetryDecision
   * @param activeCalls running calls of this process, including this one
   * @returns undefined if no budget is left: the call ends with its failure
   */
  readonly take: (upstreamId: string, cost: number, activeCalls: number) => RetryGrant | undefined;
  /**
   * The same for a retry at another upstream, which is healthy: only its bucket bounds it. If an upstream closes all
   * connections at once, all its calls move in one moment; a moment later routing would have moved them anyway.
   */
  readonly takeFailover: (upstreamId: string, cost: number) => boolean;
  /** An attempt at the upstream succeeded. */
  readonly succeeded: (upstreamId: string) => void;
  /**
   * Refunds a retry that is being answered, because an answered call does not overload its upstream. Otherwise an
   * upstream that fails every other call would empty the bucket of its replacement.
   */
  readonly giveBack: (upstreamId: string, cost: number) => void;
  /** The remainder of the upstream's bucket. */
  readonly left: (upstreamId: string) => number;
};

const bucketSize = 500;
const refund = 1;
/** Retries at a time: this share of the running calls, and at least this number. */
const activeShare = 0.2;
const concurrentMin = 3;

export function createRetryBudget(): RetryBudget {
  /** The used part of each bucket. Full buckets have no entry. */
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

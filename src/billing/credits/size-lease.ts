/** The inputs for the size of a lease. Amounts are nano-USD. */
export type LeaseDemand = {
  /** The amount that is neither spent nor leased. May be negative. */
  readonly remaining: bigint;
  /** The amount that calls wait for; 0 or more. */
  readonly need: bigint;
  /** What this node has spent from the pot in the last ten minutes. */
  readonly recentSpend: bigint;
  /** Running nodes, this one included. */
  readonly nodes: number;
};

/** With less than this multiple of the need, a node leases only what it needs. */
const scarceBelow = 5n;
/** A node without recent spend leases this multiple of its need. */
const firstCalls = 16n;

/** Whether a pot is so nearly used up that nodes lease only what they need, and release at once what they do not. */
export function isScarce({ remaining, need, nodes }: Omit<LeaseDemand, 'recentSpend'>): boolean {
  return nodes > 1 && remaining < scarceBelow * need;
}

/**
 * The amount that a node leases: at most what remains, and at least its need if available. Beyond the need it is a
 * share of the rest that leaves shares for other nodes, and at most what the node is likely to use in ten minutes. A
 * node that is alone leases all of a pot that is nearly used up.
 */
export function sizeLease(demand: LeaseDemand): bigint {
  const { remaining, need, recentSpend, nodes } = demand;
  if (need <= 0n || remaining <= 0n) return 0n;
  if (remaining <= need) return remaining;
  if (remaining < scarceBelow * need) return nodes > 1 ? need : remaining;
  const share = remaining / (4n * BigInt(Math.max(1, nodes)));
  const likely = recentSpend > firstCalls * need ? recentSpend : firstCalls * need;
  const target = share < likely ? share : likely;
  return target > need ? target : need;
}

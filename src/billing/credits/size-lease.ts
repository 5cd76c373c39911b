/** How far a pot is from its end, what is asked of it, and by how many. Amounts are nano-USD. */
export type LeaseDemand = {
  /** What nobody has spent or leased. May be below 0. */
  readonly remaining: bigint;
  /** What calls wait for. At least 0. */
  readonly need: bigint;
  /** What this node has spent from the pot in the last ten minutes. */
  readonly recentSpend: bigint;
  /** Nodes that are at work, this one among them. */
  readonly nodes: number;
};

/** Below so many times what is needed, a node takes what it needs and no more. */
const scarceBelow = 5n;
/** A node that has spent nothing yet takes so many times what it needs. */
const firstCalls = 16n;

/** Whether a pot is so near its end that nodes take only what they need, and give back at once what they do not. */
export function isScarce({ remaining, need, nodes }: Omit<LeaseDemand, 'recentSpend'>): boolean {
  return nodes > 1 && remaining < scarceBelow * need;
}

/**
 * How much a node leases: at most what remains, else at least what it needs; a part of the rest that leaves the other nodes theirs, and no more than it is likely to
 * use in ten minutes. A node that is alone takes the rest of a pot that nears its end, because there is nobody to leave it to.
 */
export function sizeLease(question: LeaseDemand): bigint {
  const { remaining, need, recentSpend, nodes } = question;
  if (need <= 0n || remaining <= 0n) return 0n;
  if (remaining <= need) return remaining;
  if (remaining < scarceBelow * need) return nodes > 1 ? need : remaining;
  const share = remaining / (4n * BigInt(Math.max(1, nodes)));
  const likely = recentSpend > firstCalls * need ? recentSpend : firstCalls * need;
  const wanted = share < likely ? share : likely;
  return wanted > need ? wanted : need;
}

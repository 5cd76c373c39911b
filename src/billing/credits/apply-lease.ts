import { isOfIncarnation, type LeaseRequest, type LeaseState, recalledSeenEveryMs } from './credit-store.ts';
import { isScarce, sizeLease } from './size-lease.ts';

/** A node's lease of a pot, as a store keeps it. */
export type LeaseRow = {
  readonly generation: string;
  readonly version: number;
  /** All that was ever granted, less what was given back. */
  readonly granted: bigint;
  /** What rows in the books have taken out of it. Beyond what was granted, where calls cost more than was held for them. */
  readonly shipped: bigint;
  readonly closing: boolean;
};

/** How a pot stands without the lease that is to be changed. */
export type PotState = {
  /** What may be spent; undefined where nothing limits it any more. */
  readonly limit: bigint | undefined;
  /** What is in the books, and what open videos hold. */
  readonly spent: bigint;
  readonly leasedElsewhere: bigint;
  /** What of `leasedElsewhere` is stranded. */
  readonly stranded: bigint;
  readonly nodes: number;
};

/** What a lease takes away from the others: what was granted and is not in the books yet. */
export function leasedOf({ granted, shipped }: Pick<LeaseRow, 'granted' | 'shipped'>): bigint {
  return granted > shipped ? granted - shipped : 0n;
}

/** A node that was asked to give back and was not heard of for so long has died, or is cut off from the store. */
const silentMs = 2 * recalledSeenEveryMs;

/**
 * Whether nobody can give back a lease at the moment: the life of its node that began it is over and was not settled yet, or its node was asked for it and says nothing. Clocks of several
 * machines differ; a node that is wrongly thought to be silent makes a refusal one that may be tried again, and no more than that.
 * @param life the present life of the lease's node
 */
export function isStranded(
  lease: Pick<LeaseRow, 'generation'> & { readonly recalled: boolean },
  life: { readonly sessionId: string; readonly seenAtMs: number } | undefined,
  nowMs: number,
): boolean {
  if (life === undefined || !isOfIncarnation(lease.generation, life.sessionId)) return true;
  return lease.recalled && nowMs - life.seenAtMs > silentMs;
}

/**
 * What a request makes of a lease: the row to be kept (undefined: none), and what the node is told. A node that does not know the lease as it is changes nothing, and is
 * told how it is. `recall`: less was granted than was needed, and other nodes may have it.
 */
export function applyLease(
  row: LeaseRow | undefined,
  request: LeaseRequest,
  standing: PotState,
): { readonly row: LeaseRow | undefined; readonly state: LeaseState; readonly recall: boolean } {
  const { limit, spent, leasedElsewhere, stranded, nodes } = standing;
  const known = row ?? { generation: request.generation, version: 0, granted: 0n, shipped: 0n, closing: false };
  const isCurrent = request.version === known.version && request.generation === known.generation;
  const kept = { shipped: known.shipped, granted: isCurrent ? request.keep : known.granted };
  const free = limit === undefined ? 0n : limit - spent - leasedElsewhere;
  // What was charged beyond the lease is among what is spent: covering it takes nothing from anybody.
  const debt = kept.shipped > kept.granted ? kept.shipped - kept.granted : 0n;
  const need = isCurrent && limit !== undefined ? request.need : 0n;
  const question = { remaining: free - leasedOf(kept) + debt, need, recentSpend: request.recentSpend, nodes };
  const grant = sizeLease(question);
  const changed = { ...known, version: known.version + 1, granted: kept.granted + grant, closing: request.close };
  const next = isCurrent ? unlessOver(changed) : row;
  return {
    row: next,
    recall: need > grant && leasedElsewhere > 0n,
    state: {
      potId: request.pot.id,
      version: next?.version ?? 0,
      generation: known.generation,
      granted: next?.granted ?? 0n,
      limit,
      remaining: limit === undefined ? 0n : free - (next === undefined ? 0n : leasedOf(next)),
      leasedElsewhere,
      stranded,
      scarce: isScarce(question),
    },
  };
}

/** The row, or undefined when the node is done with it and all of it is in the books. */
export function unlessOver(row: LeaseRow): LeaseRow | undefined {
  return row.closing && row.granted <= row.shipped ? undefined : row;
}

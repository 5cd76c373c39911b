import { isOfIncarnation, type LeaseRequest, type LeaseState, recalledSeenEveryMs } from './credit-store.ts';
import { isScarce, sizeLease } from './size-lease.ts';

/** A node's lease of a pot, as a store keeps it. */
export type LeaseRow = {
  readonly generation: string;
  readonly version: number;
  /** The sum of all grants, less what was returned. */
  readonly granted: bigint;
  /** The charges of booked rows of the node. More than `granted` if calls cost more than their holds. */
  readonly shipped: bigint;
  readonly closing: boolean;
};

/** Limit and use of a pot without the lease that will change. */
export type PotState = {
  /** The limit; undefined if there is none any more. */
  readonly limit: bigint | undefined;
  /** The booked spend, and the holds of unfinished videos. */
  readonly spent: bigint;
  readonly leasedElsewhere: bigint;
  /** The stranded part of `leasedElsewhere`. */
  readonly stranded: bigint;
  readonly nodes: number;
};

/** The part of a lease that other nodes cannot have: granted and not booked. */
export function leasedOf({ granted, shipped }: Pick<LeaseRow, 'granted' | 'shipped'>): bigint {
  return granted > shipped ? granted - shipped : 0n;
}

/** A recalled node that was not seen for this time has died or cannot reach the store. */
const silentMs = 2 * recalledSeenEveryMs;

/**
 * Whether nobody can return a lease at the moment: it belongs to an earlier incarnation of its node that is not settled
 * yet, or its node was recalled and is silent. Clocks of several machines differ; if a node is wrongly taken for
 * silent, a refusal only becomes one that can be retried.
 * @param life the current incarnation of the lease's node
 */
export function isStranded(
  lease: Pick<LeaseRow, 'generation'> & { readonly recalled: boolean },
  incarnation: { readonly sessionId: string; readonly seenAtMs: number } | undefined,
  nowMs: number,
): boolean {
  if (incarnation === undefined || !isOfIncarnation(lease.generation, incarnation.sessionId)) return true;
  return lease.recalled && nowMs - incarnation.seenAtMs > silentMs;
}

/**
 * Applies a request to a lease. Returns the new row (undefined: none) and the state for the node. A request that does
 * not match the current version changes nothing and only gets the state. `recall`: less was granted than needed, and
 * other nodes may have it.
 */
export function applyLease(
  row: LeaseRow | undefined,
  request: LeaseRequest,
  state: PotState,
): { readonly row: LeaseRow | undefined; readonly state: LeaseState; readonly recall: boolean } {
  const { limit, spent, leasedElsewhere, stranded, nodes } = state;
  const current = row ?? { generation: request.generation, version: 0, granted: 0n, shipped: 0n, closing: false };
  const isCurrent = request.version === current.version && request.generation === current.generation;
  const retained = { shipped: current.shipped, granted: isCurrent ? request.keep : current.granted };
  const free = limit === undefined ? 0n : limit - spent - leasedElsewhere;
  // The charge above the lease is part of the spent amount: covering it takes nothing from other nodes.
  const debt = retained.shipped > retained.granted ? retained.shipped - retained.granted : 0n;
  const need = isCurrent && limit !== undefined ? request.need : 0n;
  const demand = { remaining: free - leasedOf(retained) + debt, need, recentSpend: request.recentSpend, nodes };
  const grant = sizeLease(demand);
  const changed = { ...current, version: current.version + 1, granted: retained.granted + grant, closing: request.close };
  const next = isCurrent ? unlessEnded(changed) : row;
  return {
    row: next,
    recall: need > grant && leasedElsewhere > 0n,
    state: {
      potId: request.pot.id,
      version: next?.version ?? 0,
      generation: current.generation,
      granted: next?.granted ?? 0n,
      limit,
      remaining: limit === undefined ? 0n : free - (next === undefined ? 0n : leasedOf(next)),
      leasedElsewhere,
      stranded,
      scarce: isScarce(demand),
    },
  };
}

/** The row, or undefined if the node has closed the lease and all of it is booked. */
export function unlessEnded(row: LeaseRow): LeaseRow | undefined {
  return row.closing && row.granted <= row.shipped ? undefined : row;
}

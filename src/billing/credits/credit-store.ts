import type { Change } from '../../audit/change-author.ts';
import type { Pot } from './pots.ts';

/**
 * A process that leases: `nodeId` is the same in each run, `sessionId` is its current incarnation. A new incarnation
 * fences the one before.
 */
export type CreditNode = { readonly nodeId: string; readonly sessionId: string };

/**
 * A node's request for one pot. The store applies it only if `version` and `generation` are current, so that a late
 * request changes nothing. Amounts are nano-USD.
 */
export type LeaseRequest = {
  readonly pot: Pot;
  /** The version of the lease that the node knows; 0 without a lease. */
  readonly version: number;
  /** Identifies the lease: an id that the node chose when it began. */
  readonly generation: string;
  /** The new total of its grants: a lower one returns the rest, a higher one acknowledges charges beyond the lease. */
  readonly keep: bigint;
  /** The amount that it needs in addition; may be 0. */
  readonly need: bigint;
  /** Its charges to the pot in the last ten minutes. */
  readonly recentSpend: bigint;
  /** Ends the lease as soon as all its charges are booked. */
  readonly close: boolean;
};

/** The state of a lease after a request. */
export type LeaseState = {
  readonly potId: string;
  /** 0 if there is no lease any more. */
  readonly version: number;
  readonly generation: string;
  /** The sum of all grants from the pot, less what was returned. Charges do not reduce it. */
  readonly granted: bigint;
  /** The limit of the pot; undefined if there is none any more. */
  readonly limit: bigint | undefined;
  /** The amount that is neither spent nor leased, negative if more was; 0 without a limit. */
  readonly remaining: bigint;
  /** The leases of other nodes that they may not be using. */
  readonly leasedElsewhere: bigint;
  /** The part of `leasedElsewhere` that nobody can return at the moment: see isStranded. It may or may not be spent. */
  readonly stranded: bigint;
  /** See isScarce. */
  readonly scarce: boolean;
};

/** `fenced`: another incarnation of the node has begun, or an operator has released its leases. */
export type LeaseReply = { readonly status: 'fenced' } | { readonly status: 'leased'; readonly leases: readonly LeaseState[] };

/** The signals that a node reads each second. */
type CreditSignals =
  | { readonly status: 'fenced' }
  | {
      readonly status: 'current';
      /** Changes with every payment, correction and change of limits. */
      readonly version: number;
      /** Pots that another node needs and this one should release. */
      readonly recalled: readonly string[];
    };

/** The store that leasing needs. All methods reject with the store's error if it cannot answer. */
export type LeaseStore = {
  /** Begins an incarnation of a node. Leases of the one before stay until releaseCreditNode. */
  readonly openCreditNode: (node: CreditNode & { readonly nowMs: number }) => Promise<void>;
  /**
   * Ends all leases of a node whose charges are all booked.
   * @param sessionId only if this is the current incarnation; absent: in any case
   * @param change present if an operator releases them; absent if the process releases its own
   */
  readonly releaseCreditNode: (node: { readonly nodeId: string; readonly sessionId?: string; readonly change?: Change }) => Promise<number>;
  /** Changes leases together, in one transaction, also of pots of several owners. */
  readonly changeLeases: (node: CreditNode & { readonly nowMs: number }, requests: readonly LeaseRequest[]) => Promise<LeaseReply>;
  readonly readCreditSignals: (node: CreditNode & { readonly nowMs: number }) => Promise<CreditSignals>;
};

/** A node counts as running for this time after it was last seen. */
export const nodeAliveMs = 30_000;

/** A node records that it is running at most this often, so that an idle gateway does not write to the disk. */
const seenEveryMs = 10_000;

/** A recalled node records it more often, because others wait for it. */
export const recalledSeenEveryMs = 1000;

/** Whether a node that reads its signals must record that it is running. */
export function isSeenDue({
  seenAtMs,
  nowMs,
  isRecalled,
}: {
  readonly seenAtMs: number;
  readonly nowMs: number;
  readonly isRecalled: boolean;
}): boolean {
  return Math.abs(nowMs - seenAtMs) > (isRecalled ? recalledSeenEveryMs : seenEveryMs);
}

/** The id of a lease: the incarnation of its node, and a number within it. */
export function leaseGeneration(sessionId: string, count: number): string {
  return `${sessionId}:${count}`;
}

/** Whether a lease began in this incarnation of its node. */
export function isOfIncarnation(generation: string, sessionId: string): boolean {
  return generation.startsWith(`${sessionId}:`);
}

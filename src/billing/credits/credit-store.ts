import type { Pot } from './pots.ts';

/** A process that leases: its name, which outlives it, and its present life. The name's next life ends what an older one may do. */
export type CreditNode = { readonly nodeId: string; readonly sessionId: string };

/**
 * What a node wants of one pot. The store applies it only when the node knows the lease as it is, so that a request that comes late changes nothing. Amounts are
 * nano-USD.
 */
export type LeaseRequest = {
  readonly pot: Pot;
  /** The version of the lease as the node knows it; 0 where it knows none. */
  readonly version: number;
  /** Which lease is meant: a name that the node gives it when it begins one. */
  readonly generation: string;
  /** What it keeps of what it was granted, ever: less than it was granted gives back the rest, more is what was charged beyond it. */
  readonly keep: bigint;
  /** What it needs on top. 0: nothing. */
  readonly need: bigint;
  /** What it has charged to the pot in the last ten minutes. */
  readonly recentSpend: bigint;
  /** The node is done with the pot: the lease ends as soon as all that was charged to it is in the books. */
  readonly close: boolean;
};

/** How a lease stands after a request. */
export type LeaseState = {
  readonly potId: string;
  /** 0 where there is no lease any more. */
  readonly version: number;
  readonly generation: string;
  /** All that the node was ever granted from the pot, less what it gave back. It grows; what was charged does not lessen it. */
  readonly granted: bigint;
  /** What may be spent in all; undefined where nothing limits it any more. */
  readonly limit: bigint | undefined;
  /** What nobody has spent or leased, below 0 when more was; 0 without a limit. */
  readonly remaining: bigint;
  /** What other nodes have leased and may not be using. */
  readonly leasedElsewhere: bigint;
  /** What of `leasedElsewhere` nobody can give back at the moment: see isStranded. Whether it is spent is not known. */
  readonly stranded: bigint;
  /** See isScarce. */
  readonly scarce: boolean;
};

/** `fenced`: another life of the node has begun, or an operator has taken its leases. */
export type LeaseReply = { readonly status: 'fenced' } | { readonly status: 'leased'; readonly leases: readonly LeaseState[] };

/** What a node is told each second. */
type CreditSignals =
  | { readonly status: 'fenced' }
  | {
      readonly status: 'current';
      /** Changes with every payment, correction and change of limits. */
      readonly version: number;
      /** Pots of which another node wants what this one does not need. */
      readonly recalled: readonly string[];
    };

/** What leasing needs of a store. All methods reject with the store's error when it cannot answer. */
export type LeaseStore = {
  /** Begins a life of a node. Leases of the one before stay until releaseCreditNode. */
  readonly openCreditNode: (node: CreditNode & { readonly nowMs: number }) => Promise<void>;
  /** Ends all leases of a node whose charges are all in the books. @param sessionId only while this is the node's life; absent: whichever is */
  readonly releaseCreditNode: (node: { readonly nodeId: string; readonly sessionId?: string }) => Promise<number>;
  /** Changes leases of one user's pots together, in one transaction. @param requests all of the same user */
  readonly changeLeases: (
    node: CreditNode & { readonly nowMs: number; readonly userName: string },
    requests: readonly LeaseRequest[],
  ) => Promise<LeaseReply>;
  readonly readCreditSignals: (node: CreditNode & { readonly nowMs: number }) => Promise<CreditSignals>;
};

/** A node counts as at work for so long after it was last heard of. */
export const nodeAliveMs = 30_000;

/** A node says that it lives no more often than this: an idle gateway leaves the disk alone. */
const seenEveryMs = 10_000;

/** One that is asked to give back says so more often, because others wait for it. */
export const recalledSeenEveryMs = 1000;

/** Whether a node that looks at its signals has to write down that it lives. */
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

/** The name of a lease: the life of its node that it began in, and which of that life it is. */
export function leaseGeneration(sessionId: string, count: number): string {
  return `${sessionId}:${count}`;
}

/** Whether a lease began in this life of its node. */
export function isOfIncarnation(generation: string, sessionId: string): boolean {
  return generation.startsWith(`${sessionId}:`);
}

import type { CallTags } from '../../accounts/call-tags.ts';
import type { CallEnd } from '../ledger/call-entry.ts';
import type { CallFlag, NoteKind } from './call-fact.ts';

/** Whose calls a question may see: all, or those of some users. */
export type UserScope = 'all' | readonly string[];

/** A key by its id, or by its user and name. */
export type KeyChoice = { readonly keyId: string } | { readonly userName: string; readonly keyName: string };

/** From `min` to `max`, both included. */
type Between<Value> = { readonly min?: Value; readonly max?: Value };

/** Selects calls. A call must have one of the values of each list that is set, and all other members. */
export type CallFilter = {
  /** Accepted in `[startMs, endMs)`. */
  readonly startMs?: number;
  readonly endMs?: number;
  readonly users?: readonly string[];
  readonly keys?: readonly KeyChoice[];
  /** Models as clients asked for them. */
  readonly models?: readonly string[];
  readonly servedModels?: readonly string[];
  /** The users' teams when the calls were made, by name; an empty text for calls without one. */
  readonly teams?: readonly string[];
  /** Values by the name of the tag; an empty text for calls without the tag. */
  readonly tags?: Readonly<Record<string, readonly string[]>>;
  readonly upstreams?: readonly string[];
  readonly upstreamModels?: readonly string[];
  readonly interfaces?: readonly string[];
  readonly ends?: readonly CallEnd[];
  readonly errorCodes?: readonly string[];
  /** 2 for all statuses from 200 to 299. */
  readonly statusClasses?: readonly number[];
  readonly flags?: Readonly<Partial<Record<CallFlag, boolean>>>;
  /** Calls with a note of any of these kinds. */
  readonly notes?: readonly NoteKind[];
  /** The cost of the call with all its parts, in nano-USD. */
  readonly amountNanoUsd?: Between<bigint>;
  /** Input and output tokens together, with all parts. */
  readonly tokens?: Between<number>;
  readonly durationMs?: Between<number>;
  readonly firstByteMs?: Between<number>;
};

/** The place of a call in lists. It never changes. */
export type CallPlace = { readonly atMs: number; readonly number: number };

/** A call in a list. Amount and tokens include the call's parts. */
export type CallSummary = CallPlace & {
  readonly callId: string;
  readonly userName: string;
  readonly keyId: string;
  readonly keyName: string;
  readonly model: string;
  readonly servedModel?: string;
  readonly upstream?: string;
  readonly upstreamModel?: string;
  readonly interface: string;
  readonly team?: string;
  /** Values beyond the bound are `(other)`: see tagBounds. */
  readonly tags?: CallTags;
  readonly end: CallEnd;
  readonly errorCode?: string;
  readonly status?: number;
  readonly flags: readonly CallFlag[];
  readonly promptTokens: number;
  readonly completionTokens: number;
  readonly firstByteMs?: number;
  readonly durationMs: number;
  readonly amountNanoUsd: bigint;
};

export type CallScan = {
  readonly filter: CallFilter;
  readonly scope: UserScope;
  /** Continues after this place, towards older calls. */
  readonly after?: CallPlace;
  readonly limit: number;
  /** The time after which a scan ends at the place that it has reached. */
  readonly workMs: number;
};

export type ScannedCalls = {
  /** Newest first. */
  readonly calls: readonly CallSummary[];
  /** Where the next page continues; absent at the end of the list. */
  readonly next?: CallPlace;
  /** All matching calls accepted at this moment or later are in this page or an earlier one. */
  readonly searchedToMs: number;
};

export type CallCount = {
  readonly filter: CallFilter & { readonly startMs: number; readonly endMs: number };
  readonly scope: UserScope;
  readonly bucketMs: number;
  readonly workMs: number;
};

/** Calls of one bucket of `[startMs, startMs + bucketMs)`, by their ends. */
export type CountedCalls = { readonly startMs: number; readonly ends: Readonly<Record<CallEnd, number>> };
export type CallCounts = { readonly buckets: readonly CountedCalls[]; readonly searchedToMs: number };

/** Rows of the ledger that lists and counts of calls do not have yet. */
export type FollowProgress = {
  /** Booked since facts exist: normally those of the last second. */
  readonly waiting: number;
  /** Booked before facts existed. They get them in the background, the newest first. */
  readonly old: number;
  /** All calls accepted before this moment and booked have facts; absent if all have. */
  readonly completeUntilMs?: number;
};

/**
 * A transaction of the double-entry ledger that posted a part of a call's cost, together with other calls of the key
 * and day.
 */
export type CallTransaction = { readonly transactionId: string; readonly postedAtMs: number; readonly amountNanoUsd: bigint };

/** The store that lists and counts of calls need. */
export type CallFactsStore = {
  /**
   * Writes the facts of the next rows of the ledger, in one transaction of some milliseconds. Several processes may do
   * so: each row gets its facts once.
   * @param limit the most rows of a step
   * @returns `done` if nothing is left, or if another process is at it
   */
  readonly followCalls: (limit: number, nowMs: number) => Promise<'more' | 'done'>;
  readonly followProgress: () => Promise<FollowProgress>;
  readonly scanCalls: (scan: CallScan) => Promise<ScannedCalls>;
  readonly countCallsByTime: (count: CallCount) => Promise<CallCounts>;
  /** The transactions of these rows of the ledger. */
  readonly listCallTransactions: (rowIds: readonly string[]) => Promise<readonly CallTransaction[]>;
};

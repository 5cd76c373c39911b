import type { CallEntry } from './call-entry.ts';

/** A reply that an upstream keeps: the user whose call made it, that call, and the upstream's id. */
export type ReplyOwner = { readonly userName: string; readonly callId: string; readonly upstream: string };

/** A row whose upstream reported figures that cannot be true, and the row that settles it, where there is one. */
export type DisputedRow = { readonly entry: CallEntry; readonly settlement?: CallEntry };

/** The calls of a model that were charged 0 because nothing that they used has a price. */
export type UnpricedModel = { readonly requestedModel: string; readonly calls: number; readonly lastMs: number };

/** What the ledger needs of a store. */
export type LedgerStore = {
  /**
   * Adds rows in one transaction together with the statistics they add to. A row whose callId is already there is left alone and adds
   * nothing, so that shipping the same entries again is harmless. Returns the number of rows that were new.
   * @param nodeId whose journal they come from: what they cost comes out of what that process has leased
   */
  readonly appendEntries: (entries: readonly CallEntry[], nodeId?: string) => Promise<number>;
  /** The same for entries as encodeForLedger writes them, in UTF-8: the journal has them so, and bytes cost nothing to keep and to hand over. */
  readonly appendEncoded: (entries: readonly Uint8Array[], nodeId?: string) => Promise<number>;
  /** Whose the kept reply of this id is, and which upstream keeps it. */
  readonly findReplyOwner: (replyId: string) => Promise<ReplyOwner | undefined>;
  readonly findEntry: (callId: string) => Promise<CallEntry | undefined>;
  /** The rows of a call and of its parts, its own first and the others in the order in which they came to be; empty where it has none. */
  readonly listCallRows: (callId: string) => Promise<readonly CallEntry[]>;
  /** Newest first. `before` continues a listing: entries accepted earlier than that entry. */
  readonly listEntries: (filter: {
    readonly limit: number;
    readonly before?: string;
    readonly userName?: string;
  }) => Promise<readonly CallEntry[]>;
  /** Disputed rows, newest first; `settled` says whether those too of which an operator has decided, and what. */
  readonly listDisputed: (filter: {
    readonly limit: number;
    readonly userName?: string;
    readonly settled: boolean;
  }) => Promise<readonly DisputedRow[]>;
  /** Models of which calls accepted in `[startMs, endMs)` had no price, those with most calls first. */
  readonly listUnpriced: (filter: {
    readonly startMs: number;
    readonly endMs: number;
    readonly limit: number;
    readonly userName?: string;
  }) => Promise<readonly UnpricedModel[]>;
  /** The next rows accepted in `[startMs, endMs)`, in the order of their acceptance and, of the same millisecond, of their ids; fewer than `limit` when there are no more. */
  readonly listEntriesBetween: (page: {
    readonly startMs: number;
    readonly endMs: number;
    readonly limit: number;
    /** The last row of the page before. */
    readonly after?: Pick<CallEntry, 'acceptedAtMs' | 'callId'>;
  }) => Promise<readonly CallEntry[]>;
};

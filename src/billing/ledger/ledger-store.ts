import type { Change } from '../../audit/change-author.ts';
import type { CallEntry } from './call-entry.ts';

/** A reply that an upstream stores: the user and the id of its call, and the upstream's id. */
export type ReplyOwner = { readonly userName: string; readonly callId: string; readonly upstream: string };

/** A row with impossible figures of its upstream, and the row that settles it, if any. */
export type DisputedRow = { readonly entry: CallEntry; readonly settlement?: CallEntry };

/** The calls of a model that cost 0 because nothing in their usage has a price. */
export type UnpricedModel = { readonly requestedModel: string; readonly calls: number; readonly lastMs: number };

/** The store that the ledger needs. */
export type LedgerStore = {
  /**
   * Adds rows and their part in the statistics in one transaction. A row whose callId exists is ignored and adds
   * nothing, so that shipping the same entries again is harmless. Returns the number of new rows.
   * @param nodeId the node whose journal they come from: their cost reduces the leases of that process
   */
  readonly appendEntries: (entries: readonly CallEntry[], nodeId?: string) => Promise<number>;
  /**
   * The same for entries in the form of encodeForLedger, in UTF-8: the journal has this form, and bytes are cheap to
   * keep and to pass on.
   */
  readonly appendEncoded: (entries: readonly Uint8Array[], nodeId?: string) => Promise<number>;
  /** The owner of the stored reply with this id, and the upstream that stores it. */
  readonly findReplyOwner: (replyId: string) => Promise<ReplyOwner | undefined>;
  readonly findEntry: (callId: string) => Promise<CallEntry | undefined>;
  /** The rows of a call and of its parts: its own first, the others in order of creation; empty if there are none. */
  readonly listCallRows: (callId: string) => Promise<readonly CallEntry[]>;
  /** Newest first. `before` continues a list: entries accepted earlier than that entry. */
  readonly listEntries: (filter: {
    readonly limit: number;
    readonly before?: string;
    readonly userName?: string;
  }) => Promise<readonly CallEntry[]>;
  /** Disputed rows, newest first; with `settled` also those that an operator has decided, with the decision. */
  readonly listDisputed: (filter: {
    readonly limit: number;
    readonly users?: readonly string[];
    readonly settled: boolean;
  }) => Promise<readonly DisputedRow[]>;
  /** Models with calls without a price that were accepted in `[startMs, endMs)`, those with most calls first. */
  readonly listUnpriced: (filter: {
    readonly startMs: number;
    readonly endMs: number;
    readonly limit: number;
    readonly users?: readonly string[];
  }) => Promise<readonly UnpricedModel[]>;
  /**
   * Books the row that settles a disputed one, with its row of the audit log. False if the row is settled already; then
   * nothing is booked.
   */
  readonly bookSettlement: (row: CallEntry, change: Change) => Promise<boolean>;
  /**
   * The next rows accepted in `[startMs, endMs)`, by time of acceptance and then by id; fewer than `limit` at the end.
   */
  readonly listEntriesBetween: (page: {
    readonly startMs: number;
    readonly endMs: number;
    readonly limit: number;
    /** The last row of the previous page. */
    readonly after?: Pick<CallEntry, 'acceptedAtMs' | 'callId'>;
  }) => Promise<readonly CallEntry[]>;
};

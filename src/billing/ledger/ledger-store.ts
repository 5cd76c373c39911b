import type { CallEntry } from './call-entry.ts';

/** What the ledger needs of a store. */
export type LedgerStore = {
  /**
   * Adds rows in one transaction together with the statistics they add to. A row whose callId is already there is left alone and adds
   * nothing, so that shipping the same entries again is harmless. Returns the number of rows that were new.
   * @param texts the entries as encodeEntry writes them, by position, where the caller has them already
   */
  readonly appendEntries: (entries: readonly CallEntry[], texts?: readonly (string | undefined)[]) => Promise<number>;
  readonly findEntry: (callId: string) => Promise<CallEntry | undefined>;
  /** Newest first. `before` continues a listing: entries accepted earlier than that entry. */
  readonly listEntries: (filter: {
    readonly limit: number;
    readonly before?: string;
    readonly userName?: string;
  }) => Promise<readonly CallEntry[]>;
};

import type { CallEntry, CallOpening } from '../ledger/call-entry.ts';
import type { Usage } from '../../inference/usage.ts';

/**
 * The write-ahead journal. When a method returns, its record is with the operating system, so that a killed process
 * loses nothing. A caller that can wait for the end of the current turn of the event loop passes `then`: the records of
 * a turn are written together, and `then` is called afterwards. Records reach the disk within the sync interval. They
 * contain no prompt text and no secrets.
 */
export type Journal = {
  /**
   * Called before the upstream. Throws JournalUnavailableError, or passes it to `then`, if the record cannot be
   * written: then the call must not be made, and the journal does not have it. A further attempt opens its call again,
   * which voids the records of the attempt before it.
   */
  readonly open: (opening: CallOpening, then?: (refusal: JournalUnavailableError | undefined) => void) => void;
  /**
   * Called when the upstream's status line has arrived: from then on the call is settled as answered. Only this record
   * may be written at the end of its tick, before which nothing of the answer has been sent on.
   */
  readonly head: (callId: string, head: { readonly status: number; readonly upstreamRequestId?: string }) => void;
  /** The usage of a running stream so far; called at most every few hundred milliseconds per call. */
  readonly progress: (callId: string, progress: { readonly usage?: Usage; readonly outputCharacters: number }) => void;
  /**
   * The final entry. The journal ships it to the ledger. It never throws; an entry that cannot be written is kept in
   * memory and shipped. `then` is called once after the write, or after the disk has refused it.
   */
  readonly done: (entry: CallEntry, then?: () => void) => void;
  /** Why new billable calls must be refused; undefined if they can be recorded. */
  readonly unavailableReason: () => string | undefined;
  /** The number of finished entries that are not in the store yet. */
  readonly pendingEntries: () => number;
  /** Resolves when every present entry is in the store. */
  readonly drain: (signal: AbortSignal) => Promise<void>;
  readonly close: () => Promise<void>;
};

/**
 * Reads calls that are not in the store yet. It searches all waiting entries: use it for queries, not in the path of a
 * call.
 */
export type JournalView = {
  /** The opening of a row that has not ended; undefined if it has, or if this journal has not opened it. */
  readonly findOpen: (rowId: string) => CallOpening | undefined;
  /** The finished rows of a call and its parts that wait for the store, in no order. */
  readonly pendingRows: (callId: string) => readonly CallEntry[];
};

export class JournalUnavailableError extends Error {
  constructor(reason: string, options?: { cause?: unknown }) {
    super(reason, options);
    this.name = 'JournalUnavailableError';
  }
}

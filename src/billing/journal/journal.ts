import type { CallEntry, CallOpening } from '../ledger/call-entry.ts';
import type { Usage } from '../../inference/usage.ts';

/**
 * The write-ahead journal. Each method has handed its record to the operating system when it returns, so that a killed process loses
 * nothing. A call that can wait for the end of its turn of the event loop says so by `then`: the records of a turn are written together, and
 * `then` hears once that is done. Records reach the disk itself within the sync interval. Records hold no prompt text and no secrets.
 */
export type Journal = {
  /**
   * Before the upstream is called. Throws JournalUnavailableError, or gives it to `then`, when it cannot be written: then the call must not be made,
   * and the journal knows nothing of it. A further attempt opens its call again: what was recorded of the attempt before it is then void.
   */
  readonly open: (opening: CallOpening, then?: (refusal: JournalUnavailableError | undefined) => void) => void;
  /**
   * When the upstream's status line has arrived: from here on the call was answered and will be settled. The one record that may wait for the
   * end of its tick, before which nothing of the answer has gone anywhere.
   */
  readonly head: (callId: string, head: { readonly status: number; readonly upstreamRequestId?: string }) => void;
  /** What a running stream has used so far; called at most every few hundred milliseconds per call. */
  readonly progress: (callId: string, progress: { readonly usage?: Usage; readonly outputCharacters: number }) => void;
  /**
   * The final entry. It is shipped to the ledger from here; it never throws, and an entry it cannot write is kept in memory and shipped. What must
   * not happen before it is written down comes as `then`, which is called once, whether or not the disk took it.
   */
  readonly done: (entry: CallEntry, then?: () => void) => void;
  /** Why new billable calls must be refused, or undefined when all is well. */
  readonly unavailableReason: () => string | undefined;
  /** How many entries are done and not yet in the store. */
  readonly pendingEntries: () => number;
  /** Resolves when every entry done so far is in the store. */
  readonly drain: (signal: AbortSignal) => Promise<void>;
  readonly close: () => Promise<void>;
};

/** What the journal knows of calls that are not in the store yet. Looking costs a walk over what waits: for questions, not for the road of a call. */
export type JournalView = {
  /** How a row was opened that has not ended; undefined where it has, or where this journal has not opened it. */
  readonly findOpen: (rowId: string) => CallOpening | undefined;
  /** The rows of a call, its parts included, that are done and wait for the store, in no order. */
  readonly pendingRows: (callId: string) => readonly CallEntry[];
};

export class JournalUnavailableError extends Error {
  constructor(reason: string, options?: { cause?: unknown }) {
    super(reason, options);
    this.name = 'JournalUnavailableError';
  }
}

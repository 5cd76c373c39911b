import type { CallEntry } from '../../billing/ledger/call-entry.ts';
import type { GatewayError } from '../../inference/gateway-error.ts';

/** One round of a call's loop: it is always translated, has a row of its own in the books, and tells the loop of its end. */
export type CallRound = {
  readonly rowId: string;
  /** Absent in the first round, whose row is the call's. */
  readonly parentCallId?: string;
  /** Characters of this round's content that have been handed to the client by now. */
  readonly delivered: () => number;
  /** Hears of the entry, once it is in the books. */
  readonly settled: (entry: CallEntry, error: GatewayError | undefined) => void;
};

import type { CallEntry } from '../../ledger/call-entry.ts';
import type { PricedRow } from '../priced-row.ts';

/** The row of an entry as a store lists it. @param kind default: not known */
export function rowOf(entry: CallEntry, kind?: string): PricedRow {
  const { callId, acceptedAtMs, charge } = entry;
  return { callId, acceptedAtMs, amountNanoUsd: charge.amountNanoUsd, kind, readEntry: () => entry };
}

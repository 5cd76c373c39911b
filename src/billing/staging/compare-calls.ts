import { readEntries } from '../ledger/read-entries.ts';
import type { LedgerStore } from '../ledger/ledger-store.ts';
import type { PriceBookStore } from '../price-books/price-book-store.ts';
import { PriceBookError } from '../rating/parse-price-book.ts';
import { parsePriceBasis } from '../rating/price-basis.ts';
import { createPriceBook } from '../rating/price-book.ts';
import type { PriceBook } from '../rating/rating.ts';
import { type ComparisonGrouping, type ComparisonResult, PriceComparison } from './price-comparison.ts';

export type CallComparison = {
  readonly store: Pick<LedgerStore, 'listEntriesBetween'> & Pick<PriceBookStore, 'findRecordedPrices'>;
  /** The prices with the change, and those in force. */
  readonly staged: PriceBook;
  readonly current: PriceBook;
  /** First day (UTC) of the change: calls are priced as if accepted on it. */
  readonly from: string;
  readonly grouping: ComparisonGrouping;
  /** Calls accepted in this time, half-open. */
  readonly startMs: number;
  readonly endMs: number;
  /** Told the number of rows that were priced, often. */
  readonly report?: (rows: number) => void;
  readonly signal?: AbortSignal;
  /** Ends it early, with the sums of what was priced until then. */
  readonly stop?: AbortSignal;
};

/**
 * Prices booked calls again with a change of prices, and adds up the difference. Changes nothing. Rejects with the
 * reason of the signal.
 */
export async function compareCalls(options: CallComparison): Promise<ComparisonResult> {
  const { store, staged, current, from, grouping, startMs, endMs, report, signal, stop } = options;
  const earlier = new Map<string, PriceBook | undefined>();
  const atMs = Date.parse(`${from}T00:00:00Z`);
  const comparison = new PriceComparison(grouping, { staged, current, atMs, pricedBy: (version) => earlier.get(version) });
  let rows = 0;
  for await (const entry of readEntries(store, { startMs, endMs })) {
    const { priceVersion } = entry;
    if (!earlier.has(priceVersion)) earlier.set(priceVersion, await findEarlier(store, priceVersion));
    comparison.add(entry);
    rows += 1;
    if (rows % rowsPerTurn > 0) continue;
    signal?.throwIfAborted();
    report?.(rows);
    if (stop?.aborted === true) break;
    // A gateway may run in the same process: its calls take turns with this.
    await new Promise(setImmediate);
  }
  report?.(rows);
  return comparison.result();
}

const rowsPerTurn = 50;

/** The book of a version; undefined if it is not in the database, or in a form that this program cannot read. */
async function findEarlier(store: Pick<PriceBookStore, 'findRecordedPrices'>, version: string): Promise<PriceBook | undefined> {
  const recorded = await store.findRecordedPrices(version);
  if (recorded === undefined) return undefined;
  try {
    return createPriceBook(parsePriceBasis(recorded.basis));
  } catch (error) {
    if (error instanceof PriceBookError) return undefined;
    throw error;
  }
}

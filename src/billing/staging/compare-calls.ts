import type { PriceBookStore } from '../price-books/price-book-store.ts';
import { PriceBookError } from '../rating/parse-price-book.ts';
import { parsePriceBasis, type PriceBasis } from '../rating/price-basis.ts';
import { createPriceBook } from '../rating/price-book.ts';
import type { PriceBook } from '../rating/rating.ts';
import { type ComparisonGrouping, type ComparisonResult, PriceComparison } from './price-comparison.ts';
import type { PricedRow, PricedRowStore } from './priced-row.ts';

/** Calls and the prices to compare, as data that can be sent to another thread. */
export type ComparedCalls = {
  /** The prices with the change, and those in force. */
  readonly staged: PriceBasis;
  readonly current: PriceBasis;
  /** First day (UTC) of the change: calls are priced as if accepted on it. */
  readonly from: string;
  readonly grouping: ComparisonGrouping;
  /** Calls accepted in this time, half-open. */
  readonly startMs: number;
  readonly endMs: number;
};

type Parts = {
  readonly store: PricedRowStore & Pick<PriceBookStore, 'findRecordedPrices'>;
  /** How many rows are read at once. */
  readonly pageRows: number;
  /** Waits between two pages, so that other threads have the core for a while. @param workMs how long the page took */
  readonly rest: (workMs: number) => Promise<unknown>;
  /** Receives the number of rows that were priced, often. */
  readonly report?: (rows: number) => void;
  /** Ends it early, with the sums of what was priced until then. */
  readonly stop?: AbortSignal;
};

/** Prices booked calls again with a change of prices, and adds up the difference. Changes nothing. */
export async function compareCalls(asked: ComparedCalls, parts: Parts): Promise<ComparisonResult> {
  const { from, grouping, startMs, endMs } = asked;
  const { store, pageRows, rest, report, stop } = parts;
  const earlier = new Map<string, PriceBook | undefined>();
  const [staged, current] = [createPriceBook(asked.staged), createPriceBook(asked.current)];
  const atMs = Date.parse(`${from}T00:00:00Z`);
  const comparison = new PriceComparison(grouping, { staged, current, atMs, pricedBy: (version) => earlier.get(version) });
  let rows = 0;
  let after: PricedRow | undefined;
  do {
    const begunMs = performance.now();
    const page = await store.listPricedRows({ startMs, endMs, limit: pageRows, ...(after !== undefined && { after }) });
    for (const row of page) {
      if (comparison.addAgain(row)) continue;
      const entry = row.readEntry();
      const { priceVersion } = entry;
      if (!earlier.has(priceVersion)) earlier.set(priceVersion, await findEarlier(store, priceVersion));
      comparison.add(row, entry);
    }
    rows += page.length;
    report?.(rows);
    after = page.length < pageRows ? undefined : page.at(-1);
    await rest(performance.now() - begunMs);
  } while (after !== undefined && stop?.aborted !== true);
  return comparison.result();
}

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

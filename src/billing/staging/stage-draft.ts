import type { PriceBookStore } from '../price-books/price-book-store.ts';
import type { PriceDesk } from '../price-books/price-desk.ts';
import type { PriceDraftStore } from '../price-books/price-draft.ts';
import { findNewestBook } from '../price-books/publish-prices.ts';
import { parsePriceBook } from '../rating/parse-price-book.ts';
import type { ComparedCalls } from './compare-calls.ts';
import { type ComparedGroup, type ComparisonGrouping, type ComparisonResult } from './price-comparison.ts';
import { stagePriceBook } from './stage-price-book.ts';

/** What a staging was asked for. */
export type StagingInput = {
  readonly draft_id: string;
  /** The calls of so many days before now. */
  readonly days: number;
  readonly by: ComparisonGrouping;
  /** First day (UTC) of the prices of the draft. */
  readonly from: string;
};

type Parts = {
  readonly store: Pick<PriceBookStore, 'newestPriceBook' | 'findPriceBook'> & Pick<PriceDraftStore, 'findPriceDraft'>;
  readonly desk: PriceDesk;
  readonly nowMs: number;
  /** Prices the calls, here or in another thread. */
  readonly compare: (calls: ComparedCalls) => Promise<ComparisonResult>;
};

/** Groups and doubts that a result lists. */
const listedMax = 1000;
const dayMs = 86_400_000;

/**
 * Prices the calls of the last days with a draft on top of the prices in force.
 * @returns undefined if there is no such draft; else the sums and the version of the staged book, as JSON data
 * @throws PriceBookError if the draft cannot apply from that day
 */
export async function stageDraft({ draft_id, days, by, from }: StagingInput, parts: Parts): Promise<object | undefined> {
  const { store, desk, nowMs, compare } = parts;
  const draft = await store.findPriceDraft(draft_id);
  if (draft === undefined) return undefined;
  const { book } = desk.load(await findNewestBook(store));
  const stagedBook = stagePriceBook(book, parsePriceBook(JSON.parse(draft.book)), from);
  const bases = { staged: desk.basisOf(stagedBook), current: desk.basisOf(book) };
  const result = await compare({ ...bases, from, grouping: by, startMs: nowMs - days * dayMs, endMs: nowMs + 1 });
  return { ...describeComparison(result), book: stagedBook.version };
}

/** A comparison as JSON data: amounts are exact nano-USD as texts. */
function describeComparison({ groups, total, doubtful }: ComparisonResult): object {
  return {
    groups: groups.slice(0, listedMax).map(describeGroup),
    groups_left_out: Math.max(0, groups.length - listedMax),
    total: describeGroup(total),
    doubtful: doubtful.slice(0, listedMax),
  };
}

const describeGroup = ({ name, calls, bookedNanoUsd, inForceNanoUsd, stagedNanoUsd }: ComparedGroup): object => ({
  name,
  calls,
  booked_nano_usd: String(bookedNanoUsd),
  in_force_nano_usd: String(inForceNanoUsd),
  staged_nano_usd: String(stagedNanoUsd),
  effect_nano_usd: String(stagedNanoUsd - inForceNanoUsd),
});

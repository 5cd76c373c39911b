import type { Usage } from '../../inference/usage.ts';
import { type Charge, isBilled } from '../ledger/call-entry.ts';
import { chargeDifference } from '../ledger/settle-dispute.ts';
import type { PriceBook, PricedCall } from '../rating/rating.ts';
import type { PricedEntry } from './priced-row.ts';

/** The charges of a row by two books. */
export type RepricedEntry = {
  /** By the book in force, and by the other one. */
  readonly inForceNanoUsd: bigint;
  readonly stagedNanoUsd: bigint;
  /** The other book has no price for it: it would be free, or refused. */
  readonly isUnpriced: boolean;
  /**
   * Parameters of the other book's price that were not stored with the row: it is priced as if the request had lacked
   * them.
   */
  readonly missing: readonly string[];
  /** Whether a row like it has the same result only if it was accepted on the same day (UTC). */
  readonly isOfItsDay: boolean;
};

export type RepricingBooks = {
  /** The book to price with. */
  readonly staged: PriceBook;
  /** The book in force: its parameters were read for the rows that it priced. */
  readonly current: PriceBook;
  /**
   * The book of an earlier version, if known: its parameters were read for the rows that it priced, and a missing one
   * was absent.
   */
  readonly pricedBy?: (version: string) => Pick<PriceBook, 'parametersOf'> | undefined;
  /** The assumed time of acceptance; default: the row's own. */
  readonly atMs?: number;
};

/**
 * Prices a row of the ledger again from its stored data. Undefined for a row that is not billed: no book charges it.
 */
export function repriceEntry(entry: PricedEntry & { readonly acceptedAtMs: number }, books: RepricingBooks): RepricedEntry | undefined {
  if (!isBilled(entry)) return undefined;
  const { staged, current, pricedBy, atMs = entry.acceptedAtMs } = books;
  if (entry.toolUsage !== undefined) {
    const { amountNanoUsd: inForceNanoUsd } = current.rateTools(entry.toolUsage, entry);
    const { amountNanoUsd: stagedNanoUsd } = staged.rateTools(entry.toolUsage, entry);
    return { inForceNanoUsd, stagedNanoUsd, isUnpriced: false, missing: [], isOfItsDay: false };
  }
  const { vendor, upstreamModel, requestedModel } = entry;
  const call: PricedCall = { vendor, upstreamModel, requestedModel, acceptedAtMs: atMs };
  const pricingParameters = { ...entry.pricingParameters, ...entry.replyParameters };
  const inForceNanoUsd = rateEntry(current, entry, call, pricingParameters);
  const stagedNanoUsd = staged === current ? inForceNanoUsd : rateEntry(staged, entry, call, pricingParameters);
  const unknown = staged.parametersOf(call).filter((pointer) => !(pointer in pricingParameters));
  const isOfItsDay = unknown.length > 0 || books.atMs === undefined;
  const isUnpriced = !staged.prices(call);
  if (unknown.length === 0) return { inForceNanoUsd, stagedNanoUsd, isUnpriced, missing: unknown, isOfItsDay };
  const pricing = entry.priceVersion === current.version ? current : pricedBy?.(entry.priceVersion);
  const wasRead = pricing?.parametersOf({ ...call, acceptedAtMs: entry.acceptedAtMs }) ?? [];
  const missing = unknown.filter((pointer) => !wasRead.includes(pointer));
  return { inForceNanoUsd, stagedNanoUsd, isUnpriced, missing, isOfItsDay };
}

function rateEntry(
  book: PriceBook,
  { userName, keyId, serviceTier, settlement, usage }: PricedEntry,
  call: PricedCall,
  pricingParameters: NonNullable<PricedEntry['pricingParameters']>,
): bigint {
  const rate = (counts: Usage): Charge => book.rate({ ...call, userName, keyId, usage: counts, serviceTier, pricingParameters });
  return (settlement === undefined ? rate(usage) : chargeDifference(rate(settlement.before), rate(settlement.after))).amountNanoUsd;
}

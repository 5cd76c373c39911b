import type { Usage } from '../../inference/usage.ts';
import { type CallEntry, type Charge, isBilled } from '../ledger/call-entry.ts';
import { chargeDifference } from '../ledger/settle-dispute.ts';
import type { PriceBook, PricedCall } from '../rating/rating.ts';

/** The charge of a row by another book. */
export type RepricedEntry = {
  readonly nanoUsd: bigint;
  /** The other book has no price for it: it would be free, or refused. */
  readonly isUnpriced: boolean;
  /**
   * Parameters of the other book's price that were not stored with the row: it is priced as if the request had lacked
   * them.
   */
  readonly missing: readonly string[];
};

export type RepricingBooks = {
  readonly staged: PriceBook;
  readonly current: PriceBook;
  readonly pricedBy?: (version: string) => Pick<PriceBook, 'parametersOf'> | undefined;
  readonly atMs?: number;
};

/**
 * Prices a row of the ledger again from its stored data. Undefined for a row that is not billed: no book charges it.
 * @param staged the book to price with
 * @param current the book in force: its parameters were read for the rows that it priced
 * @param pricedBy the book of an earlier version, if known: its parameters were read for the rows that it priced, and a
 * missing one was absent
 * @param atMs the assumed time of acceptance; default: the row's own
 */
export function repriceEntry(
  entry: CallEntry,
  { staged, current, pricedBy, atMs = entry.acceptedAtMs }: RepricingBooks,
): RepricedEntry | undefined {
  if (!isBilled(entry)) return undefined;
  if (entry.toolUsage !== undefined)
    return { nanoUsd: staged.rateTools(entry.toolUsage, entry).amountNanoUsd, isUnpriced: false, missing: [] };
  const { vendor, upstreamModel, requestedModel, userName, keyId, usage, serviceTier } = entry;
  const call: PricedCall = { vendor, upstreamModel, requestedModel, acceptedAtMs: atMs };
  const pricingParameters = { ...entry.pricingParameters, ...entry.replyParameters };
  const rate = (counts: Usage): Charge => staged.rate({ ...call, userName, keyId, usage: counts, serviceTier, pricingParameters });
  const { settlement } = entry;
  const { amountNanoUsd } = settlement === undefined ? rate(usage) : chargeDifference(rate(settlement.before), rate(settlement.after));
  const pricing = entry.priceVersion === current.version ? current : pricedBy?.(entry.priceVersion);
  const wasRead = pricing?.parametersOf({ ...call, acceptedAtMs: entry.acceptedAtMs }) ?? [];
  return {
    nanoUsd: amountNanoUsd,
    isUnpriced: !staged.prices(call),
    missing: staged.parametersOf(call).filter((pointer) => !(pointer in pricingParameters) && !wasRead.includes(pointer)),
  };
}

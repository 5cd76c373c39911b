import type { Change } from '../../audit/change-author.ts';
import { countInput, inputMeters } from '../../inference/meters.ts';
import type { Usage } from '../../inference/usage.ts';
import { createPriceBook } from '../rating/price-book.ts';
import { parsePriceBasis } from '../rating/price-basis.ts';
import type { PriceBook } from '../rating/rating.ts';
import type { PriceBookStore } from '../price-books/price-book-store.ts';
import type { CallEntry, Charge } from './call-entry.ts';
import type { LedgerStore } from './ledger-store.ts';
import { settlementRowId } from './row-ids.ts';
import { settleDispute } from './settle-dispute.ts';

/** An operator's decision: the counts that the upstream reported, or others. Counts without one stay as charged. */
export type DisputeDecision = { readonly decision: 'accepted' } | { readonly decision: 'corrected'; readonly counts: Usage };

type DisputeRefusal = 'unknown_row' | 'not_disputed' | 'nothing_reported' | 'settled_before' | 'unknown_prices';

/** A decision that cannot be booked. Nothing was booked. The message is for the operator. */
export class DisputeError extends Error {
  readonly code: DisputeRefusal;

  constructor(code: DisputeRefusal, message: string) {
    super(message);
    this.name = 'DisputeError';
    this.code = code;
  }
}

export type DisputeStore = Pick<LedgerStore, 'findEntry' | 'bookSettlement'> & Pick<PriceBookStore, 'findRecordedPrices'>;

/** A booked decision. */
export type SettledDispute = { readonly decision: string; readonly chargedNanoUsd: bigint; readonly nowNanoUsd: bigint };

/**
 * Books a decision about a disputed row, with its row of the audit log. The first of two decisions counts. The same
 * author's same decision of the same moment is booked once, and answered as if it were new.
 * @param inForce the prices in force; other prices of the row come from the store
 * @throws DisputeError, or the store's error
 */
export async function decideDispute(
  { store, inForce }: { readonly store: DisputeStore; readonly inForce: PriceBook },
  {
    rowId,
    decision,
    by,
    change,
  }: { readonly rowId: string; readonly decision: DisputeDecision; readonly by: string; readonly change: Change },
): Promise<SettledDispute> {
  const entry = await store.findEntry(rowId);
  if (entry === undefined)
    throw new DisputeError('unknown_row', `there is no row "${rowId}" in the books; weir usage --disputed lists the disputed rows`);
  const after = usageAfter(entry, decision);
  const book = entry.priceVersion === inForce.version ? inForce : await findBook(store, entry.priceVersion);
  const made = { decision: decision.decision, after, by, atMs: change.atMs, note: change.note };
  const row = settleDispute(entry, made, (usage) => rateAs(book, entry, usage));
  if (!(await store.bookSettlement(row, change))) await assertSame(store, row);
  const chargedNanoUsd = entry.charge.amountNanoUsd;
  return { decision: decision.decision, chargedNanoUsd, nowNanoUsd: chargedNanoUsd + row.charge.amountNanoUsd };
}

/** The counts of a row after a decision. @throws DisputeError */
export function usageAfter({ callId, usage, disputed }: CallEntry, decision: DisputeDecision): Usage {
  if (disputed === undefined) throw new DisputeError('not_disputed', `the row ${callId} is not disputed`);
  if (decision.decision === 'corrected') return { ...usage, ...decision.counts };
  const { figures, reported } = disputed;
  if (figures.every(({ reason }) => reason === 'malformed')) {
    const message = `the upstream of ${callId} did not report a count; give the right counts with weir usage correct`;
    throw new DisputeError('nothing_reported', message);
  }
  // Either all reported parts of the input or none, because they were disputed together.
  if (countInput(reported) === 0) return { ...usage, ...reported };
  const others = Object.entries(usage).filter(([meter]) => !(inputMeters as readonly string[]).includes(meter));
  return { ...Object.fromEntries(others), ...reported };
}

async function findBook(store: Pick<DisputeStore, 'findRecordedPrices'>, version: string): Promise<PriceBook> {
  const recorded = await store.findRecordedPrices(version);
  const book = recorded === undefined ? undefined : createPriceBook(parsePriceBasis(recorded.basis));
  // The version is computed from the prices, so prices that were changed in the database are not those of the row.
  if (book?.version === version) return book;
  throw new DisputeError('unknown_prices', `the prices of version ${version} are neither in force nor recorded in the database`);
}

/** @throws DisputeError `settled_before` unless the booked decision is this one, of an earlier attempt */
async function assertSame(store: Pick<DisputeStore, 'findEntry'>, { settlement: made }: CallEntry): Promise<void> {
  const rowId = made?.of ?? '';
  const { settlement: booked } = (await store.findEntry(settlementRowId(rowId))) ?? {};
  if (booked?.by === made?.by && booked?.atMs === made?.atMs && booked?.decision === made?.decision) return;
  const when = booked === undefined ? '' : ` on ${new Date(booked.atMs).toISOString()} by ${booked.by}`;
  throw new DisputeError('settled_before', `${rowId} was ${booked?.decision ?? 'settled'} before${when}; nothing was booked`);
}

function rateAs(book: PriceBook, entry: CallEntry, usage: Usage): Charge {
  const { vendor, upstreamModel, requestedModel, acceptedAtMs, userName, keyId, serviceTier } = entry;
  const pricingParameters = { ...entry.pricingParameters, ...entry.replyParameters };
  return book.rate({ vendor, upstreamModel, requestedModel, acceptedAtMs, userName, keyId, usage, serviceTier, pricingParameters });
}

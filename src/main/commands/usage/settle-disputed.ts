import type { CallEntry, Charge } from '../../../billing/ledger/call-entry.ts';
import { settlementRowId } from '../../../billing/ledger/row-ids.ts';
import { type Decision, settleDispute } from '../../../billing/ledger/settle-dispute.ts';
import type { PriceBook } from '../../../billing/rating/rating.ts';
import { isCountName, readCounts } from '../../../billing/receipts/count-names.ts';
import { usdDecimal } from '../../../billing/statistics/usd-decimal.ts';
import { countInput, inputMeters } from '../../../inference/meters.ts';
import type { Usage } from '../../../inference/usage.ts';
import { systemClock } from '../../../platform/clock.ts';
import type { Store } from '../../../store/store.ts';
import { findBookOfVersion } from '../books-of-versions.ts';
import { nameActor } from '../name-actor.ts';
import { withStore } from '../with-accounts.ts';
import { type Environment, StartError } from '../../environment.ts';

/** Books the reported counts of a disputed call, if they are counts. */
export function acceptDisputed(environment: Environment, rowId: string, note: string | undefined): Promise<void> {
  return settle(environment, rowId, (entry) => {
    const { figures = [], reported = {} } = entry.disputed ?? {};
    if (figures.every(({ reason }) => reason === 'malformed'))
      throw new StartError(`the upstream of ${rowId} did not report a count; give the right counts with weir usage correct`);
    return { decision: 'accepted', after: mergeReported(entry.usage, reported), note };
  });
}

/** Takes either all reported parts of the input or none, because they were disputed together. */
function mergeReported(usage: Usage, reported: Usage): Usage {
  if (countInput(reported) === 0) return { ...usage, ...reported };
  const others = Object.entries(usage).filter(([meter]) => !(inputMeters as readonly string[]).includes(meter));
  return { ...Object.fromEntries(others), ...reported };
}

/** Books counts that the operator gives. */
export function correctDisputed(
  environment: Environment,
  rowId: string,
  counts: readonly string[],
  note: string | undefined,
): Promise<void> {
  const corrected = readCounts(Object.fromEntries(counts.map(readCount)));
  return settle(environment, rowId, ({ usage }) => ({ decision: 'corrected', after: { ...usage, ...corrected }, note }));
}

const countMax = 10_000_000_000;

function readCount(text: string): [name: string, count: number] {
  const [, name = '', count = ''] = /^([a-z0-9_]+)=(\d{1,11})$/.exec(text) ?? [];
  if (!isCountName(name) || count === '' || Number(count) > countMax)
    throw new StartError(`"${text.slice(0, 80)}" is not a count; write for example output_tokens=40, with a name of the receipt`);
  return [name, Number(count)];
}

/** Adds the row that settles a dispute. The first of two operators decides; the second gets an error. */
async function settle(
  environment: Environment,
  rowId: string,
  decide: (entry: CallEntry) => Pick<Decision, 'decision' | 'after' | 'note'>,
): Promise<void> {
  await withStore(environment, async (store) => {
    const entry = await store.findEntry(rowId);
    if (entry === undefined) throw new StartError(`there is no row "${rowId}" in the books; weir usage --disputed lists the disputed rows`);
    if (entry.disputed === undefined) throw new StartError(`the row ${rowId} is not disputed`);
    const book = await findBookOfVersion(environment, entry.priceVersion);
    const row = settleDispute(entry, { ...decide(entry), by: nameActor(), atMs: systemClock.nowMs() }, (usage) =>
      rateAs(book, entry, usage),
    );
    if ((await store.appendEntries([row])) === 0) throw await settledBeforeError(store, rowId);
    const after = entry.charge.amountNanoUsd + row.charge.amountNanoUsd;
    console.error(
      `${rowId}: ${row.settlement?.decision}; the charge was ${usdDecimal(entry.charge.amountNanoUsd)} USD, and is now ${usdDecimal(after)} USD`,
    );
  });
}

async function settledBeforeError(store: Pick<Store, 'findEntry'>, rowId: string): Promise<StartError> {
  const { settlement } = (await store.findEntry(settlementRowId(rowId))) ?? {};
  const when = settlement === undefined ? '' : ` on ${new Date(settlement.atMs).toISOString()} by ${settlement.by}`;
  return new StartError(`${rowId} was ${settlement?.decision ?? 'settled'} before${when}; nothing was booked`);
}

function rateAs(book: PriceBook, entry: CallEntry, usage: Usage): Charge {
  const { vendor, upstreamModel, requestedModel, acceptedAtMs, userName, keyId, serviceTier } = entry;
  const pricingParameters = { ...entry.pricingParameters, ...entry.replyParameters };
  return book.rate({ vendor, upstreamModel, requestedModel, acceptedAtMs, userName, keyId, usage, serviceTier, pricingParameters });
}

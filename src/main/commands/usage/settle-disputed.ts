import { settleDisputed } from '../../../admin/resources/disputes/dispute-operations.ts';
import { decideDispute, type DisputeDecision, DisputeError, type SettledDispute } from '../../../billing/ledger/decide-dispute.ts';
import { isCountName, readCounts } from '../../../billing/receipts/count-names.ts';
import { usdDecimal } from '../../../billing/statistics/usd-decimal.ts';
import { systemClock } from '../../../platform/clock.ts';
import { buildPriceBook } from '../../config/build-price-book.ts';
import { type Environment, StartError } from '../../environment.ts';
import { commandAuthor, nameActor } from '../name-actor.ts';
import { awaitOperation, interruption } from '../remote/await-operation.ts';
import { wordRefusal } from '../remote/problems.ts';
import { type RemoteOption, withService } from '../remote/with-service.ts';
import { loadConfigAndPrices } from '../stored-prices.ts';
import { withStore } from '../with-accounts.ts';

type Decided = { readonly rowId: string; readonly note: string | undefined } & (
  | { readonly decision: 'accepted' }
  | { readonly decision: 'corrected'; readonly counts: Readonly<Record<string, number>> }
);
export type SettleOptions = RemoteOption & { readonly note?: string };

/** Books the reported counts of a disputed call, if they are counts. */
export async function acceptDisputed(environment: Environment, rowId: string, { note, ...place }: SettleOptions): Promise<void> {
  await settle(environment, place, { decision: 'accepted', rowId, note });
}

/** Books counts that the operator gives. */
export async function correctDisputed(
  environment: Environment,
  rowId: string,
  counts: readonly string[],
  { note, ...place }: SettleOptions,
): Promise<void> {
  await settle(environment, place, { decision: 'corrected', counts: Object.fromEntries(counts.map(readCount)), rowId, note });
}

const countMax = 10_000_000_000;

function readCount(text: string): [name: string, count: number] {
  const [, name = '', count = ''] = /^([a-z0-9_]+)=(\d{1,11})$/.exec(text) ?? [];
  if (!isCountName(name) || count === '' || Number(count) > countMax)
    throw new StartError(`"${text.slice(0, 80)}" is not a count; write for example output_tokens=40, with a name of the receipt`);
  return [name, Number(count)];
}

/** Adds the row that settles a dispute. The first of two operators decides; the second gets an error. */
async function settle(environment: Environment, place: RemoteOption, decided: Decided): Promise<void> {
  const { rowId } = decided;
  const { decision, chargedNanoUsd, nowNanoUsd } = await (place.remote === undefined
    ? settleHere(environment, decided)
    : settleThere(environment, place, decided));
  console.error(`${rowId}: ${decision}; the charge was ${usdDecimal(chargedNanoUsd)} USD, and is now ${usdDecimal(nowNanoUsd)} USD`);
}

async function settleHere(environment: Environment, decided: Decided): Promise<SettledDispute> {
  const { config, priceBookData } = await loadConfigAndPrices(environment);
  const { rowId, note } = decided;
  const decision: DisputeDecision =
    decided.decision === 'accepted' ? { decision: 'accepted' } : { decision: 'corrected', counts: readCounts(decided.counts) };
  const change = { ...commandAuthor(), atMs: systemClock.nowMs(), ...(note !== undefined && { note }) };
  return await withStore(environment, async (store) => {
    try {
      const parts = { store, inForce: buildPriceBook(config, priceBookData) };
      return await decideDispute(parts, { rowId, decision, by: nameActor(), change });
    } catch (error) {
      if (error instanceof DisputeError) throw new StartError(error.message, { cause: error });
      throw error;
    }
  });
}

/** A gateway of the console books the decision. */
async function settleThere(environment: Environment, place: RemoteOption, { rowId, note, ...decided }: Decided): Promise<SettledDispute> {
  const body = { ...decided, ...(note !== undefined && { note }) };
  const unknown = (): StartError =>
    new StartError(`there is no row "${rowId}" in the books; weir usage --disputed lists the disputed rows`);
  return await withService(environment, place, async (service) => {
    const asked = service.call(settleDisputed, { params: { id: rowId }, body });
    const started = (await wordRefusal(asked, 'not_found', unknown)).body;
    const { state, result } = await awaitOperation(service, started, { signal: interruption() });
    if (state !== 'done') throw new StartError(`the decision is ${state}; nothing was booked`);
    // Written by the operation of the gateway.
    const { charged, now } = result as Readonly<Record<'charged' | 'now', { readonly nano_usd: string }>>;
    return { decision: decided.decision, chargedNanoUsd: BigInt(charged.nano_usd), nowNanoUsd: BigInt(now.nano_usd) };
  });
}

import type { CallOpening, FailedAttempt } from '../../billing/ledger/call-entry.ts';
import { admit } from './books/open-call.ts';
import { coverAttempt } from '../endpoints/chat/chat-credit.ts';
import type { Gateway } from '../endpoints/gateway.ts';
import type { ExchangePlan } from '../endpoints/chat/plan/plan-exchange.ts';
import { readPrices } from './books/read-prices.ts';
import type { Target } from './routing/routing-table.ts';
import type { KnownCall } from './call.ts';

/** One attempt: where it goes, what it sends, and what came before it. */
export type AttemptPlan = { readonly target: Target; readonly plan: ExchangePlan; readonly failed: readonly FailedAttempt[] };

/** No opening: what costs nothing has none. */
const free = Promise.resolve(undefined);

/**
 * Opens a call in the books for one of its attempts. Undefined for what costs nothing and has no place there.
 * Rejects with GatewayError `journal_unavailable`, and throws `model_not_priced` or `invalid_value` for what cannot be priced. Rejects as `takeCredit` does where its price is higher than what is held.
 */
export function openAttempt(
  { journal }: Pick<Gateway, 'journal'>,
  known: KnownCall,
  { target, plan, failed }: AttemptPlan,
): Promise<CallOpening | undefined> {
  const { call, caller, facts, settings, acceptedAtMs, round, credit } = known;
  if (call.operation === 'count-tokens') return free;
  const { translation } = plan;
  const { priceBook } = settings.routing;
  const { requestedModel } = facts;
  const pricingParameters = readPrices(priceBook, { target, requestedModel, acceptedAtMs }, plan.upstreamRequest.body);
  const open = (): Promise<CallOpening> =>
    admit({
      callId: round?.rowId ?? call.callId,
      parentCallId: round?.parentCallId,
      acceptedAtMs,
      caller,
      dialect: call.dialect,
      facts,
      target,
      priceVersion: priceBook.version,
      pricingParameters,
      credit,
      journal,
      translation: translation === undefined ? undefined : { upstreamDialect: translation.upstream.id, notes: translation.notes.list() },
      // A copy: the list grows.
      failedAttempts: failed.length === 0 ? undefined : [...failed],
    });
  const covering = coverAttempt(known, { target, plan, pricingParameters });
  return covering === undefined ? open() : openCovered(covering, open);
}

/** Opens it where what is held covers it. */
async function openCovered(covering: NonNullable<ReturnType<typeof coverAttempt>>, open: () => Promise<CallOpening>): Promise<CallOpening> {
  const refusal = await covering;
  if (refusal !== undefined) throw refusal;
  return await open();
}

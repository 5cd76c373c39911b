import type { CallOpening, FailedAttempt } from '../../billing/ledger/call-entry.ts';
import { openCall } from './books/open-call.ts';
import { readPrices } from './books/read-prices.ts';
import type { AttemptPlan, CallJob } from './call-job.ts';
import type { AttemptedCall } from './call.ts';
import type { Target } from './routing/target.ts';
import type { AttemptServices } from './services.ts';

/** No opening: what costs nothing has none. */
const free = Promise.resolve(undefined);

/**
 * Opens a call in the books for one of its attempts. Undefined for what costs nothing and has no place there.
 * Rejects with GatewayError `journal_unavailable`, and throws `model_not_priced` or `invalid_value` for what cannot be priced. Rejects as `takeCredit` does where its price is higher than what is held.
 * @param failed the attempts before it
 */
export function openAttempt<Plan extends AttemptPlan<unknown>>(
  { journal }: Pick<AttemptServices, 'journal'>,
  call: AttemptedCall,
  job: CallJob<Plan>,
  { target, plan, failed }: { readonly target: Target; readonly plan: Plan; readonly failed: readonly FailedAttempt[] },
): Promise<CallOpening | undefined> {
  if (job.isFree) return free;
  const { callId, label, caller, facts, settings, acceptedAtMs, round, credit, parentCallId } = call;
  const { translation } = plan;
  const { priceBook } = settings.routing;
  const { requestedModel } = facts;
  const pricingParameters = readPrices(
    priceBook,
    { target, requestedModel, acceptedAtMs, uses: job.uses?.(target) },
    plan.upstreamRequest.body,
  );
  const open = (): Promise<CallOpening> =>
    openCall({
      callId: round?.rowId ?? callId,
      parentCallId: round?.parentCallId ?? parentCallId,
      acceptedAtMs,
      caller,
      dialect: label,
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
  const covering = job.cover?.({ target, plan, pricingParameters });
  return covering === undefined ? open() : openCovered(covering, open);
}

/** Opens it where what is held covers it. */
async function openCovered(
  covering: NonNullable<ReturnType<NonNullable<CallJob['cover']>>>,
  open: () => Promise<CallOpening>,
): Promise<CallOpening> {
  const refusal = await covering;
  if (refusal !== undefined) throw refusal;
  return await open();
}

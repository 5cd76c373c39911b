import { teamOf } from '../../admission/team-of.ts';
import { type Journal, JournalUnavailableError } from '../../../billing/journal/journal.ts';
import type { CallOpening, FailedAttempt } from '../../../billing/ledger/call-entry.ts';
import type { PriceBook } from '../../../billing/rating/rating.ts';
import { readPricingParameters } from '../../../billing/rating/read-pricing-parameters.ts';
import { GatewayError } from '../../../inference/gateway-error.ts';
import { type Bytes, joinBytes } from '../../../platform/byte-pieces.ts';
import { findStandalone, meters } from '../../../inference/meters.ts';
import type { PricingParameters, Usage } from '../../../inference/usage.ts';
import type { AttemptPlan, CallJob } from '../call-job.ts';
import type { AttemptedCall } from '../call.ts';
import type { Target } from '../routing/target.ts';
import type { AttemptServices } from '../services.ts';
import { type PricedTarget, withPriceFacts } from './price-facts.ts';
import { tagsOf } from './tags-of.ts';

/** The parts of a call that decide its price. */
export type PricingInput = {
  readonly target: PricedTarget;
  readonly requestedModel: string;
  readonly acceptedAtMs: number;
  /** The usage that it is charged by. Absent: tokens. */
  readonly uses?: Usage | undefined;
};

const tokens: Usage = {};

/** Names the usage that has no price. */
function describeUse(uses: Usage): string {
  const alone = findStandalone(uses);
  return `for ${alone === undefined ? 'tokens' : meters[alone].unpriced}`;
}

/**
 * Reads the values that the price of a call depends on: from the body for its upstream, and from its target. Undefined
 * if there are none.
 * @throws GatewayError `model_not_priced` if the usage has no price and the operator refuses such calls,
 * `invalid_value` for a number that cannot be priced
 */
export function readPrices(
  priceBook: Pick<PriceBook, 'unlisted' | 'prices' | 'parametersOf'>,
  { target, requestedModel, acceptedAtMs, uses = tokens }: PricingInput,
  body: Bytes | undefined,
): PricingParameters | undefined {
  const { upstream, upstreamModel } = target;
  const call = { vendor: upstream.vendor.id, upstreamModel, requestedModel, acceptedAtMs };
  if (priceBook.unlisted === 'refuse' && !priceBook.prices(call, uses)) {
    const message = `model: ${requestedModel.slice(0, 256)} has no price here ${describeUse(uses)}, and calls without a price are refused; ask the operator to set one`;
    throw new GatewayError('model_not_priced', message, {
      param: 'model',
      internal: `${call.vendor}/${upstreamModel} has no price ${describeUse(uses)}`,
    });
  }
  const pointers = priceBook.parametersOf(call);
  const read = pointers.length === 0 || body === undefined ? undefined : readPricingParameters(joinBytes(body), pointers);
  return withPriceFacts(target, read);
}

/** An attempt that is about to be opened. */
type OpeningAttempt = {
  readonly call: Pick<AttemptedCall, 'callId' | 'acceptedAtMs' | 'caller' | 'label' | 'facts' | 'round' | 'parentCallId' | 'credit'> & {
    readonly settings: { readonly routing: { readonly priceBook: Pick<PriceBook, 'version'> } };
  };
  readonly target: Target;
  readonly translation: AttemptPlan<unknown>['translation'];
  /** The attempts before this one. */
  readonly failed: readonly FailedAttempt[];
  readonly pricingParameters: PricingParameters | undefined;
};

type Writable<Type> = { -readonly [Member in keyof Type]: Type[Member] };

/** The opening of a call for one of its attempts, with the hold that it has now. */
function describeOpening({ call, target, translation, failed, pricingParameters }: OpeningAttempt): CallOpening {
  const { caller, facts, round, credit } = call;
  // Built member by member, as an entry is: see settleCall.
  const opening: Writable<CallOpening> = {
    callId: round?.rowId ?? call.callId,
    acceptedAtMs: call.acceptedAtMs,
    userName: caller.userName,
    keyId: caller.id,
    keyName: caller.name,
    dialect: call.label,
    requestedModel: facts.requestedModel,
    upstream: target.upstream.id,
    vendor: target.upstream.vendor.id,
    upstreamModel: target.upstreamModel,
    stream: facts.stream,
    inputCharacters: facts.inputCharacters,
    priceVersion: call.settings.routing.priceBook.version,
  };
  const parentCallId = round?.parentCallId ?? call.parentCallId;
  if (translation !== undefined) opening.translation = { upstreamDialect: translation.upstream.id, notes: translation.notes.list() };
  // A copy, because the list grows.
  if (failed.length > 0) opening.failedAttempts = [...failed];
  if (parentCallId !== undefined) opening.parentCallId = parentCallId;
  if (pricingParameters !== undefined) opening.pricingParameters = pricingParameters;
  return Object.assign(opening, teamOf(caller), tagsOf(caller), credit?.describe());
}

/**
 * Opens a call in the books before its upstream is called. A call that cannot be recorded must not be paid for, so the
 * call is refused if the journal cannot be written. Resolves when the opening is written, together with those of other
 * calls of the same turn of the event loop. Rejects with GatewayError `journal_unavailable` (503).
 */
export function openCall(journal: Journal, attempt: OpeningAttempt): Promise<CallOpening> {
  const opening = describeOpening(attempt);
  return new Promise((resolve, reject) => {
    const conclude = (refusal: JournalUnavailableError | undefined): void => {
      if (refusal === undefined) resolve(opening);
      else reject(describeRefusal(refusal));
    };
    try {
      journal.open(opening, conclude);
    } catch (error) {
      if (!(error instanceof JournalUnavailableError)) throw error;
      conclude(error);
    }
  });
}

function describeRefusal(refusal: JournalUnavailableError): GatewayError {
  return new GatewayError('journal_unavailable', 'the gateway cannot record calls at the moment, and makes none until it can; try again', {
    retryAfterSeconds: 1,
    internal: refusal.message,
    cause: refusal,
  });
}

/** Calls that cost nothing have no opening. */
const free = Promise.resolve(undefined);

/**
 * Opens a call in the books for one of its attempts. Undefined for a call that costs nothing. Rejects with GatewayError
 * `journal_unavailable`, and as `takeCredit` if its cost exceeds the hold. Throws `model_not_priced` or `invalid_value`
 * for a call without a price.
 * @param failed the attempts before this one
 */
export function openAttempt<Plan extends AttemptPlan<unknown>>(
  { journal }: Pick<AttemptServices, 'journal'>,
  call: AttemptedCall,
  job: CallJob<Plan>,
  { target, plan, failed }: { readonly target: Target; readonly plan: Plan; readonly failed: readonly FailedAttempt[] },
): Promise<CallOpening | undefined> {
  if (job.isFree) return free;
  const { facts, settings, acceptedAtMs } = call;
  const { requestedModel } = facts;
  const pricingParameters = readPrices(
    settings.routing.priceBook,
    { target, requestedModel, acceptedAtMs, uses: job.uses?.(target) },
    plan.upstreamRequest.body,
  );
  const attempt = { call, target, translation: plan.translation, failed, pricingParameters };
  const covering = job.cover?.({ target, plan, pricingParameters });
  return covering === undefined ? openCall(journal, attempt) : openCovered(covering, journal, attempt);
}

/** Opens the call if the hold covers it. */
async function openCovered(
  covering: NonNullable<ReturnType<NonNullable<CallJob['cover']>>>,
  journal: Journal,
  attempt: OpeningAttempt,
): Promise<CallOpening> {
  const refusal = await covering;
  if (refusal !== undefined) throw refusal;
  return await openCall(journal, attempt);
}

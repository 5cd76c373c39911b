import { estimateUsage, type UsageBounds } from '../../../billing/metering/estimate-usage.ts';
import type { PlannedCall, PriceBook } from '../../../billing/rating/rating.ts';
import type { ChatDialect } from '../../../dialects/chat-dialect.ts';
import type { CallFacts } from '../../../inference/call-facts.ts';
import type { InputMeasure } from '../../../inference/measure-input.ts';
import type { JsonObject } from '../../../platform/json/json-value.ts';
import type { CreditSettings } from '../../settings/call-settings.ts';
import type { Target } from '../routing/target.ts';

/** Whom a call is priced for, and when. */
export type Purchase = {
  readonly priceBook: PriceBook;
  readonly requestedModel: string;
  readonly acceptedAtMs: number;
  readonly userName: string;
  readonly keyId: string;
  /** The service tier that was asked for. Without one the dearest is reckoned with. */
  readonly serviceTier?: string | undefined;
};

/** What is known of a call in tokens before it is made. */
export type ForecastCall = {
  readonly facts: Pick<CallFacts, 'inputCharacters' | 'outputTokensMax' | 'replies' | 'builtInTools'>;
  /** How large what its model reads is, the conversation that it goes on from included. */
  readonly input: InputMeasure;
  /** As with `estimateUsage`. */
  readonly outputTokensDefault: number | undefined;
};

/**
 * Output tokens for which a call without a bound is held at first; undefined: for all that its model can write, because what it comes to cannot be followed.
 * @param isStream whether its target is asked for a stream
 */
export function outputTokensAtFirst(
  { coversUnbounded, outputTokensDefault }: CreditSettings,
  isStream: boolean,
  { upstream, upstreamModel }: Target,
): number | undefined {
  if (coversUnbounded === 'none') return outputTokensDefault;
  const isSeen = coversUnbounded === 'whole' || upstream.traitsOf(upstreamModel).reasoning === 'none';
  return isStream && isSeen ? outputTokensDefault : undefined;
}

/** What a call may use at one target. */
export function forecastUsage({ facts, input, outputTokensDefault }: ForecastCall, { upstream, upstreamModel }: Target): UsageBounds {
  const { outputTokensMax: modelOutputTokensMax, contextTokensMax } = upstream.traitsOf(upstreamModel);
  return estimateUsage({
    input,
    inputCharacters: facts.inputCharacters,
    outputTokensMax: facts.outputTokensMax,
    replies: facts.replies,
    outputTokensDefault,
    builtInTools: facts.builtInTools,
    modelOutputTokensMax,
    contextTokensMax,
  });
}

/** A model whose window is not known is reckoned with the usual one. */
const unknownWindowTokens = 200_000;
/** No model is known that reads more. */
export const largestWindowTokens = 4_194_304;

/** The same with as much input as the model can read: for what is not seen here, as a conversation that only the upstream keeps. */
export function withWholeWindow(bounds: UsageBounds, { upstream, upstreamModel }: Target, windowTokens = unknownWindowTokens): UsageBounds {
  const window = upstream.traitsOf(upstreamModel).contextTokensMax ?? windowTokens;
  return { ...bounds, most: { ...bounds.most, inputTokens: Math.max(window, bounds.most.inputTokens ?? 0) } };
}

/** What so much costs at a target at most, in nano-USD. */
export function boundAtTarget(
  { priceBook, ...purchase }: Purchase,
  { upstream, upstreamModel }: Pick<Target, 'upstream' | 'upstreamModel'>,
  { most, pricingParameters }: Pick<UsageBounds, 'most'> & Pick<PlannedCall, 'pricingParameters'>,
): bigint {
  return priceBook.most({ ...purchase, vendor: upstream.vendor.id, upstreamModel, most, pricingParameters });
}

/** What a call costs at most, wherever of its targets it is answered: the next attempt may go to a dearer one. */
export function boundDearest(purchase: Purchase, targets: readonly Target[], usageAt: (target: Target) => UsageBounds): bigint {
  let dearest = 0n;
  for (const target of targets) {
    const nanoUsd = boundAtTarget(purchase, target, usageAt(target));
    if (nanoUsd > dearest) dearest = nanoUsd;
  }
  return dearest;
}

/** A request as its upstream is sent it, and in whose words. */
export type SentRequest = { readonly dialect: Pick<ChatDialect, 'readFacts'>; readonly body: JsonObject };

/**
 * The facts of a translated call, with the bound of output that its upstream is told where that is larger: a vendor has a least one, and thoughts need room. Where the client set none, and a vendor demands one, it
 * bounds a whole reply.
 */
export function withSentBound<Facts extends Pick<CallFacts, 'outputTokensMax'>>(facts: Facts, { dialect, body }: SentRequest): Facts {
  // Where the model's name lies elsewhere than in the body it says nothing of bounds.
  const sent = dialect.readFacts({ operation: 'generate', headers: {}, body, pathModel: '' }).outputTokensMax;
  return sent === undefined ? facts : { ...facts, outputTokensMax: Math.max(sent, facts.outputTokensMax ?? 0) };
}

import { estimateUsage, type UsageBounds } from '../../../billing/metering/estimate-usage.ts';
import type { PlannedCall, PriceBook } from '../../../billing/rating/rating.ts';
import type { UpstreamDialect } from '../../../dialects/chat-dialect.ts';
import type { CallFacts } from '../../../inference/call-facts.ts';
import type { InputMeasure } from '../../../inference/measure-input.ts';
import type { JsonObject } from '../../../platform/json/json-value.ts';
import type { CreditSettings } from '../../settings/call-settings.ts';
import type { Target } from '../routing/target.ts';
import { type PricedTarget, withPriceFacts } from './price-facts.ts';

/** The caller and the time that a price depends on. */
export type Purchase = {
  readonly priceBook: PriceBook;
  readonly requestedModel: string;
  readonly acceptedAtMs: number;
  readonly userName: string;
  readonly keyId: string;
  /** The requested service tier. If it is absent, the most expensive tier is assumed. */
  readonly serviceTier?: string | undefined;
};

/** The facts about a call's tokens before it is made. */
export type ForecastCall = {
  readonly facts: Pick<CallFacts, 'inputCharacters' | 'outputTokensMax' | 'replies' | 'builtInTools'>;
  /** The size of the model's input, including the conversation that the call continues. */
  readonly input: InputMeasure;
  /** As in `estimateUsage`. */
  readonly outputTokensDefault: number | undefined;
};

/**
 * The output tokens that are held at first for a call without a bound. Undefined: as many as its model can write,
 * because its cost cannot be followed.
 * @param isStream whether a stream is requested from its target
 */
export function initialOutputTokens(
  { coversUnbounded, outputTokensDefault }: CreditSettings,
  isStream: boolean,
  { upstream, upstreamModel }: Target,
): number | undefined {
  if (coversUnbounded === 'none') return outputTokensDefault;
  const isSeen = coversUnbounded === 'whole' || upstream.traitsOf(upstreamModel).reasoning === 'none';
  return isStream && isSeen ? outputTokensDefault : undefined;
}

/** The highest usage of a call at one target. */
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

/** Assumed for a model of unknown window. */
const unknownWindowTokens = 200_000;
/** No known model has a larger window. */
export const largestWindowTokens = 4_194_304;

/**
 * The same bounds with the whole window as input, for input that the gateway does not see, such as a conversation that
 * only the upstream stores.
 */
export function withWholeWindow(bounds: UsageBounds, { upstream, upstreamModel }: Target, windowTokens = unknownWindowTokens): UsageBounds {
  const window = upstream.traitsOf(upstreamModel).contextTokensMax ?? windowTokens;
  return { ...bounds, most: { ...bounds.most, inputTokens: Math.max(window, bounds.most.inputTokens ?? 0) } };
}

/** The highest cost of this usage at a target, in nano-USD. */
export function boundAtTarget(
  { priceBook, ...purchase }: Purchase,
  target: PricedTarget,
  { most, pricingParameters: read }: Pick<UsageBounds, 'most'> & Pick<PlannedCall, 'pricingParameters'>,
): bigint {
  const { upstream, upstreamModel } = target;
  const pricingParameters = withPriceFacts(target, read);
  return priceBook.most({ ...purchase, vendor: upstream.vendor.id, upstreamModel, most, pricingParameters });
}

/** The highest cost of a call at any of its targets: the next attempt may go to a more expensive one. */
export function boundAtAnyTarget(purchase: Purchase, targets: readonly Target[], usageAt: (target: Target) => UsageBounds): bigint {
  let dearest = 0n;
  for (const target of targets) {
    const nanoUsd = boundAtTarget(purchase, target, usageAt(target));
    if (nanoUsd > dearest) dearest = nanoUsd;
  }
  return dearest;
}

/** A request as its upstream receives it, and its dialect. */
export type SentRequest = { readonly dialect: Pick<UpstreamDialect, 'readFacts'>; readonly body: JsonObject };

/**
 * The facts of a translated call with the output bound that was sent to its upstream, if that is larger than the
 * client's: a vendor has a minimum, and reasoning needs room. If the client set no bound and the vendor requires one,
 * it bounds a whole reply.
 */
export function withSentBound<Facts extends Pick<CallFacts, 'outputTokensMax'>>(facts: Facts, { dialect, body }: SentRequest): Facts {
  // Bounds never depend on a model name outside the body.
  const sent = dialect.readFacts({ operation: 'generate', headers: {}, body, pathModel: '' }).outputTokensMax;
  return sent === undefined ? facts : { ...facts, outputTokensMax: Math.max(sent, facts.outputTokensMax ?? 0) };
}

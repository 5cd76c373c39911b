import { readPricingParameters } from '../../../billing/rating/read-pricing-parameters.ts';
import type { PriceBook } from '../../../billing/rating/rating.ts';
import { GatewayError } from '../../../inference/gateway-error.ts';
import { findStandalone, meters } from '../../../inference/meters.ts';
import type { PricingParameters, Usage } from '../../../inference/usage.ts';
import type { Target } from '../routing/target.ts';

/** A call that is about to be made, as far as its price depends on it. */
export type CallToPrice = {
  readonly target: Pick<Target, 'upstreamModel'> & { readonly upstream: { readonly vendor: { readonly id: string } } };
  readonly requestedModel: string;
  readonly acceptedAtMs: number;
  /** What it will be charged by. Absent: tokens. */
  readonly uses?: Usage | undefined;
};

const tokens: Usage = {};

/** What has no price, in words. */
function describeUse(uses: Usage): string {
  const alone = findStandalone(uses);
  return `for ${alone === undefined ? 'tokens' : meters[alone].unpriced}`;
}

/**
 * Reads what the price of a call depends on out of the body that its upstream will get; undefined where it depends on nothing of it.
 * @throws GatewayError `model_not_priced` where what the call is charged by has no price and the operator has such calls refused, `invalid_value` for a number that cannot be priced
 */
export function readPrices(
  priceBook: Pick<PriceBook, 'unlisted' | 'prices' | 'parametersOf'>,
  { target, requestedModel, acceptedAtMs, uses = tokens }: CallToPrice,
  body: Buffer | undefined,
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
  return pointers.length === 0 || body === undefined ? undefined : readPricingParameters(body, pointers);
}

import type { PricingParameters } from '../../../inference/usage.ts';
import type { AccountFacts } from '../../../upstreams/account-facts.ts';
import type { UpstreamVendor } from '../../../upstreams/upstream-vendor.ts';

/** A target, as far as a price may depend on it. */
export type PricedTarget = {
  readonly upstreamModel: string;
  readonly upstream: { readonly vendor: { readonly id: string } & Pick<UpstreamVendor, 'servedIn'>; readonly facts: AccountFacts };
};

/**
 * The values of prices that a target decides and not the request: where its model is served. Known before the call, so
 * that a hold has them. Undefined if there are none.
 */
function priceFactsOf({ upstream: { vendor, facts }, upstreamModel }: PricedTarget): PricingParameters | undefined {
  const region = vendor.servedIn?.(upstreamModel, facts);
  return region === undefined ? undefined : { region };
}

/** Joins them with values that were read from a request. */
export function withPriceFacts(target: PricedTarget, read: PricingParameters | undefined): PricingParameters | undefined {
  const known = priceFactsOf(target);
  return known === undefined ? read : { ...known, ...read };
}

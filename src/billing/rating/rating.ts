import type { PricingParameters, ToolUsage, Usage } from '../../inference/usage.ts';
import type { Charge } from '../ledger/call-entry.ts';

export type RatedCall = {
  /** Price book vendor, for example `anthropic`. */
  readonly vendor: string;
  readonly upstreamModel: string;
  readonly requestedModel: string;
  readonly acceptedAtMs: number;
  readonly usage: Usage;
  readonly serviceTier?: string | undefined;
  readonly pricingParameters?: PricingParameters | undefined;
};

export type PricedModel = { readonly vendor: string; readonly model: string; readonly displayName: string; readonly releasedAtMs: number };

/** Prices with their effective dates; immutable. A reload makes a new one. */
export type PriceBook = {
  readonly version: string;
  /** The models it lists for a vendor. */
  readonly models: (vendor: string) => readonly PricedModel[];
  /** Whether the vendor's list names this model, dated and `-latest` spellings included. */
  readonly lists: (vendor: string, model: string) => boolean;
  /** Prices a call. An unlisted model costs 0 and has no priceId. */
  readonly rate: (call: RatedCall) => Charge;
  /** Prices what tools did that the gateway ran. */
  readonly rateTools: (usage: ToolUsage) => Charge;
};

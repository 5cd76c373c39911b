import type { PricingParameters, ToolUsage, Usage } from '../../inference/usage.ts';
import type { Charge } from '../ledger/call-entry.ts';

/** The facts that decide the prices of a call. */
export type PricedCall = {
  /** Price book vendor, for example `anthropic`. */
  readonly vendor: string;
  readonly upstreamModel: string;
  readonly requestedModel: string;
  readonly acceptedAtMs: number;
};

export type RatedCall = PricedCall & {
  readonly usage: Usage;
  readonly serviceTier?: string | undefined;
  readonly pricingParameters?: PricingParameters | undefined;
  /** The payer: prices may differ by user and by key. */
  readonly userName?: string | undefined;
  readonly keyId?: string | undefined;
};

/** A call before it is made, with bounds of its usage; nothing else is known about it. */
export type PlannedCall = Omit<RatedCall, 'usage' | 'serviceTier'> & {
  /** The usage by the best estimate. */
  readonly expected: Usage;
  /** The highest possible usage: input by its bytes, output by its limit. */
  readonly most: Usage;
  /** The service tier of the request. Without one, or with `auto`, the most expensive is assumed. */
  readonly serviceTier?: string | undefined;
};

/** A planned call without the estimate, if only its bounds matter. */
export type CallBounds = Omit<PlannedCall, 'expected'>;

/** The lowest, the expected and the highest cost of a call, in nano-USD. */
export type CostBounds = { readonly minimumNanoUsd: bigint; readonly expectedNanoUsd: bigint; readonly maximumNanoUsd: bigint };

export type PricedModel = { readonly vendor: string; readonly model: string; readonly displayName: string; readonly releasedAtMs: number };

/** The operator's own unit, in which amounts are shown besides USD. */
export type CreditUnit = {
  readonly name: string;
  /** How many units are one USD, as a decimal string. */
  readonly perUsd: string;
};

/** Prices with their effective dates; immutable. A reload creates a new one. */
export type PriceBook = {
  readonly version: string;
  /** The listed models of a vendor. */
  readonly models: (vendor: string) => readonly PricedModel[];
  /** Whether the vendor's list has this model, dated and `-latest` spellings included. */
  readonly lists: (vendor: string, model: string) => boolean;
  /**
   * Whether a call has a price, in the list or in an override. A call without one costs 0.
   * @param uses the meters of its charge: then these must have a price, and not only the model
   */
  readonly prices: (call: PricedCall, uses?: Usage) => boolean;
  /** Whether a call without a price is free or refused. */
  readonly unlisted: 'free' | 'refuse';
  /** Absent if amounts are shown in USD only. */
  readonly credits?: CreditUnit;
  /**
   * JSON pointers into the body sent upstream that the price depends on. Only these are read into `pricingParameters`.
   */
  readonly parametersOf: (call: PricedCall) => readonly string[];
  /** Prices a call. A call without priced usage costs 0 and has no priceId. */
  readonly rate: (call: RatedCall) => Charge;
  /**
   * The bounds of a call's cost, by the same prices: its charge is at most `maximumNanoUsd`, whatever part of the input
   * comes from a cache and whatever its tier.
   */
  readonly bound: (call: PlannedCall) => CostBounds;
  /** Only the maximum, for holds, in nano-USD. */
  readonly most: (call: CallBounds) => bigint;
  /** Prices the use of tools that the gateway ran. */
  readonly rateTools: (usage: ToolUsage, payer?: Pick<RatedCall, 'userName' | 'keyId'>) => Charge;
};

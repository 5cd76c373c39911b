import type { PricingParameters, ToolUsage, Usage } from '../../inference/usage.ts';
import type { Charge } from '../ledger/call-entry.ts';

/** What decides which prices a call has. */
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
  /** Who pays: prices may differ by user and by key. */
  readonly userName?: string | undefined;
  readonly keyId?: string | undefined;
};

/** A call before it is made, and what it may use: nothing else is known of it. */
export type PlannedCall = Omit<RatedCall, 'usage' | 'serviceTier'> & {
  /** What it will use by the best estimate. */
  readonly expected: Usage;
  /** Bounds that it cannot pass: input by its bytes, output by its limit. */
  readonly most: Usage;
  /** The service tier that the request asks for. Without one, or with `auto`, the dearest is assumed. */
  readonly serviceTier?: string | undefined;
};

/** The same where only its bounds matter. */
export type CallBounds = Omit<PlannedCall, 'expected'>;

/** What a call costs at least, by the best estimate and at most, in nano-USD. */
export type CostBounds = { readonly minimumNanoUsd: bigint; readonly expectedNanoUsd: bigint; readonly maximumNanoUsd: bigint };

export type PricedModel = { readonly vendor: string; readonly model: string; readonly displayName: string; readonly releasedAtMs: number };

/** A unit of the operator's own in which amounts are shown beside USD. */
export type CreditUnit = {
  readonly name: string;
  /** How many of it are one USD, as a decimal string. */
  readonly perUsd: string;
};

/** Prices with their effective dates; immutable. A reload makes a new one. */
export type PriceBook = {
  readonly version: string;
  /** The models it lists for a vendor. */
  readonly models: (vendor: string) => readonly PricedModel[];
  /** Whether the vendor's list names this model, dated and `-latest` spellings included. */
  readonly lists: (vendor: string, model: string) => boolean;
  /**
   * Whether a call has a price, by the list or by an override. What has none costs 0.
   * @param uses what it will be charged by: then that has to have a price, and not only the model
   */
  readonly prices: (call: PricedCall, uses?: Usage) => boolean;
  /** Whether a call without a price is free or refused. */
  readonly unlisted: 'free' | 'refuse';
  /** Absent where amounts are shown in USD alone. */
  readonly credits?: CreditUnit;
  /** JSON pointers into the body sent upstream that its price depends on; they are to be read into `pricingParameters`, and nothing else. */
  readonly parametersOf: (call: PricedCall) => readonly string[];
  /** Prices a call. One that used nothing that has a price costs 0 and has no priceId. */
  readonly rate: (call: RatedCall) => Charge;
  /** What a call may cost, by the same prices: its charge is at most `maximumNanoUsd`, whatever of its input comes from a cache and whatever its tier. */
  readonly bound: (call: PlannedCall) => CostBounds;
  /** The same maximum alone, for what is held: in nano-USD. */
  readonly most: (call: CallBounds) => bigint;
  /** Prices what tools did that the gateway ran. */
  readonly rateTools: (usage: ToolUsage, payer?: Pick<RatedCall, 'userName' | 'keyId'>) => Charge;
};

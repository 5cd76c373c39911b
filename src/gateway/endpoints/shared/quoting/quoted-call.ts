import type { GatewaySettings } from '../../../attempts/services.ts';
import type { ApiKey } from '../../../../accounts/api-key.ts';
import type { UsageBounds } from '../../../../billing/metering/estimate-usage.ts';
import type { TranslationNote } from '../../../../inference/translation-notes.ts';
import type { PricingParameters, ToolUsage } from '../../../../inference/usage.ts';
import type { JsonObject } from '../../../../platform/json/json-value.ts';
import type { Target } from '../../../attempts/routing/target.ts';

/** A request whose price is asked for. It is never sent anywhere. */
export type QuoteTarget<Services = unknown> = {
  readonly gateway: Services;
  readonly settings: GatewaySettings;
  readonly caller: ApiKey;
  /** The body as it was written, and parsed. */
  readonly bytes: Buffer;
  readonly body: JsonObject;
  /** Those of the question, which count for the request too. */
  readonly headers: Readonly<Record<string, string | undefined>>;
  readonly nowMs: number;
};

/** One target that could answer the call, and what the call would use there. */
export type QuotedTarget = {
  readonly target: Target;
  readonly usage: UsageBounds;
  /** What it would use until more is held for it, where that is less: the first time that its model is asked. */
  readonly firstRound?: UsageBounds;
  readonly pricingParameters?: PricingParameters;
  /** The body that it would be sent, where that is known: prices may depend on what stands in it. */
  readonly sent?: Buffer | undefined;
  /**
   * What translating the request would adapt, emulate or drop. Absent where that is not known without fetching what the
   * request names.
   */
  readonly notes?: readonly TranslationNote[];
};

/** A call as far as its price depends on it. */
export type QuotedCall = {
  /** As the ledger would name it. */
  readonly dialect: string;
  readonly requestedModel: string;
  /** Best first; the call would go to the first, and to the others when that fails. Never none. */
  readonly targets: readonly QuotedTarget[];
  /** How often the model may be asked for it: more than once where the gateway runs its tools. */
  readonly roundsMax: number;
  /** What the gateway's tools do for it at most: the one or the other. */
  readonly toolsMost?: readonly ToolUsage[];
  /** What the request asks for. */
  readonly serviceTier?: string;
};

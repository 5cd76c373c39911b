import type { AttemptServices, GatewaySettings } from '../../attempts/services.ts';
import type { ApiKey } from '../../../accounts/api-key.ts';
import type { UsageBounds } from '../../../billing/metering/estimate-usage.ts';
import type { TranslationNote } from '../../../inference/translation-notes.ts';
import type { PricingParameters, ToolUsage } from '../../../inference/usage.ts';
import type { JsonObject } from '../../../platform/json/json-value.ts';
import type { Target } from '../../attempts/routing/target.ts';
import { GatewayError } from '../../../inference/gateway-error.ts';
import type { CallFacts } from '../../../inference/call-facts.ts';
import { alwaysHealthy, type HealthReader } from '../../attempts/health/health.ts';
import { type RankedCall, type TargetRequirements, rankSuitable } from '../../attempts/routing/rank-targets.ts';

/** A request of which the price is computed. It is never sent. */
export type QuoteTarget<Services = unknown> = {
  readonly gateway: Services;
  readonly settings: GatewaySettings;
  readonly caller: ApiKey;
  /** The body as received, and parsed. */
  readonly bytes: Buffer;
  readonly body: JsonObject;
  /** The headers of the quote request, which also apply to the quoted one. */
  readonly headers: Readonly<Record<string, string | undefined>>;
  readonly nowMs: number;
  /** Of a call that is explained: the targets are ranked by their present health. Absent: whatever their health. */
  readonly explained?: Explained;
};

/** The health of targets that an explanation of a call assumes, and a listener for those that are left out. */
export type Explained = { readonly health: HealthReader; readonly onLeftOut: NonNullable<RankedCall['onLeftOut']> };

/** A target that could answer the call, and the usage there. */
export type QuotedTarget = {
  readonly target: Target;
  readonly usage: UsageBounds;
  /** The usage of the first round, for which credit is held first. Absent: all of the usage. */
  readonly firstRound?: UsageBounds;
  readonly pricingParameters?: PricingParameters;
  /** The body for this target, if it is known: prices may depend on its content. */
  readonly sent?: Buffer | undefined;
  /**
   * The notes of translating the request. Absent if they are unknown without fetching media that the request names.
   */
  readonly notes?: readonly TranslationNote[];
};

/** The parts of a call that decide its price. */
export type QuotedCall = {
  /** The name of the interface in the ledger. */
  readonly dialect: string;
  readonly requestedModel: string;
  /** Best first: the call would go to the first, and to the others if that fails. Never empty. */
  readonly targets: readonly QuotedTarget[];
  /** The most rounds of the model: more than one if the gateway runs its tools. */
  readonly roundsMax: number;
  /** The alternatives for the most usage of the gateway's tools. */
  readonly toolsMost?: readonly ToolUsage[];
  /** The service tier that the request names. */
  readonly serviceTier?: string;
};

/**
 * The targets that can express a request. Other targets are skipped.
 * @param targets at least one
 * @throws GatewayError if no target can express it: the error of the first
 */
export function fitTargets(
  targets: readonly Target[],
  fit: (target: Target) => QuotedTarget,
  onLeftOut?: Explained['onLeftOut'],
): readonly QuotedTarget[] {
  const fitted: QuotedTarget[] = [];
  let refusal: GatewayError | undefined;
  for (const target of targets) {
    try {
      fitted.push(fit(target));
    } catch (error) {
      if (!(error instanceof GatewayError)) throw error;
      refusal ??= error;
      onLeftOut?.(target, { reason: 'inexpressible', detail: error.message });
    }
  }
  if (fitted.length === 0) throw refusal ?? new Error('a request was routed to no target');
  return fitted;
}

/**
 * The targets of a call that is not a chat, best first, and whatever their health unless it is explained; never empty.
 * @throws GatewayError
 */
export function rankRouted(
  { gateway, settings, caller, headers, explained }: QuoteTarget<Pick<AttemptServices, 'clock'>>,
  facts: CallFacts,
  requirements: TargetRequirements,
): readonly Target[] {
  const nowMs = gateway.clock.monotonicMs();
  const seen = { table: settings.routing, nowMs, random: () => 0, health: alwaysHealthy, ...explained };
  return rankSuitable({ ...seen, facts, headers, caller }, requirements);
}

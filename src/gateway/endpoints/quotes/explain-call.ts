import type { ApiKey } from '../../../accounts/api-key.ts';
import type { CostBounds } from '../../../billing/rating/rating.ts';
import { GatewayError } from '../../../inference/gateway-error.ts';
import type { TranslationNote } from '../../../inference/translation-notes.ts';
import { checkExpiry } from '../../admission/authenticate.ts';
import type { AdmissionServices } from '../../admission/services.ts';
import { alwaysHealthy, type Availability } from '../../attempts/health/health.ts';
import type { LeftOut } from '../../attempts/routing/rank-targets.ts';
import type { RoutingTable, Tier } from '../../attempts/routing/routing-table.ts';
import { subjectOf, type Target } from '../../attempts/routing/target.ts';
import type { AttemptServices, GatewaySettings } from '../../attempts/services.ts';
import type { QuoteTarget } from '../shared/quoted-call.ts';
import { isChatInterface, type SampleInterface, type SampleRequest } from '../shared/sample-request.ts';
import { checkCredit } from './check-credit.ts';
import { type Affordable, priceQuote } from './describe-quote.ts';
import { findQuoted, type FindRoute } from './find-quoted.ts';

/** The place of a target among those of its model. */
type Place = {
  readonly target: Target;
  /** From 1: the targets of the first tier are called first. Absent if the target is not the model's own. */
  readonly tier?: number;
  /** Of the calls of its tier, from 0 to 1. */
  readonly share?: number;
};

export type ExplainedTarget = Place & {
  readonly availability: Availability;
  /** Whether it speaks the interface of the call; undefined for calls that are not chats. */
  readonly passes?: boolean;
  /** What the translation changes and loses; undefined if that is known only when media are fetched. */
  readonly notes?: readonly TranslationNote[];
  readonly priceId?: string;
  readonly bounds: CostBounds;
  readonly heldNanoUsd: bigint;
};

/** Where a call would go at this moment, and why not elsewhere. */
export type CallExplanation = {
  /** In the order of attempts. Empty if the call would be refused. */
  readonly targets: readonly ExplainedTarget[];
  readonly leftOut: readonly (Place & { readonly why: LeftOut | { readonly reason: 'taken-out' } })[];
  /** Why the call would be refused before it is sent; undefined if it would be sent. */
  readonly refusal?: GatewayError;
  /** The cost, whichever target answers. */
  readonly bounds?: CostBounds;
  readonly heldNanoUsd?: bigint;
  /** Undefined without a caller. */
  readonly affordable?: Affordable;
};

export type ExplainServices = Pick<AdmissionServices, 'credits' | 'clock'> & Pick<AttemptServices, 'health'>;

type ExplainedCall<Services> = {
  readonly gateway: Services;
  readonly settings: GatewaySettings;
  /** The routes with the targets that an operator has taken out of use. */
  readonly wholeTable: Pick<RoutingTable, 'routeOf'>;
  readonly model: string;
  readonly interface: SampleInterface;
  readonly request: SampleRequest;
  /** Whose rights the call has. Undefined: nobody's limits apply. */
  readonly caller: ApiKey | undefined;
};

const nobody: ApiKey = { id: '', userId: '', userName: '', name: '', hint: '', createdAtMs: 0, strictTranslation: false };

/**
 * Plans a call with the functions of a real one, up to the point where it would be sent: routing, translation, prices
 * and holds. Nothing is sent and nothing is stored.
 */
export async function explainCall<Services extends ExplainServices>(
  call: ExplainedCall<Services>,
  findRoute: FindRoute<Services>,
): Promise<CallExplanation> {
  const { gateway, settings, wholeTable, model, request, caller } = call;
  const health = settings.retries.avoidFailing ? gateway.health : alwaysHealthy;
  const left = new Map<Target, LeftOut>();
  const placeOf = findPlaces(wholeTable.routeOf(model)?.tiersFor(isChatInterface(call.interface) ? call.interface : undefined) ?? []);
  const quoted: QuoteTarget<Services> = {
    gateway,
    settings,
    caller: caller ?? nobody,
    bytes: Buffer.from(JSON.stringify(request.body)),
    body: request.body,
    headers: request.headers,
    nowMs: gateway.clock.nowMs(),
    explained: { health, onLeftOut: (target, why) => left.set(target, why) },
  };
  const plan = async (): Promise<Omit<CallExplanation, 'leftOut'>> => {
    if (caller !== undefined) checkExpiry(caller, quoted.nowMs);
    const { bounds, heldNanoUsd, targets } = priceQuote(quoted, await findQuoted(findRoute, request.path)(quoted));
    const explained = targets.map(({ quoted: { target, notes }, expected, ...price }): ExplainedTarget => ({
      ...placeOf(target),
      availability: gateway.health.of(subjectOf(target)).availability(gateway.clock.monotonicMs(), caller?.userId),
      ...(isChatInterface(call.interface) && { passes: target.upstream.dialects.includes(call.interface) }),
      ...(notes !== undefined && { notes }),
      ...(expected.priceId !== undefined && { priceId: expected.priceId }),
      bounds: price.bounds,
      heldNanoUsd: price.heldNanoUsd,
    }));
    const affordable = caller === undefined ? {} : { affordable: await checkCredit(gateway, quoted, heldNanoUsd) };
    return { targets: explained, bounds, heldNanoUsd, ...affordable };
  };
  const planned = await plan().catch((refusal: unknown) => {
    if (refusal instanceof GatewayError) return { targets: [], refusal };
    throw refusal;
  });
  // If no target works, all are called all the same.
  for (const { target } of planned.targets) left.delete(target);
  const present = new Set(settings.routing.targetsOf(model));
  const out = (wholeTable.routeOf(model)?.targets ?? []).filter((target) => !present.has(target));
  return {
    ...planned,
    leftOut: [
      ...[...left].map(([target, why]) => ({ ...placeOf(target), why })),
      ...out.map((target) => ({ ...placeOf(target), why: { reason: 'taken-out' } as const })),
    ],
  };
}

/** The places of a model's targets. */
function findPlaces(tiers: readonly Tier[]): (target: Target) => Place {
  const places = new Map<Target, Place>();
  for (const [index, tier] of tiers.entries()) {
    const total = tier.reduce((sum, { weight }) => sum + weight, 0);
    for (const { target, weight } of tier) places.set(target, { target, tier: index + 1, share: weight / total });
  }
  return (target) => places.get(target) ?? { target };
}

import { GatewayError } from '../../../inference/gateway-error.ts';
import { type ModelKind, modelKinds } from '../../../inference/interfaces.ts';
import { servesKind, type UpstreamServices } from '../../../upstreams/upstream-services.ts';
import { mayCall } from '../../admission/check-caller.ts';
import type { AttemptServices, GatewaySettings } from '../services.ts';
import { alwaysHealthy } from './always-healthy.ts';
import { type RankedCall, rankTargets, unknownModel } from './rank-targets.ts';
import type { Target } from './target.ts';

/** What a call that is no chat needs of a target. */
export type Wanted = {
  readonly kind: ModelKind;
  /** Whether an upstream offers what the call needs. Absent: what all calls for models of the kind need. */
  readonly isOffered?: (services: UpstreamServices) => boolean;
  /** What such an upstream does, in words. Absent: what models of the kind do. */
  readonly does?: string;
};

/** A table of targets, and what is known of them. */
type Seen = Pick<RankedCall, 'table' | 'health' | 'nowMs' | 'random'>;

/** The targets as they are at the moment, for calls that are to be made. */
export function seeTargets(
  { health, clock, random }: Pick<AttemptServices, 'health' | 'clock' | 'random'>,
  { routing, retries }: Pick<GatewaySettings, 'routing' | 'retries'>,
): Seen {
  return { table: routing, health: retries.avoidFailing ? health : alwaysHealthy, nowMs: clock.monotonicMs(), random };
}

/** The targets that can do what a call wants that is no chat, best first; never none. @throws GatewayError */
export function rankSuitable(
  call: Seen & Pick<RankedCall, 'facts' | 'caller'> & Pick<RankedCall['request'], 'headers'>,
  { kind, isOffered = (services) => servesKind(services, kind), does = modelKinds[kind].does }: Wanted,
): readonly Target[] {
  const { table, facts, caller, headers } = call;
  const { requestedModel } = facts;
  if (!mayCall(caller, requestedModel)) throw unknownModel(requestedModel, table, (model) => mayCall(caller, model));
  const request = { operation: 'generate', body: {}, headers } as const;
  const targets = rankTargets({ ...call, dialect: undefined, request, kind }).filter(({ upstream }) => isOffered(upstream.services));
  if (targets.length > 0) return targets;
  throw new GatewayError('no_suitable_target', `no upstream of ${requestedModel.slice(0, 256)} ${does}`, { param: 'model' });
}

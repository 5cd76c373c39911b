import { modelKindsOf } from '../../../upstreams/model-kind-rules.ts';
import { upstreamVendors } from '../../../upstreams/registry.ts';
import { servesKind } from '../../../upstreams/upstream-services.ts';
import type { GatewaySettings } from '../../attempts/services.ts';
import type { Moderation } from './read-moderation.ts';

/**
 * The same request for the configured chat model. Undefined if an upstream has the moderation model, or if the model
 * is none of the vendor's: an unknown name stays unknown.
 */
export function findStandIn(
  { routing, moderations }: Pick<GatewaySettings, 'routing' | 'moderations'>,
  moderation: Moderation,
): Moderation | undefined {
  const { requestedModel } = moderation.facts;
  const standIn = moderations?.standIn;
  if (standIn === undefined) return undefined;
  const isOffered = routing.targetsOf(requestedModel).some(({ upstream }) => servesKind(upstream.services, 'moderation'));
  const isVendors = modelKindsOf(upstreamVendors.openai, requestedModel)?.includes('moderation') === true;
  if (requestedModel !== standIn && (isOffered || !isVendors)) return undefined;
  return { ...moderation, facts: { ...moderation.facts, requestedModel: standIn } };
}

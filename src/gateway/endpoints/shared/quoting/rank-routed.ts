import type { CallFacts } from '../../../../inference/call-facts.ts';
import { GatewayError } from '../../../../inference/gateway-error.ts';
import { mayCall } from '../../../admission/check-caller.ts';
import { alwaysHealthy } from '../../../attempts/routing/always-healthy.ts';
import type { ServedKind } from '../../../attempts/routing/model-kind.ts';
import { notAChat } from '../../../attempts/routing/not-a-chat.ts';
import { rankTargets, unknownModel } from '../../../attempts/routing/rank-targets.ts';
import type { Target } from '../../../attempts/routing/target.ts';
import type { AttemptServices } from '../../../attempts/services.ts';
import type { Asked } from './quoted-call.ts';

/**
 * The targets of a call that is no chat, best first, however they are at the moment; never none.
 * @param does what such a target does, in words
 * @throws GatewayError
 */
export function rankRouted(
  { gateway, settings, caller, headers }: Asked<Pick<AttemptServices, 'clock'>>,
  facts: CallFacts,
  kind: ServedKind,
  isSuitable: (target: Target) => boolean,
  does: string,
): readonly Target[] {
  const { requestedModel } = facts;
  if (!mayCall(caller, requestedModel)) throw unknownModel(requestedModel, settings.routing, (model) => mayCall(caller, model));
  const request = { operation: 'generate', body: {}, headers } as const;
  const nowMs = gateway.clock.monotonicMs();
  const call = { table: settings.routing, dialect: notAChat, facts, request, caller, kind, health: alwaysHealthy, nowMs, random: () => 0 };
  const targets = rankTargets(call).filter(isSuitable);
  if (targets.length > 0) return targets;
  throw new GatewayError('no_suitable_target', `no upstream of ${requestedModel.slice(0, 256)} ${does}`, { param: 'model' });
}

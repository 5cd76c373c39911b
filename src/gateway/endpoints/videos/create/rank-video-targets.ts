import type { CallFacts } from '../../../../inference/call-facts.ts';
import { GatewayError } from '../../../../inference/gateway-error.ts';
import { mayReach, type RankedCall, rankTargets, seeTargets, unknownModel } from '../../../attempts/routing/rank-targets.ts';
import type { RoutingTable } from '../../../attempts/routing/routing-table.ts';
import type { Target } from '../../../attempts/routing/target.ts';
import type { VideoContext } from '../video-context.ts';
import { isKept, type VideoSource } from './video-source.ts';

/** The contract's only model name, and the vendor's model that it stands for unless the configuration has the name. */
export const contractModel = 'vendor-imagine-video';
const contractModelMeans = 'grok-imagine-video';

/** The name by which routing finds a model. */
export function routedName(table: Pick<RoutingTable, 'routeOf'>, requestedModel: string): string {
  return requestedModel === contractModel && table.routeOf(requestedModel) === undefined ? contractModelMeans : requestedModel;
}

/**
 * The targets that can make a video, best first. Targets that store the source video come before all others.
 * @throws GatewayError
 */
export function rankVideoTargets(
  {
    gateway,
    settings,
    caller,
    request,
    onLeftOut,
  }: Pick<VideoContext, 'gateway' | 'settings' | 'caller'> &
    Pick<RankedCall, 'onLeftOut'> & { readonly request: Pick<VideoContext['request'], 'headers'> },
  facts: CallFacts,
  source: VideoSource | undefined,
): readonly Target[] {
  const table = settings.routing;
  const headers = request.headers as Readonly<Record<string, string | undefined>>;
  const targets = rank({ requestedModel: facts.requestedModel, table, caller }, () =>
    rankTargets({
      ...seeTargets(gateway, settings),
      dialect: undefined,
      facts: { ...facts, requestedModel: routedName(table, facts.requestedModel) },
      request: { operation: 'generate', body: {}, headers },
      caller,
      kind: 'video',
      onLeftOut,
    }),
  ).filter(({ upstream }) => upstream.services.videos !== undefined);
  if (targets.length === 0)
    throw new GatewayError('no_suitable_target', `no upstream of ${facts.requestedModel.slice(0, 256)} makes videos`, { param: 'model' });
  if (source === undefined) return targets;
  const keeps = ({ upstream }: Target): boolean => isKept(source.task, upstream.id, upstream.services.videos);
  return [...targets.filter(keeps), ...targets.filter((target) => !keeps(target))];
}

/** Errors use the client's name of the model. */
function rank(
  { requestedModel, table, caller }: Pick<RankedCall, 'table' | 'caller'> & { readonly requestedModel: string },
  work: () => readonly Target[],
): readonly Target[] {
  try {
    return work();
  } catch (error) {
    if (error instanceof GatewayError && error.code === 'model_not_found')
      throw unknownModel(requestedModel, table, (model) => mayReach(caller, table, model));
    throw error;
  }
}

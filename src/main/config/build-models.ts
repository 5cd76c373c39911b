import type { ConfiguredModel } from '../../gateway/attempts/routing/routing-table.ts';
import { type Target, type TimeoutRule, type Upstream, upstreamAt } from '../../gateway/attempts/routing/target.ts';
import { buildToolModes } from './build-tools.ts';
import type { Config } from './config-schema.ts';
import type { ConfiguredTarget } from './routing-schema.ts';

type ModelConfig = NonNullable<Config['models']>[string];

/** The models of a configuration. Targets of unknown upstreams are omitted; `findBrokenTargets` reports them. */
export function buildModels(
  config: Config,
  upstreams: ReadonlyMap<string, readonly Upstream[]>,
  timeoutsOf: TimeoutRule,
): readonly ConfiguredModel[] {
  return Object.entries(config.models ?? {}).map(([name, model]) => ({
    name,
    targets: model.targets.flatMap((target, index) =>
      buildTargets(name, model, upstreams.get(target.upstream) ?? [], { weight: 1, priority: index + 1, ...target }, timeoutsOf),
    ),
    ordered: model.targets.some(({ priority }) => priority !== undefined),
    ...(model.balance === undefined ? {} : { balance: model.balance }),
    ...(model.tools === undefined ? {} : { toolModes: buildToolModes(model.tools) }),
    ...(model.structuredOutput?.check === undefined ? {} : { replyCheck: model.structuredOutput.check }),
    ...(model.stopSequences === undefined ? {} : { stopSequences: model.stopSequences }),
    ...(model.responseState === undefined ? {} : { responseState: model.responseState }),
  }));
}

/** Returns one target for each credential of its upstream. Together they have the weight of the configured target. */
function buildTargets(
  name: string,
  model: ModelConfig,
  upstreams: readonly Upstream[],
  configured: ConfiguredTarget & { readonly priority: number; readonly weight: number },
  timeoutsOf: TimeoutRule,
): readonly Target[] {
  const upstreamModel = configured.model ?? name;
  return upstreams.map((shared) => {
    const upstream = upstreamAt(shared, upstreamModel, configured.is);
    const timeouts = timeoutsOf(upstream, upstreamModel, { ...model.timeouts, ...configured.timeouts });
    return {
      upstream,
      upstreamModel,
      ...(configured.is === undefined ? {} : { is: configured.is }),
      priority: configured.priority,
      weight: configured.weight / upstreams.length,
      ...(configured.when === undefined ? {} : { when: configured.when }),
      ...(timeouts === undefined ? {} : { timeouts }),
      ...(model.kind === undefined ? {} : { kind: model.kind }),
      ...(model.limits === undefined ? {} : { model: { name, limits: model.limits } }),
    };
  });
}

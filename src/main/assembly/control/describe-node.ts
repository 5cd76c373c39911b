import { credentialNameOf, type DescribedUpstream, type NodeDescription } from '../../../control/nodes/node-state.ts';
import type { GatewaySettings } from '../../../gateway/attempts/services.ts';
import { upstreamVendors } from '../../../upstreams/registry.ts';
import type { UpstreamSource } from '../../config/build-settings.ts';
import { type Config, configSchema, upstreamSchema } from '../../config/config-schema.ts';
import { describeModels } from './describe-models.ts';
import type { ToolOffers } from './describe-tools.ts';
import { describeValues, readWritten, type WrittenConfig } from '../../config/describe-values.ts';

type DescribedParts = {
  readonly config: Config;
  /** The text of the configuration file. */
  readonly text: string;
  readonly source: UpstreamSource;
  readonly settings: GatewaySettings;
  readonly offeredTools: ToolOffers['offered'];
  /** At which time models must have a price. */
  readonly nowMs: number;
};

/** Describes what a gateway uses, without secrets. */
export function describeNode({ config, text, source, settings, offeredTools, nowMs }: DescribedParts): NodeDescription {
  const written = readWritten(text);
  const tools = { offered: offeredTools, defaults: settings.tools?.modes ?? {} };
  const { upstreams: _upstreams, models: _models, ...others } = configSchema.properties;
  return {
    upstreams: Object.keys(source.upstreams).map((name) => describeUpstream(name, source, settings, written)),
    models: describeModels(settings.routing, { config, tools, nowMs }).map((model) =>
      model.isNamed ? { ...model, isFromLayer: written.find(['models', model.name]) === undefined } : model,
    ),
    config: describeValues({ properties: others }, config, { written, path: [], from: 'environment' }).map((value) =>
      // A layer has no other values of these.
      value.from === 'environment' && value.variable === undefined && value.path.startsWith('limits.perKey.')
        ? { ...value, from: 'layer' as const }
        : value,
    ),
  };
}

function describeUpstream(
  name: string,
  { type, upstreams, fromLayer = [] }: UpstreamSource,
  { routing }: GatewaySettings,
  written: WrittenConfig,
): DescribedUpstream {
  const own = routing.upstreams.filter(({ id }) => id === name);
  const [first] = own;
  const from = fromLayer.includes(name) ? 'layer' : type;
  return {
    name,
    vendor: first?.vendor.id ?? '',
    title: first?.vendor.title ?? '',
    address: first === undefined ? '' : first.origin + first.basePath,
    dialects: first?.dialects ?? [],
    credentials: own.map(({ credentialId }) => credentialNameOf(credentialId)),
    settings: describeValues(upstreamSchema, upstreams[name], { written, path: ['upstreams', name], from }).map((value) => {
      // A vendor whose key is in the environment is an upstream without a line in the file.
      if (from !== 'environment' || value.path !== `upstreams.${name}.apiKey`) return value;
      const variable = upstreamVendors[first?.vendor.id as keyof typeof upstreamVendors]?.keyVariables[0];
      return variable === undefined ? value : { ...value, variable };
    }),
  };
}

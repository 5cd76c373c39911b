import Type from 'typebox';

import type { LayerDocument, LayerProblem } from '../../control/layers/config-layer.ts';
import { findReference } from '../../control/layers/layer-secrets.ts';
import { parseProxyAddress } from '../../platform/http/proxy-address.ts';
import { compileCheckLater } from '../../platform/schema/compile-check.ts';
import { describeProblems } from '../../platform/schema/describe-problems.ts';
import { upstreamVendors } from '../../upstreams/registry.ts';
import { type Config, configSchema, type ConfiguredUpstream } from './config-schema.ts';
import { credentialsOf } from './credentials.ts';
import { findUpstreamsAndModelsProblems, wordConfigProblem } from './read-config.ts';

const { upstreams, models, limits } = configSchema.properties;

/** The parts of the configuration that a layer may have. */
const layerSchema = Type.Object(
  {
    upstreams,
    models,
    limits: Type.Optional(Type.Object({ perKey: limits.properties.perKey }, { additionalProperties: false })),
  },
  { additionalProperties: false },
);

type LayerConfig = Pick<Config, 'upstreams' | 'models'> & { readonly limits?: Pick<NonNullable<Config['limits']>, 'perKey'> };

const isLayer = compileCheckLater(layerSchema);

/** Upstreams that exist beside those of a layer: of the file, or of the environment. */
type OtherUpstreams = { readonly settings: NonNullable<Config['upstreams']>; readonly names: readonly string[] };

const problemsMax = 20;

/** The parts of a value that no layer may have. */
export function findShapeProblems(value: unknown): readonly LayerProblem[] {
  if (isLayer(value)) return [];
  return describeProblems(layerSchema, value, problemsMax).map((problem) => ({ path: problem.path, message: wordConfigProblem(problem) }));
}

/** The problems of a layer beside the upstreams of a file, an environment or the simulator. */
export function findLayerProblems(value: unknown, others: OtherUpstreams): readonly LayerProblem[] {
  const shape = findShapeProblems(value);
  if (shape.length > 0) return shape;
  const layer = value as LayerConfig;
  const all = { ...layer.upstreams, ...others.settings };
  const names = [...new Set([...Object.keys(layer.upstreams ?? {}), ...others.names])];
  return [
    ...Object.entries(layer.upstreams ?? {}).flatMap(([name, upstream]) => [
      ...findAddressProblems(name, upstream),
      ...findCredentials(name, upstream),
    ]),
    ...Object.entries(layer.models ?? {}).flatMap(([name, model]) => findPrices(name, model)),
    ...findReferences(value, []),
    ...findUpstreamsAndModelsProblems(layer, all, names),
    ...(names.length === 0 ? findTargets(layer) : []),
  ];
}

/**
 * The identity of a machine in a cloud belongs to that machine. An upstream of a layer could send its tokens to an
 * address of its choice. Secrets of a `credential` would not be sealed either: only keys are.
 */
function findCredentials(name: string, upstream: ConfiguredUpstream): readonly LayerProblem[] {
  if (upstream.credential !== undefined) {
    const message = 'is not possible in a layer; such an upstream belongs into the file of each gateway';
    return [{ path: ['upstreams', name, 'credential'], message }];
  }
  const takesMachine = credentialsOf(upstream).length === 0 && upstreamVendors[upstream.vendor].usualCredential !== undefined;
  const message = 'needs an apiKey in a layer: the credential of a machine is used by upstreams of its own file only';
  return takesMachine ? [{ path: ['upstreams', name], message }] : [];
}

/** A layer shows addresses to everybody who may read it, so they must not contain a secret. */
function findAddressProblems(name: string, { baseUrl, proxy }: ConfiguredUpstream): readonly LayerProblem[] {
  const url = baseUrl === undefined ? null : URL.parse(baseUrl);
  const hasMore = url !== null && (url.username !== '' || url.password !== '' || url.search !== '' || url.hash !== '');
  const hasLogin = proxy !== undefined && (proxy.includes('@') || parseProxyAddress(proxy)?.authorization !== undefined);
  return [
    ...(hasMore
      ? [{ path: ['upstreams', name, 'baseUrl'], message: 'must have no user, password, query or fragment; a credential is an apiKey' }]
      : []),
    ...(hasLogin
      ? [{ path: ['upstreams', name, 'proxy'], message: 'must have no user and password; such a proxy belongs into the file' }]
      : []),
  ];
}

/** Prices have a publication of their own, with its own permission, history and receipts. */
function findPrices(name: string, { price }: NonNullable<LayerConfig['models']>[string]): readonly LayerProblem[] {
  return price === undefined ? [] : [{ path: ['models', name, 'price'], message: 'is not possible in a layer; publish a price book' }];
}

/**
 * The values of the environment belong to the machines of the gateways, and an upstream of a layer could send them
 * away.
 */
function findReferences(value: unknown, path: readonly (string | number)[]): readonly LayerProblem[] {
  if (typeof value === 'string') {
    const message = findReference(value);
    return message === undefined ? [] : [{ path, message }];
  }
  if (Array.isArray(value)) return value.flatMap((member: unknown, index) => findReferences(member, [...path, index]));
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([name, member]) => findReferences(member, [...path, name]));
}

/** Models without any upstream, which a file may have if the environment has upstreams. */
function findTargets({ models: named = {} }: LayerConfig): readonly LayerProblem[] {
  return Object.entries(named).map(([name]) => ({ path: ['models', name], message: 'there is no upstream; name one in upstreams' }));
}

/** A configuration with a layer below it. */
export type AppliedLayer = {
  /** With the models and the limits of the layer that the file does not have. */
  readonly config: Config;
  /** The upstreams of the layer. Those of the file or the environment come first. */
  readonly upstreams: NonNullable<Config['upstreams']>;
  /** Paths of models and limits of the layer that the file overrides: `models.fast`. */
  readonly hidden: readonly string[];
};

/** Joins a file and a checked layer. The file comes first, name by name. */
export function applyLayer(file: Config, document: LayerDocument): AppliedLayer {
  // Checked by findLayerProblems.
  const layer = document as LayerConfig;
  const perKey = { ...layer.limits?.perKey, ...file.limits?.perKey };
  const hiddenOf = (part: string, below: object = {}, above: object = {}): readonly string[] =>
    Object.keys(below)
      .filter((name) => Object.hasOwn(above, name))
      .map((name) => `${part}.${name}`);
  return {
    config: {
      ...file,
      ...((layer.models ?? file.models) !== undefined && { models: { ...layer.models, ...file.models } }),
      ...(Object.keys(perKey).length > 0 && { limits: { ...file.limits, perKey } }),
    },
    upstreams: layer.upstreams ?? {},
    hidden: [...hiddenOf('models', layer.models, file.models), ...hiddenOf('limits.perKey', layer.limits?.perKey, file.limits?.perKey)],
  };
}

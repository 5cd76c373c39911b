import type { LayerDesk } from '../../admin/resources/config/layer-desk.ts';
import { type LayerDocument, LayerError } from '../../control/layers/config-layer.ts';
import { readDocument } from '../../control/layers/layer-seal.ts';
import type { DescribedUpstream, NodeState, ValueSource } from '../../control/nodes/node-state.ts';
import type { PublishedPriceBook } from '../../billing/price-books/price-book-store.ts';
import type { UpstreamClient } from '../../platform/http/upstream-client.ts';
import { upstreamVendors } from '../../upstreams/registry.ts';
import { applyLayer, findLayerProblems } from '../config/apply-layer.ts';
import { buildSettings, findModelLists, findOwnUpstreams } from '../config/build-settings.ts';
import type { Config } from '../config/config-schema.ts';
import { exportConfigFile } from '../config/export-config.ts';
import { loadConfig, type LoadedConfig } from '../config/load-config.ts';
import { ConfigError } from '../config/config-error.ts';
import type { Environment } from '../environment.ts';

type Upstreams = NonNullable<Config['upstreams']>;

/** Checks send no request. */
const noClient: UpstreamClient = {
  send: () => {
    throw new Error('a check of the configuration sends no request');
  },
  close: () => Promise.resolve(),
};

/**
 * Layers as gateways with the configuration of this environment use them. Variables that this program does not have
 * and secrets count as set, because the credentials of vendors belong to the gateways.
 * @param byDefault whether this program publishes layers if its file does not say so
 */
export function createLayerDesk({ configPath, variable }: Pick<Environment, 'configPath' | 'variable'>, byDefault: boolean): LayerDesk {
  const load = (published?: PublishedPriceBook): LoadedConfig => {
    try {
      return loadConfig(configPath, { variable: (name) => variable(name) ?? `\${${name}}` }, { published });
    } catch (cause) {
      if (!(cause instanceof ConfigError)) throw cause;
      throw new LayerError('off', `the configuration file of this program is invalid, so that no layer can be checked: ${cause.message}`, {
        cause,
      });
    }
  };
  return {
    isOn: () => load().config.console?.editConfig ?? byDefault,
    check: (document, { published, nodes }) => {
      const loaded = load(published);
      const others = findOthers(loaded.config, variable, nodes, hasUpstreams(document));
      const problems = findLayerProblems(document, others);
      if (problems.length > 0) return { problems, lostModels: [] };
      // It has no problem, so it has the form of a layer.
      return { problems, lostModels: findLost(loaded, document as LayerDocument, others.settings, nodes) };
    },
    exportFile: (layer) =>
      exportConfigFile(loadText(load()), layer === undefined ? undefined : { number: layer.number, document: readDocument(layer) }, {
        environmentUpstreams: findOwnUpstreams({}, variable)?.upstreams ?? {},
        withSecrets: false,
      }),
  };
}

const loadText = ({ files }: LoadedConfig): string => files.text;

function hasUpstreams(document: unknown): boolean {
  return typeof document === 'object' && document !== null && 'upstreams' in document && Object.keys(document.upstreams ?? {}).length > 0;
}

const sourceOf = ({ name, settings }: DescribedUpstream): ValueSource | undefined =>
  settings.find(({ path }) => path === `upstreams.${name}.vendor`)?.from;

/** The upstreams beside those of a layer: of this program's file and environment, and those that gateways report. */
function findOthers(
  config: Config,
  variable: Environment['variable'],
  nodes: readonly NodeState[],
  layerHasUpstreams: boolean,
): { readonly settings: Upstreams; readonly names: readonly string[] } {
  const own = findOwnUpstreams(config, variable)?.upstreams ?? {};
  const reported = nodes.flatMap(({ description }) => description.upstreams);
  const real = reported.filter((upstream) => ['file', 'environment'].includes(sourceOf(upstream) ?? ''));
  const settings = { ...settingsOf(real), ...own };
  // The simulated vendors answer only if there is nothing else.
  const all =
    layerHasUpstreams || Object.keys(settings).length > 0
      ? settings
      : settingsOf(reported.filter((each) => sourceOf(each) === 'simulated'));
  return { settings: all, names: Object.keys(all) };
}

/** What routing needs to know about upstreams of other machines. */
function settingsOf(upstreams: readonly DescribedUpstream[]): Upstreams {
  return Object.fromEntries(
    upstreams.flatMap(({ name, vendor, address }) => {
      const known = Object.values(upstreamVendors).find(({ id }) => id === vendor);
      return known === undefined ? [] : [[name, { vendor: known.id, baseUrl: address }] as const];
    }),
  );
}

/** Models that have targets in a running gateway now, and would have none. */
function findLost(loaded: LoadedConfig, document: LayerDocument, others: Upstreams, nodes: readonly NodeState[]): readonly string[] {
  const { config, upstreams: own } = applyLayer(loaded.config, document);
  const upstreams = { ...own, ...others };
  const source = { type: 'file', upstreams } as const;
  const { routing } = buildSettings({ config, source, priceBookData: loaded.priceBookData, pools: () => noClient, configuredAtMs: 0 });
  // Their models are only known to gateways.
  const listed = new Set(findModelLists(config, source).map(({ upstreamId }) => upstreamId));
  const present = nodes.flatMap(({ description }) => description.models).filter(({ targets }) => targets.length > 0);
  const lost = present.filter(
    ({ name, isNamed, targets }) =>
      routing.targetsOf(name).length === 0 &&
      (isNamed || !targets.some(({ upstream }) => listed.has(upstream) && Object.hasOwn(upstreams, upstream))),
  );
  return [...new Set(lost.map(({ name }) => name))];
}

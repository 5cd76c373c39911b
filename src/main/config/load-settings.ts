import type { PublishedPriceBook } from '../../billing/price-books/price-book-store.ts';
import type { ConfigLayer } from '../../control/layers/config-layer.ts';
import type { GatewaySettings } from '../../gateway/attempts/services.ts';
import type { Clock } from '../../platform/clock.ts';
import type { Logger } from '../../platform/log.ts';
import { findLayerProblems } from './apply-layer.ts';
import {
  buildSettings,
  type ClientPools,
  type CredentialSources,
  findBrokenTargets,
  findUpstreams,
  type UpstreamSource,
} from './build-settings.ts';
import type { SecretBook } from '../../upstreams/credentials/secrets/secret-book.ts';
import type { Config, ConfiguredUpstream } from './config-schema.ts';
import { type ConfigFiles, layerProblems, type LayerUse, loadConfig, type LoadedConfig } from './load-config.ts';
import { ConfigError } from './config-error.ts';

export type LayerSource = LayerUse & {
  /** Returns the newest layer of the store. It is read as often as the files. */
  readonly newest: () => ConfigLayer | undefined;
  /** The layer of the last run: used at the start if the newest one cannot be. */
  readonly kept: ConfigLayer | undefined;
};

/** What loading a configuration needs. */
export type LoadOptions = {
  readonly path: string | undefined;
  readonly variable: (name: string) => string | undefined;
  /** The secrets that the file refers to. Absent: none is read. */
  readonly secrets?: SecretBook | undefined;
  readonly simulated: Readonly<Record<string, ConfiguredUpstream>> | undefined;
  readonly clock: Pick<Clock, 'nowMs'>;
  readonly logger: Pick<Logger, 'warn' | 'error'>;
  /** Files of another process, or files that were valid before. Used if the present files are invalid at start. */
  readonly lastGood?: Partial<ConfigFiles> | undefined;
  /** Returns the newest price book of the store. It is read as often as the files. */
  readonly published?: (() => PublishedPriceBook | undefined) | undefined;
  /** Layers of the store. Default: none are used. */
  readonly layers?: LayerSource | undefined;
};

/** How upstreams are reached: their connections, the sources of their credentials, and the time of signatures. */
export type UpstreamReach = {
  readonly pools: ClientPools;
  readonly credentials?: CredentialSources | undefined;
  readonly signingNowMs?: (() => number) | undefined;
};

export type InForce = { readonly source: UpstreamSource; readonly settings: GatewaySettings };

/**
 * Builds the settings.
 * @throws ConfigError if there is no upstream, or if a target names an unknown one; LayerError if the layer is at fault
 */
function build(loaded: LoadedConfig, options: LoadOptions, reach: UpstreamReach): InForce {
  const { path, variable, clock, logger } = options;
  const { config, layer } = loaded;
  const source = findUpstreams(config, variable, options.simulated, layer?.upstreams);
  if (source === undefined) {
    throw new ConfigError(path ?? 'weir.yaml', [
      {
        line: 1,
        column: 1,
        path: 'upstreams',
        message: 'there is no upstream: name one, or set a vendor key such as OPENAI_API_KEY in the environment',
      },
    ]);
  }
  if (layer !== undefined) {
    const problems = findLayerProblems(layer.document, { settings: source.upstreams, names: Object.keys(source.upstreams) });
    if (problems.length > 0) throw layerProblems(layer.number, problems);
  }
  const [broken] = findBrokenTargets(config, source);
  if (broken !== undefined) throw new ConfigError(path ?? 'weir.yaml', [{ line: 1, column: 1, path: '', message: broken }]);
  const settings = buildSettings({
    config,
    source,
    priceBookData: loaded.priceBookData,
    ...reach,
    secrets: options.secrets,
    configuredAtMs: clock.nowMs(),
  });
  warnAboutUnpriced(settings, config, logger);
  return { source, settings };
}

/** A configuration that can be used. */
export type Attempt = { readonly loaded: LoadedConfig; readonly inForce: InForce };
/** A layer that cannot be used, and why. */
export type RefusedLayer = { readonly layer: ConfigLayer | undefined; readonly reason: string };

export const reasonOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

/** Loads files with one layer. @throws ConfigError, LayerError */
export function loadSettings(files: Partial<ConfigFiles>, options: LoadOptions, reach: UpstreamReach): Attempt {
  const { path, layers } = options;
  const loaded = loadConfig(path, options, files, layers);
  return { loaded, inForce: build(loaded, options, reach) };
}

/**
 * Loads the files with the newest layer, or with another one if the newest one is at fault.
 * @param others layers that were valid before, and undefined for none
 * @throws the error of the newest layer if no other one helps
 */
export function loadWithLayers(
  files: Partial<ConfigFiles>,
  others: readonly (ConfigLayer | undefined)[],
  options: LoadOptions,
  reach: UpstreamReach,
): Attempt & { readonly refused?: RefusedLayer } {
  try {
    return loadSettings(files, options, reach);
  } catch (error) {
    for (const layer of others.filter((other) => other !== files.layer)) {
      try {
        return { ...loadSettings({ ...files, layer }, options, reach), refused: { layer: files.layer, reason: reasonOf(error) } };
      } catch {
        // The first error says what is wrong; the next one may help.
      }
    }
    throw error;
  }
}

/** The first configuration of a process. @throws ConfigError */
export function loadFirst(options: LoadOptions, reach: UpstreamReach): Attempt & { readonly refused?: RefusedLayer } {
  const { lastGood, logger, layers } = options;
  const layer = layers?.newest();
  try {
    return loadWithLayers({ published: options.published?.(), layer }, [layers?.kept, undefined], options, reach);
  } catch (error) {
    if (lastGood === undefined) throw error;
    logger.error({ err: error }, 'configuration rejected at start');
    return loadWithLayers({ layer, ...lastGood }, [layers?.kept, undefined], options, reach);
  }
}

/** Calls of a model without a price are booked at zero. The operator must learn this before the statistics show it. */
function warnAboutUnpriced(settings: GatewaySettings, config: Config, logger: Pick<Logger, 'warn'>): void {
  const { priceBook } = settings.routing;
  const unpriced = Object.entries(config.models ?? {})
    .filter(
      ([name, model]) =>
        model.price === undefined &&
        !settings.routing.targetsOf(name).some(({ upstream, upstreamModel }) => priceBook.lists(upstream.vendor.id, upstreamModel)),
    )
    .map(([name]) => name);
  if (unpriced.length > 0) logger.warn({ models: unpriced }, 'models without a price found');
}

import type { PublishedPriceBook } from '../../billing/price-books/price-book-store.ts';
import type { PriceBasis } from '../../billing/rating/price-basis.ts';
import type { GatewaySettings } from '../../gateway/attempts/services.ts';
import type { Clock } from '../../platform/clock.ts';
import type { UpstreamClient } from '../../platform/http/upstream-client.ts';
import type { Logger } from '../../platform/log.ts';
import { createModelDiscovery, type ModelDiscoveryOptions } from '../assembly/discovery/model-discovery.ts';
import type { EnvironmentProxies } from '../egress/environment-proxies.ts';
import { openClient } from '../egress/open-client.ts';
import type { ModelListSource } from '../assembly/discovery/fetch-model-list.ts';
import { priceBasisOf } from './build-price-book.ts';
import {
  buildSettings,
  type ClientPools,
  findBrokenTargets,
  findModelLists,
  findUpstreams,
  type UpstreamSource,
} from './build-settings.ts';
import type { Config, ConfiguredUpstream } from './config-schema.ts';
import { type ConfigFiles, loadConfig, type LoadedConfig, readConfigFiles } from './load-config.ts';
import { ConfigError } from './read-config.ts';

/** The configuration in force. */
export type LiveSettings = {
  readonly settings: () => GatewaySettings;
  readonly config: () => Config;
  readonly source: () => UpstreamSource;
  /** The text of the configuration file in force. */
  readonly text: () => string;
  /**
   * Reads the files and requests model lists now, as on SIGHUP. Returns whether a new configuration is in force.
   * An invalid one is logged and changes nothing.
   */
  readonly reload: () => boolean;
  /** Why the present files are not in force, in a sentence; undefined if they are. */
  readonly problem: () => string | undefined;
  readonly close: () => Promise<void>;
};

export type LiveSettingsOptions = {
  readonly path: string | undefined;
  readonly variable: (name: string) => string | undefined;
  /** The proxies of the environment. Default: none. */
  readonly proxies?: EnvironmentProxies;
  readonly simulated: Readonly<Record<string, ConfiguredUpstream>> | undefined;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Files of another process, or files that were valid before. Used if the present files are invalid at start. */
  readonly lastGood?: Partial<ConfigFiles> | undefined;
  /** Returns the newest price book of the store. It is read as often as the files. */
  readonly published?: (() => PublishedPriceBook | undefined) | undefined;
  /** Called with each configuration that comes into force, and its prices. */
  readonly onInForce?: ((files: ConfigFiles, prices: PricesInForce) => void) | undefined;
  /** Time between two reads of the files. File watchers do not notice when a mounted configuration is swapped. */
  readonly pollMs: number;
  /** Times of model discovery. ModelDiscoveryOptions has the defaults. */
  readonly discovery?: Pick<ModelDiscoveryOptions, 'refreshMs' | 'retryMs' | 'timeoutMs'>;
  /** How long replaced connections stay open for calls that began before. Default: longest time of a request. */
  readonly retireAfterMs?: number;
};

/** A price version and the basis that it was computed from. */
type PricesInForce = { readonly version: string; readonly basis: PriceBasis };

/** A call reads its settings before its body arrives. Its connections must still be open afterwards. */
const retireAfterMs = 330_000;

const upstreamHeaderBytesMax = 64 * 1024;

/** Connection pools by origin and the way to it. They stay open while a configuration in force uses them. */
function createPools(proxies: EnvironmentProxies): {
  readonly pools: ClientPools;
  readonly retire: (used: ReadonlySet<UpstreamClient>) => Promise<void>;
} {
  const clients = new Map<string, UpstreamClient>();
  return {
    pools: (origin, connectTimeoutMs, { proxy, http2 }) => {
      const key = JSON.stringify([origin, connectTimeoutMs, proxy, http2]);
      const options = { origin, connectTimeoutMs, headerBytesMax: upstreamHeaderBytesMax };
      return clients.getOrInsertComputed(key, () => openClient(options, { proxy, http2 }, proxies));
    },
    retire: async (used) => {
      const unused = [...clients].filter(([, client]) => !used.has(client));
      for (const [key] of unused) clients.delete(key);
      await Promise.all(unused.map(([, client]) => client.close()));
    },
  };
}

type InForce = { readonly source: UpstreamSource; readonly settings: GatewaySettings };

/** Builds the settings. @throws ConfigError if there is no upstream, or if a target names an unknown one */
function build(loaded: LoadedConfig, options: LiveSettingsOptions, pools: ClientPools): InForce {
  const { path, variable, clock, logger } = options;
  const source = findUpstreams(loaded.config, variable, options.simulated);
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
  const [broken] = findBrokenTargets(loaded.config, source);
  if (broken !== undefined) throw new ConfigError(path ?? 'weir.yaml', [{ line: 1, column: 1, path: '', message: broken }]);
  const settings = buildSettings({
    config: loaded.config,
    source,
    priceBookData: loaded.priceBookData,
    pools,
    configuredAtMs: clock.nowMs(),
  });
  warnAboutUnpriced(settings, loaded.config, logger);
  return { source, settings };
}

function loadFirst(options: LiveSettingsOptions, pools: ClientPools): { readonly loaded: LoadedConfig; readonly inForce: InForce } {
  const { path, variable, lastGood, logger } = options;
  const loadAndBuild = (files: Partial<ConfigFiles>) => {
    const loaded = loadConfig(path, variable, files);
    return { loaded, inForce: build(loaded, options, pools) };
  };
  try {
    return loadAndBuild({ published: options.published?.() });
  } catch (error) {
    if (lastGood === undefined) throw error;
    logger.error({ err: error }, 'configuration rejected at start');
    return loadAndBuild(lastGood);
  }
}

/**
 * Loads the configuration and reloads it when its files change. An invalid configuration is logged with position and
 * reason, and the last good one stays in force. @throws ConfigError if the first load fails
 */
export function createLiveSettings(options: LiveSettingsOptions): LiveSettings {
  const { path, variable, logger } = options;
  const { pools, retire } = createPools(options.proxies ?? { direct: [] });
  let { loaded, inForce } = loadFirst(options, pools);
  reportInForce(loaded, inForce.settings, options);
  let lastBad: string | undefined;
  const discovery = createModelDiscovery({
    logger,
    onChange: () => {
      const { settings } = inForce;
      inForce = { ...inForce, settings: { ...settings, routing: settings.routing.withDiscovered(discovery.models()) } };
    },
    ...options.discovery,
  });
  discovery.watch(listSources(loaded.config, inForce));

  const look = (): boolean => {
    try {
      const files = readConfigFiles(path, loaded.config);
      const published = options.published?.();
      if (files.text === loaded.files.text && files.prices === loaded.files.prices && published === loaded.files.published) {
        lastBad = undefined;
        return false;
      }
      const next = loadConfig(path, variable, { published });
      const built = build(next, options, pools);
      discovery.watch(listSources(next.config, built));
      inForce = { ...built, settings: { ...built.settings, routing: built.settings.routing.withDiscovered(discovery.models()) } };
      loaded = next;
      reportInForce(loaded, inForce.settings, options);
      lastBad = undefined;
      setTimeout(() => {
        retire(new Set(inForce.settings.routing.upstreams.map(({ client }) => client.base ?? client))).catch((error: unknown) =>
          logger.warn({ err: error }, 'closing replaced upstream connections failed'),
        );
      }, options.retireAfterMs ?? retireAfterMs).unref();
      logger.info({ priceVersion: inForce.settings.routing.priceBook.version }, 'configuration reloaded');
      return true;
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      if (reason !== lastBad) logger.error({ reason }, 'configuration reload failed');
      lastBad = reason;
      return false;
    }
  };
  const timer = setInterval(look, options.pollMs);
  timer.unref();
  return {
    settings: () => inForce.settings,
    config: () => loaded.config,
    source: () => inForce.source,
    text: () => loaded.files.text,
    problem: () => lastBad,
    reload: () => {
      discovery.refresh();
      return look();
    },
    close: async () => {
      clearInterval(timer);
      discovery.close();
      await retire(new Set());
    },
  };
}

/** The lists of models, with the clients that calls of their upstreams use. */
function listSources(config: Config, { source, settings }: InForce): readonly ModelListSource[] {
  return findModelLists(config, source).flatMap((list) => {
    const client = settings.routing.upstreams.find(({ id }) => id === list.upstreamId)?.client;
    return client === undefined ? [] : [{ ...list, client }];
  });
}

function reportInForce(loaded: LoadedConfig, { routing }: GatewaySettings, { onInForce }: LiveSettingsOptions): void {
  onInForce?.(loaded.files, { version: routing.priceBook.version, basis: priceBasisOf(loaded.config, loaded.priceBookData) });
}

/** Calls of a model without a price are booked at zero. The operator must learn this before the statistics show it. */
function warnAboutUnpriced(settings: GatewaySettings, config: Config, logger: Logger): void {
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

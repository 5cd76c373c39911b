import type { PriceBasis } from '../../billing/rating/price-basis.ts';
import type { ConfigLayer } from '../../control/layers/config-layer.ts';
import type { LayerState } from '../../control/nodes/node-state.ts';
import type { GatewaySettings } from '../../gateway/attempts/services.ts';
import type { Clock } from '../../platform/clock.ts';
import type { Upstream } from '../../gateway/attempts/routing/target.ts';
import type { UpstreamClient } from '../../platform/http/upstream-client.ts';
import type { Logger } from '../../platform/log.ts';
import { createModelDiscovery, type ModelDiscovery, type ModelDiscoveryOptions } from '../assembly/discovery/model-discovery.ts';
import type { EnvironmentProxies } from '../egress/environment-proxies.ts';
import { openClient } from '../egress/open-client.ts';
import type { ModelListSource } from '../assembly/discovery/fetch-model-list.ts';
import { priceBasisOf } from './build-price-book.ts';
import { type ClientPools, type CredentialSources, findModelLists, type UpstreamSource } from './build-settings.ts';
import { type FollowedSecrets, followSecrets } from './follow-secrets.ts';
import { watchSource } from './watch-source.ts';
import { createCredentialSources } from '../egress/credential-sources.ts';
import type { Config } from './config-schema.ts';
import { type ConfigFiles, type LoadedConfig, readConfigFiles } from './load-config.ts';
import { type Attempt, type InForce, loadFirst, type LoadOptions, loadWithLayers, reasonOf, type RefusedLayer } from './load-settings.ts';

/** The configuration in force. */
export type LiveSettings = {
  readonly settings: () => GatewaySettings;
  readonly config: () => Config;
  readonly source: () => UpstreamSource;
  /** The text of the configuration file in force. */
  readonly text: () => string;
  /** The published layer, as it is used. */
  readonly layer: () => LayerState;
  /**
   * Reads the files and requests model lists now, as on SIGHUP. Returns whether a new configuration is in force.
   * An invalid one is logged and changes nothing.
   */
  readonly reload: () => boolean;
  /** The same without the lists of models, as happens by itself every second. */
  readonly look: () => boolean;
  /** Why the present files are not in force, in a sentence; undefined if they are. */
  readonly problem: () => string | undefined;
  readonly close: () => Promise<void>;
};

export type LiveSettingsOptions = LoadOptions & {
  /** The proxies of the environment. Default: none. */
  readonly proxies?: EnvironmentProxies;
  readonly clock: Clock;
  readonly logger: Logger;
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

/** How long connections to token services may take to be made. */
const tokenConnectMs = 3_000;

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

/** What upstreams reach their services with. It stays while a configuration in force uses it. */
type Reach = {
  readonly pools: ClientPools;
  readonly credentials: CredentialSources;
  readonly signingNowMs: () => number;
  /** Closes what these settings do not use; without settings, everything. */
  readonly retire: (inForce?: InForce) => Promise<void>;
};

/** @param upstreams those in force, which failures of a credential are about */
function createReach(
  { proxies = { direct: [] }, clock, variable, logger }: LiveSettingsOptions,
  upstreams: () => readonly Upstream[],
): Reach {
  const { pools, retire } = createPools(proxies);
  /** Connections to token services are separate, because they stay while sources are in use. */
  const tokens = createPools(proxies);
  const { open, retain } = createCredentialSources({
    clock,
    variable,
    clientOf: (origin, egress) => tokens.pools(origin, tokenConnectMs, egress),
    watch: (source) => watchSource(() => upstreams().filter(({ credential }) => credential === source()), { clock, logger }),
  });
  return {
    pools,
    credentials: open,
    signingNowMs: clock.nowMs,
    retire: async (inForce) => {
      const upstreams = inForce?.settings.routing.upstreams ?? [];
      await retain(new Set(upstreams.flatMap(({ credential }) => credential ?? [])));
      await Promise.all([
        retire(new Set(upstreams.map(({ client }) => client.base ?? client))),
        inForce === undefined ? tokens.retire(new Set()) : undefined,
      ]);
    },
  };
}

/** Closes connections and sources that the settings in force do not use. */
async function retireUnused({ retire }: Reach, inForce: InForce, logger: Pick<Logger, 'warn'>): Promise<void> {
  try {
    await retire(inForce);
  } catch (error) {
    logger.warn({ err: error }, 'closing replaced upstream connections failed');
  }
}

/** Settings with the models that upstreams list. */
function withModels({ source, settings }: InForce, discovery: Pick<ModelDiscovery, 'models'>): InForce {
  return { source, settings: { ...settings, routing: settings.routing.withDiscovered(discovery.models()) } };
}

/** What a look at the files and the store finds. */
function compareFiles(
  files: ConfigFiles,
  inForce: ConfigFiles,
  refused: RefusedLayer | undefined,
  secrets: Pick<FollowedSecrets, 'newVersion'>,
) {
  const newSecrets = secrets.newVersion();
  return {
    /** Present if a secret of the files has another value. */
    newSecrets,
    hasSameFiles:
      newSecrets === undefined && files.text === inForce.text && files.prices === inForce.prices && files.published === inForce.published,
    hasSameLayer: files.layer === inForce.layer,
    wasRefused: refused !== undefined && files.layer === refused.layer,
  };
}

/**
 * Loads the configuration and reloads it when its files or the layer change. An invalid one is logged with position and
 * reason, and the last good one stays in force. @throws ConfigError if the first load fails
 */
export function createLiveSettings(options: LiveSettingsOptions): LiveSettings {
  const { path, logger } = options;
  const [reach, secrets] = [createReach(options, () => inForce.settings.routing.upstreams), followSecrets(options)];
  const first = loadFirst(options, reach);
  let { loaded, inForce } = first;
  let refused: RefusedLayer | undefined;
  let lastBad: string | undefined;
  const refuse = (next: RefusedLayer | undefined): void => {
    if (next !== undefined && next.layer !== refused?.layer)
      logger.error({ layer: next.layer?.number, reason: next.reason, inForce: loaded.layer?.number }, 'configuration layer refused');
    refused = next;
  };
  refuse(first.refused);
  reportInForce(loaded, inForce.settings, options);
  const onChange = (): void => void (inForce = withModels(inForce, discovery));
  const discovery = createModelDiscovery({ logger, onChange, ...options.discovery });
  discovery.watch(listSources(loaded.config, inForce));

  const take = (next: Attempt): void => {
    discovery.watch(listSources(next.loaded.config, next.inForce));
    inForce = withModels(next.inForce, discovery);
    ({ loaded } = next);
    reportInForce(loaded, inForce.settings, options);
    setTimeout(() => void retireUnused(reach, inForce, logger), options.retireAfterMs ?? retireAfterMs).unref();
    logger.info({ priceVersion: inForce.settings.routing.priceBook.version, layer: loaded.layer?.number }, 'configuration reloaded');
  };

  const look = (): boolean => {
    try {
      const files = { ...readConfigFiles(path, loaded.config), published: options.published?.(), layer: options.layers?.newest() };
      if (!secrets.areRead(files.text)) return false;
      const { hasSameFiles, hasSameLayer, wasRefused, newSecrets } = compareFiles(files, loaded.files, refused, secrets);
      if (hasSameFiles && (hasSameLayer || wasRefused)) {
        if (hasSameLayer) refuse(undefined);
        lastBad = undefined;
        return false;
      }
      const next = loadWithLayers({ published: files.published, layer: files.layer }, [loaded.files.layer], options, reach);
      lastBad = undefined;
      refuse(next.refused);
      // With the layer in force and the same files nothing has changed.
      if (hasSameFiles && next.refused !== undefined) return false;
      take(next);
      secrets.inForce(newSecrets);
      return true;
    } catch (error) {
      secrets.areRead(loaded.files.text);
      const reason = reasonOf(error);
      if (reason !== lastBad) logger.error({ reason }, 'configuration reload failed');
      lastBad = reason;
      return false;
    }
  };
  const timer = setInterval(look, options.pollMs).unref();
  return {
    settings: () => inForce.settings,
    config: () => loaded.config,
    source: () => inForce.source,
    text: () => loaded.files.text,
    layer: () => describeLayer(loaded, inForce.source, options.layers?.newest(), refused),
    problem: () => lastBad,
    look,
    reload: () => {
      discovery.refresh();
      return look();
    },
    close: async () => {
      clearInterval(timer);
      discovery.close();
      await reach.retire();
    },
  };
}

function describeLayer(
  { layer, takesLayers }: LoadedConfig,
  { fromLayer = [] }: UpstreamSource,
  newest: ConfigLayer | undefined,
  refused: RefusedLayer | undefined,
): LayerState {
  const hiddenUpstreams = Object.keys(layer?.upstreams ?? {}).filter((name) => !fromLayer.includes(name));
  return {
    ...(layer !== undefined && { number: layer.number }),
    isTaken: takesLayers,
    newest: newest?.number ?? 0,
    ...(takesLayers && refused !== undefined && { problem: refused.reason }),
    hidden: [...hiddenUpstreams.map((name) => `upstreams.${name}`), ...(layer?.hidden ?? [])],
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

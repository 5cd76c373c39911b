import {
  defaultAudioSettings,
  defaultCredits,
  defaultImageEndpointSettings,
  defaultVideoSettings,
} from '../../gateway/settings/call-settings.ts';
import type { GatewaySettings } from '../../gateway/attempts/services.ts';
import { defaultLimits, defaultOverload, defaultRetries, defaultTimeouts } from '../../gateway/settings/limits.ts';
import { createRoutingTable } from '../../gateway/attempts/routing/routing-table.ts';
import { createTimeoutRule, type Upstream } from '../../gateway/attempts/routing/target.ts';
import type { PriceBookData } from '../../billing/rating/parse-price-book.ts';
import { compileAddressList } from '../../platform/http/address-list.ts';
import { compileHeaderList } from '../../platform/http/header-list.ts';
import type { UpstreamClient } from '../../platform/http/upstream-client.ts';
import { applyQuirks, type Quirks } from '../../upstreams/apply-quirks.ts';
import { type BasePaths, findBasePaths, fitToPreset } from '../../upstreams/fit-to-preset.ts';
import { commonRequestHeaders, passClientHeaders } from '../../upstreams/header-lists.ts';
import { upstreamVendors } from '../../upstreams/registry.ts';
import { applyServiceQuirks } from '../../upstreams/upstream-services.ts';
import type { ServerPreset, UpstreamVendor } from '../../upstreams/upstream-vendor.ts';
import { type AccountFacts, factsOf } from '../../upstreams/account-facts.ts';
import { CredentialError, type CredentialSource } from '../../upstreams/credentials/credential-source.ts';
import type { SecretBook } from '../../upstreams/credentials/secrets/secret-book.ts';
import type { CredentialSettings } from '../../upstreams/credentials/registry.ts';
import type { Egress } from '../egress/open-client.ts';
import type { ModelListSource } from '../assembly/discovery/fetch-model-list.ts';
import { buildTools } from './build-tools.ts';
import { buildPriceBook } from './build-price-book.ts';
import { buildModels } from './build-models.ts';
import type { Config, ConfiguredUpstream } from './config-schema.ts';
import { credentialsOf, splitCredentials } from './credentials.ts';

/** The upstreams in use, and the source that they were read from. */
export type UpstreamSource = {
  /** Where they come from; `layer` if all of them come from a published layer. */
  readonly type: 'file' | 'environment' | 'layer' | 'simulated';
  readonly upstreams: Readonly<Record<string, ConfiguredUpstream>>;
  /** The names of those that come from a published layer. */
  readonly fromLayer?: readonly string[];
};

/**
 * Finds the upstreams: those of the file, else the vendors whose keys are in the environment, and those of a published
 * layer with other names. Without any, the simulated vendors. Returns undefined if there is no simulator either.
 */
export function findUpstreams(
  config: Config,
  variable: (name: string) => string | undefined,
  simulated: Readonly<Record<string, ConfiguredUpstream>> | undefined,
  layer: NonNullable<Config['upstreams']> = {},
): UpstreamSource | undefined {
  const own = findOwnUpstreams(config, variable);
  const fromLayer = Object.keys(layer).filter((name) => own === undefined || !Object.hasOwn(own.upstreams, name));
  if (fromLayer.length === 0) return own ?? (simulated === undefined ? undefined : { type: 'simulated', upstreams: simulated });
  const added = Object.fromEntries(Object.entries(layer).filter(([name]) => fromLayer.includes(name)));
  return { type: own?.type ?? 'layer', upstreams: { ...own?.upstreams, ...added }, fromLayer };
}

/** The upstreams of the file, else the vendors whose keys are in the environment. */
export function findOwnUpstreams(config: Config, variable: (name: string) => string | undefined): UpstreamSource | undefined {
  if (config.upstreams !== undefined && Object.keys(config.upstreams).length > 0) return { type: 'file', upstreams: config.upstreams };
  const found: Record<string, ConfiguredUpstream> = {};
  for (const vendor of Object.values(upstreamVendors)) {
    const apiKey = vendor.keyVariables.map((name) => variable(name)).find((value) => value !== undefined);
    if (apiKey !== undefined) found[vendor.id] = { vendor: vendor.id, apiKey };
  }
  return Object.keys(found).length > 0 ? { type: 'environment', upstreams: found } : undefined;
}

/** Returns the connection pool of an origin and the way to it. A reload that keeps both keeps the pool. */
export type ClientPools = (origin: string, connectTimeoutMs: number, egress: Egress) => UpstreamClient;

/** Returns the source of a credential. Equal settings have the same one, also after a reload. */
export type CredentialSources = (settings: CredentialSettings, facts: AccountFacts, egress: Egress) => CredentialSource;

/** The source of settings that are only looked at. */
const unopenedSource: CredentialSource = {
  current: () => Promise.reject(new CredentialError('this program makes no calls')),
  refused: () => {},
  describe: () => ({}),
  close: () => Promise.resolve(),
};

/** The settings of an upstream's credential. Undefined if it has a key, or needs none. */
function credentialSettingsOf(configured: ConfiguredUpstream): CredentialSettings | undefined {
  if (credentialsOf(configured).length > 0) return undefined;
  return configured.credential ?? upstreamVendors[configured.vendor].usualCredential;
}

function presetOf({ vendor, preset }: ConfiguredUpstream): ServerPreset | undefined {
  return preset === undefined ? undefined : upstreamVendors[vendor].presets?.[preset];
}

/** The vendor of an upstream, as its preset describes it. */
function vendorOf(configured: ConfiguredUpstream): UpstreamVendor {
  return fitToPreset(upstreamVendors[configured.vendor], presetOf(configured));
}

/** The address of an upstream: its own, else its preset's, else its vendor's for the facts of the account. */
export function baseUrlOf(configured: ConfiguredUpstream): string | undefined {
  const { addressOf, defaultBaseUrl } = upstreamVendors[configured.vendor];
  return configured.baseUrl ?? presetOf(configured)?.baseUrl ?? addressOf?.(factsOf(configured)) ?? defaultBaseUrl;
}

/**
 * The requests for the model lists of upstreams that have one. Without `discoverModels`, they exclude upstreams whose
 * models the configuration names: the operator has chosen some models, and a list of all would undo the choice.
 */
export function findModelLists(config: Config, source: UpstreamSource): readonly Omit<ModelListSource, 'client'>[] {
  const named = new Set(Object.values(config.models ?? {}).flatMap(({ targets }) => targets.map(({ upstream }) => upstream)));
  return Object.entries(source.upstreams).flatMap(([upstreamId, configured]) => {
    const { credentialHeaders, dialects, modelListPath } = vendorOf(configured);
    const [dialect] = configured.dialects ?? dialects;
    if (modelListPath === undefined || dialect === undefined || !(configured.discoverModels ?? !named.has(upstreamId))) return [];
    const [apiKey] = credentialsOf(configured);
    const headers = apiKey === undefined ? {} : credentialHeaders(apiKey, dialect);
    const base = new URL(baseUrlOf(configured) ?? '');
    const { basePath } = basePathsOf(configured, base.pathname);
    return [{ upstreamId, url: `${base.origin}${basePath}${modelListPath}`, headers }];
  });
}

/** The paths below which the interfaces of an upstream are. */
function basePathsOf(configured: ConfiguredUpstream, pathname: string): BasePaths {
  const { basePathOf } = upstreamVendors[configured.vendor];
  const { addresses } = presetOf(configured) ?? {};
  return findBasePaths(basePathOf?.(pathname, factsOf(configured)) ?? pathname, addresses);
}

/** Returns the upstream once for each of its credentials. */
function buildUpstream(
  id: string,
  configured: ConfiguredUpstream,
  connectMs: number,
  { pools, credentials, secrets, signingNowMs }: Pick<BuildOptions, 'pools' | 'credentials' | 'secrets' | 'signingNowMs'>,
): readonly Upstream[] {
  const vendor = vendorOf(configured);
  const base = new URL(baseUrlOf(configured) ?? '');
  const { quirks: preset, quirksOf } = presetOf(configured) ?? {};
  const quirks: Quirks = { ...preset, ...configured.quirks };
  const { forwardReplyHeaders = [] } = configured;
  const facts = factsOf(configured);
  const settings = credentialSettingsOf(configured);
  const upstream = {
    id,
    vendor,
    origin: base.origin,
    ...basePathsOf(configured, base.pathname),
    facts,
    ...(settings === undefined ? {} : { credential: credentials?.(settings, facts, configured) ?? unopenedSource }),
    dialects: configured.dialects ?? vendor.dialects,
    ...(configured.dialects === undefined ? {} : { hasOwnDialects: true }),
    passesRequestHeader: passClientHeaders(vendor.requestHeaders, configured.forwardHeaders),
    passesForeignHeader: passClientHeaders(commonRequestHeaders, configured.forwardHeaders),
    passesReplyHeader: compileHeaderList([...vendor.replyHeaders, ...forwardReplyHeaders]),
    forwardsReplyHeader: forwardReplyHeaders.length === 0 ? undefined : compileHeaderList(forwardReplyHeaders),
    acceptsStreamOptions: quirks.streamOptions ?? true,
    passesStoredIds: configured.storedIds === 'pass',
    takesOwnSpellings: quirks.ownSpellings ?? false,
    takesIdempotencyKeys: quirks.idempotencyKeys ?? vendor.takesIdempotencyKeys ?? false,
    services: applyServiceQuirks(applyServiceQuirks(vendor.services, preset), configured.quirks),
    setsContext: configured.quirks?.contextTokensMax !== undefined,
    traitsOf: (upstreamModel: string) => {
      const fitted = quirksOf === undefined ? quirks : { ...preset, ...quirksOf(upstreamModel), ...configured.quirks };
      return applyQuirks(vendor.traitsOf(upstreamModel), fitted);
    },
    // The vendor comes before the name so that no name can be mistaken for a vendor.
    proofOrigin: vendor.proofsBelongTo === 'vendor' ? vendor.id : `${vendor.id}/${id}`,
    client: pools(base.origin, connectMs, configured),
  };
  const keys = credentialsOf(configured).map((apiKey) => ({ apiKey, source: secrets?.sourceOf(apiKey) }));
  return splitCredentials(upstream, keys, connectMs, signingNowMs);
}

/** Finds targets that name an unknown upstream, which is possible if the upstreams come from the environment. */
export function findBrokenTargets(config: Config, source: UpstreamSource): readonly string[] {
  const names = Object.keys(source.upstreams);
  return Object.entries(config.models ?? {}).flatMap(([model, { targets }]) =>
    targets
      .filter(({ upstream }) => !names.includes(upstream))
      .map(({ upstream }) => `models.${model}: there is no upstream "${upstream}"; there are: ${names.join(', ')}`),
  );
}

/** The vendor of the Responses interface stores responses for the same time. */
const defaultRetentionDays = 30;

type BuildOptions = {
  readonly config: Config;
  readonly source: UpstreamSource;
  readonly priceBookData: PriceBookData;
  readonly pools: ClientPools;
  /** Opens sources of credentials. Absent: the settings are only looked at, and no call is made. */
  readonly credentials?: CredentialSources | undefined;
  /** The secrets behind keys of upstreams. Absent: keys are as they are in the configuration. */
  readonly secrets?: Pick<SecretBook, 'sourceOf'> | undefined;
  /** The time of signatures. Default: that of the machine. */
  readonly signingNowMs?: (() => number) | undefined;
  readonly configuredAtMs: number;
};

/** Builds the settings of the gateway from a checked configuration. */
export function buildSettings(options: BuildOptions): GatewaySettings {
  const { config, source } = options;
  const { perKey, ...limits } = config.limits ?? {};
  const timeouts = { ...defaultTimeouts, ...config.timeouts };
  const timeoutsOf = createTimeoutRule(timeouts, config.timeouts?.firstByteMs !== undefined);
  const upstreams = new Map(
    Object.entries(source.upstreams).map(([id, configured]) => [id, buildUpstream(id, configured, timeouts.connectMs, options)]),
  );
  return {
    routing: createRoutingTable({
      upstreams: [...upstreams.values()].flat(),
      models: buildModels(config, upstreams, timeoutsOf),
      timeoutsOf,
      priceBook: buildPriceBook(config, options.priceBookData),
      configuredAtMs: options.configuredAtMs,
    }),
    limits: { ...defaultLimits, ...limits },
    timeouts,
    retries: { ...defaultRetries, ...config.retries },
    validation: config.validation ?? 'compatible',
    overload: { ...defaultOverload, ...config.overload },
    responseRetentionDays: config.responses?.retentionDays ?? defaultRetentionDays,
    allowsPrivateMedia: config.media?.privateAddresses ?? false,
    videos: { ...defaultVideoSettings, ...config.videos },
    images: { ...defaultImageEndpointSettings, ...config.images },
    tools: buildTools(config),
    audio: { ...defaultAudioSettings, ...config.audio },
    credits: { ...defaultCredits, ...config.credits },
    ...(config.tags?.fromMetadata === undefined ? {} : { metadataTags: config.tags.fromMetadata }),
    ...(config.disconnect === undefined ? {} : { disconnect: config.disconnect }),
    ...(config.structuredOutput?.check === undefined ? {} : { replyCheck: config.structuredOutput.check }),
    ...(config.moderations === undefined ? {} : { moderations: config.moderations }),
    ...(perKey === undefined ? {} : { perKey }),
    ...(config.trustedProxies === undefined ? {} : { isProxy: compileAddressList(config.trustedProxies) }),
  };
}

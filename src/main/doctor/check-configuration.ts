import { existsSync, readFileSync, statSync } from 'node:fs';
import { isIP } from 'node:net';

import { parse } from 'yaml';

import type { Upstream } from '../../gateway/attempts/routing/target.ts';
import type { GatewaySettings } from '../../gateway/attempts/services.ts';
import { isPublicAddress } from '../../platform/http/public-address.ts';
import { filledText, itemsOf, membersOf } from '../../platform/json/json-readers.ts';
import { upstreamVendors } from '../../upstreams/registry.ts';
import {
  buildSettings,
  type ClientPools,
  type CredentialSources,
  findBrokenTargets,
  findUpstreams,
  type UpstreamSource,
} from '../config/build-settings.ts';
import type { Config, ConfiguredUpstream } from '../config/config-schema.ts';
import { credentialsOf } from '../config/credentials.ts';
import { loadConfig } from '../config/load-config.ts';
import { ConfigError } from '../config/config-error.ts';
import { firstReference } from '../config/resolve-references.ts';
import type { Environment } from '../environment.ts';
import { findIdleModels } from './check-services.ts';
import { type Finding, tidyWords } from './finding.ts';

/** A valid configuration, and the settings that result from it. */
export type UsableConfiguration = { readonly config: Config; readonly source: UpstreamSource; readonly settings: GatewaySettings };

export type ConfigurationCheck = { readonly findings: readonly Finding[]; readonly usable?: UsableConfiguration };

export type ConfigurationOptions = {
  readonly environment: Environment;
  readonly pools: ClientPools;
  readonly credentials: CredentialSources;
  readonly signingNowMs: () => number;
  /** Starts the simulated vendors; called only if nothing is configured. */
  readonly simulate: () => Promise<Readonly<Record<string, ConfiguredUpstream>>>;
  readonly nowMs: number;
};

const subject = 'configuration';

/** The file that a start would read. The name of a missing file is kept, so that reading it reports the error. */
function findFile({ configPath }: Environment): string | undefined {
  return configPath ?? (existsSync('weir.yaml') ? 'weir.yaml' : undefined);
}

/** Reads the configuration as a start would, and also finds problems that do not prevent a start. */
export async function checkConfiguration(options: ConfigurationOptions): Promise<ConfigurationCheck> {
  const { environment, nowMs } = options;
  const path = findFile(environment);
  if (path !== undefined && !existsSync(path)) {
    const says = `WEIR_CONFIG names ${path}, which does not exist`;
    return { findings: [{ verdict: 'bad', subject, says, advice: 'correct WEIR_CONFIG, or unset it to run without a file' }] };
  }
  const file: Finding =
    path === undefined
      ? { verdict: 'none', subject: 'file', says: 'no weir.yaml here and no WEIR_CONFIG: defaults' }
      : { verdict: 'good', subject: 'file', says: path };
  try {
    const { config, priceBookData } = loadConfig(path, environment);
    const source = findUpstreams(config, environment.variable, undefined) ?? { type: 'simulated', upstreams: await options.simulate() };
    const broken = findBrokenTargets(config, source);
    if (broken.length > 0) return { findings: [file, ...broken.map((says): Finding => ({ verdict: 'bad', subject, says }))] };
    const settings = buildSettings({
      config,
      source,
      priceBookData,
      configuredAtMs: nowMs,
      pools: options.pools,
      credentials: options.credentials,
      signingNowMs: options.signingNowMs,
      secrets: environment.secrets,
    });
    const usable = { config, source, settings };
    const told: Finding = {
      verdict: 'good',
      subject,
      says: `${describeSource(source)}; prices ${settings.routing.priceBook.version}, without those that the store has published`,
    };
    return { findings: [file, told, ...findWarnings(usable, path, environment)], usable };
  } catch (error) {
    return { findings: [file, ...describeProblems(error, path ?? 'weir.yaml')] };
  }
}

function describeProblems(error: unknown, file: string): readonly Finding[] {
  if (!(error instanceof ConfigError)) {
    const says = `${file} cannot be read: ${error instanceof Error ? error.message : String(error)}`;
    return [{ verdict: 'bad', subject, says: tidyWords(says) }];
  }
  return error.problems.map(({ line, column, path, message }) => ({
    verdict: 'bad',
    subject,
    says: tidyWords(`${file}:${line}:${column} ${path === '' ? '' : `${path}: `}${message}`),
  }));
}

function describeSource({ type, upstreams }: UpstreamSource): string {
  const names = Object.keys(upstreams).join(', ');
  if (type === 'simulated') return 'no upstream and no vendor key is configured, so the simulated vendors are checked';
  return type === 'file' ? `upstreams ${names}` : `upstreams from the keys in the environment: ${names}`;
}

function findWarnings(usable: UsableConfiguration, path: string | undefined, environment: Environment): readonly Finding[] {
  const text = path === undefined ? '' : readFileSync(path, 'utf8');
  return [
    ...findUnpriced(usable),
    ...findIdleModels(usable.config, usable.settings.routing),
    ...findReadable(text, path),
    ...findUnusedKeys(usable.source, text, environment),
    ...findClearKeys(usable.source),
    ...findProxies(environment),
  ];
}

function findUnpriced({ config, settings }: UsableConfiguration): readonly Finding[] {
  const { priceBook } = settings.routing;
  return Object.entries(config.models ?? {}).flatMap(([name, { price, targets }]) => {
    if (price !== undefined) return [];
    const free = targets.flatMap(({ upstream, model = name }) => {
      const vendor = settings.routing.upstreams.find(({ id }) => id === upstream)?.vendor.id ?? '';
      return model.endsWith('*') || priceBook.lists(vendor, model) ? [] : [`${upstream}/${model}`];
    });
    if (free.length === 0) return [];
    return [
      {
        verdict: 'warning',
        subject: 'prices',
        says: `model ${name} has no price at ${free.join(', ')}: its calls cost nothing in the books`,
        advice: `set models.${name}.price; "0" makes its calls free`,
      },
    ];
  });
}

/** The credentials as written in the file, before references are replaced. */
function writtenKeys(text: string): readonly (readonly [upstream: string, written: string])[] {
  const upstreams = membersOf(membersOf(parse(text)).upstreams);
  return Object.entries(upstreams).flatMap(([id, upstream]) => {
    const { apiKey, apiKeys } = membersOf(upstream);
    return [apiKey, ...itemsOf(apiKeys)].flatMap((key) => {
      const written = filledText(key);
      return written === undefined ? [] : [[id, written] as const];
    });
  });
}

function findReadable(text: string, path: string | undefined): readonly Finding[] {
  if (path === undefined || process.platform === 'win32') return [];
  const literal = writtenKeys(text).filter(([, written]) => Object.keys(firstReference(written)).length === 0);
  const othersMayRead = (statSync(path).mode & 0o077) !== 0;
  if (literal.length === 0 || !othersMayRead) return [];
  return [
    {
      verdict: 'warning',
      subject: 'secrets',
      says: `${path} holds the key of ${[...new Set(literal.map(([id]) => id))].join(', ')} in clear, and others on this machine may read it`,
      advice: `chmod 600 ${path}, or write the key as a reference: apiKey: "\${NAME}"`,
    },
  ];
}

function findUnusedKeys(source: UpstreamSource, text: string, { variable }: Environment): readonly Finding[] {
  return Object.values(upstreamVendors).flatMap(({ keyVariables, title }) => {
    const set = keyVariables.filter((name) => variable(name) !== undefined);
    const unused = source.type === 'environment' ? set.slice(1) : set.filter((name) => !text.includes(`\${${name}`));
    return unused.map((name) => ({
      verdict: 'warning' as const,
      subject: 'secrets',
      says: `${name} is set and not used${source.type === 'environment' ? `: ${set[0] ?? ''} comes first` : `: the file names the upstreams, and none refers to it`}`,
      advice: source.type === 'environment' ? `unset one of them` : `add an upstream for ${title} with apiKey: "\${${name}}", or unset it`,
    }));
  });
}

/** Whether a host is outside the local network. Names without a dot and with the usual private endings are inside. */
function isFarAway(hostname: string): boolean {
  const plain = hostname.replace(/^\[|\]$/g, '');
  if (isIP(plain) !== 0) return isPublicAddress(plain);
  return plain.includes('.') && !/\.(?:local|internal|lan|home|localhost|svc|test)$/i.test(plain) && !plain.endsWith('.cluster.local');
}

function findClearKeys({ upstreams }: UpstreamSource): readonly Finding[] {
  return Object.entries(upstreams).flatMap(([id, configured]) => {
    const { baseUrl } = configured;
    if (
      baseUrl === undefined ||
      credentialsOf(configured).length === 0 ||
      !baseUrl.startsWith('http://') ||
      !isFarAway(new URL(baseUrl).hostname)
    )
      return [];
    const says = `upstream ${id} is reached over plain http: its key and all prompts travel in clear`;
    return [{ verdict: 'warning' as const, subject: 'secrets', says, advice: 'use https:// in baseUrl' }];
  });
}

function findProxies({ variable }: Environment): readonly Finding[] {
  const name = ['ALL_PROXY', 'all_proxy'].find((each) => variable(each) !== undefined);
  if (name === undefined) return [];
  const says = `${name} is set, and Weir does not read it`;
  return [{ verdict: 'warning', subject: 'network', says, advice: 'set HTTPS_PROXY, HTTP_PROXY or proxy of an upstream' }];
}

/** Describes the source of an upstream's credential, without the credential. */
export function describeKeySource(upstream: Upstream, { source }: UsableConfiguration, environment: Environment): string {
  const { id, credentialId } = upstream;
  const configured = source.upstreams[id];
  if (configured === undefined || upstream.apiKey === undefined) return 'no key';
  if (source.fromLayer?.includes(id) === true) return 'the key of the layer';
  if (source.type === 'simulated') return 'the key of the simulated vendors';
  if (source.type === 'environment') {
    const name = upstreamVendors[configured.vendor].keyVariables.find((each) => environment.variable(each) !== undefined);
    return `the key in ${name ?? 'the environment'}`;
  }
  const path = findFile(environment) ?? 'weir.yaml';
  const place = /#(\d+)~/.exec(credentialId)?.[1];
  const own = writtenKeys(readFileSync(path, 'utf8')).filter(([owner]) => owner === id);
  const { name, secret } = firstReference(own[Number(place ?? 1) - 1]?.[1] ?? '');
  if (secret !== undefined) return `the secret \${${secret}}`;
  if (name !== undefined) return `the key in ${name}`;
  return `the ${place === undefined ? 'apiKey' : `key ${place}`} of upstream ${id} in ${path}`;
}

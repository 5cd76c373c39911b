import { LineCounter, parseDocument, visit } from 'yaml';

import { wordProblem } from '../../dialects/word-problem.ts';
import { parseNetwork } from '../../platform/http/address-list.ts';
import { parseProxyAddress } from '../../platform/http/proxy-address.ts';
import { checkWithoutCompiling } from '../../platform/schema/compile-check.ts';
import { describeProblems } from '../../platform/schema/describe-problems.ts';
import type { SchemaProblem } from '../../platform/schema/schema-problem.ts';
import { nodeAt } from '../../platform/yaml/yaml-position.ts';
import { fitToPreset } from '../../upstreams/fit-to-preset.ts';
import { factsOf } from '../../upstreams/account-facts.ts';
import { secretsSchema } from '../../upstreams/credentials/secrets/secrets-schema.ts';
import { upstreamVendors } from '../../upstreams/registry.ts';
import { ConfigError, type ConfigProblem } from './config-error.ts';
import { type Config, configSchema, type ConfiguredUpstream } from './config-schema.ts';
import { findContentProblems } from './content-schema.ts';
import { findAuditProblems } from './audit-schema.ts';
import { findAlertProblems } from './alert-settings.ts';
import { findIssuerProblems } from './token-issuers.ts';
import { findOidcProblems } from './oidc-settings.ts';
import { findSearchProblems } from './find-search-provider.ts';
import { findCredentialProblems, findRoutingProblems } from './find-routing-problems.ts';
import { noProxy } from '../egress/choose-proxy.ts';
import { quirkNames } from './quirks-schema.ts';
import { type ReferenceLookup, resolveReferences } from './resolve-references.ts';
import { isSecretPath } from './secret-paths.ts';
import { conditionNames } from './routing-schema.ts';

type Path = readonly (string | number)[];

export type ReadConfigOptions = ReferenceLookup & {
  readonly text: string;
  /** Name of the file for messages. */
  readonly file: string;
};

/**
 * Reads a configuration in YAML 1.2. It replaces `${NAME}`, `${NAME:-fallback}` and secrets such as `${file:/path}` in
 * values (`$${` is a literal `${`), and checks the schema and the references between parts.
 * @throws ConfigError with every problem and its position
 */
export function readConfig(options: ReadConfigOptions): Config {
  const { text, file } = options;
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines, uniqueKeys: true, prettyErrors: false });
  const problems: ConfigProblem[] = [];
  const at = (offset: number, path: Path, message: string): void => {
    const { line, col } = lines.linePos(offset);
    problems.push({ line, column: col, path: path.join('.'), message });
  };
  for (const error of document.errors) at(error.pos[0], [], error.message);
  if (problems.length > 0) throw new ConfigError(file, problems);

  visit(document, {
    Alias: (_key, node) => {
      if (node.resolve(document) === undefined) at(node.range?.[0] ?? 0, [], `there is no anchor for the alias *${node.source}`);
    },
  });
  if (problems.length > 0) throw new ConfigError(file, problems);
  const unread = new Set(resolveReferences(document, options, at).map((path) => path.join('.')));
  const value: unknown = document.toJS() ?? {};
  // Without a value of each reference nobody can judge the rest, but for the reason why a secret was not read.
  const found = problems.length > 0 ? findSecretsProblems(value) : findProblems(value, unread);
  for (const { path, message } of found)
    at(nodeAt(document.contents, path)?.range?.[0] ?? 0, path, isSecretPath(path) ? withoutValue(message) : message);
  if (problems.length > 0) throw new ConfigError(file, problems);
  return value as Config;
}

const isConfig = checkWithoutCompiling(configSchema);

/** A problem, and its path within the configuration. */
export type Problem = { readonly path: Path; readonly message: string };

function findSecretsProblems(value: unknown): readonly Problem[] {
  const { secrets } = (value ?? {}) as { readonly secrets?: unknown };
  if (secrets === undefined) return [];
  return describeProblems(secretsSchema, secrets, 20).map((problem) => ({
    path: ['secrets', ...problem.path],
    message: wordConfigProblem(problem),
  }));
}

/** @param unread paths whose values are not known */
function findProblems(value: unknown, unread: ReadonlySet<string>): readonly Problem[] {
  if (!isConfig(value)) {
    const known = describeProblems(configSchema, value, 20).filter(({ path }) => !unread.has(path.join('.')));
    if (known.length > 0) return known.map((problem) => ({ path: problem.path, message: wordConfigProblem(problem) }));
  }
  // It has the schema, but for values that nobody knows here.
  return findBrokenReferences(value as Config).filter(({ path }) => !unread.has(path.join('.')));
}

/** A message about a secret does not show it. */
const withoutValue = (message: string): string => message.replace(/,? but got .*$/s, '');

/** The message about an unknown field names those that there are, unless one of them is near. */
export function wordConfigProblem(problem: SchemaProblem): string {
  const words = wordProblem(problem);
  if (problem.rule !== 'unknown-field') return words;
  const [part, , member, , within] = problem.path;
  const names =
    part === 'upstreams' && member === 'quirks' ? quirkNames : part === 'models' && within === 'when' ? conditionNames : undefined;
  if (names !== undefined) return `${words}; there are: ${names.join(', ')}`;
  const known = typeof problem.expected === 'object' ? problem.expected : [];
  return known.length === 0 || words.includes('did you mean') ? words : `${words}; there are: ${known.join(', ')}`;
}

/** Why the credential of an upstream cannot be used. Undefined if it can, or if there is none. */
function findCredentialProblem({ vendor, apiKey, apiKeys, credential }: ConfiguredUpstream): string | undefined {
  if (credential === undefined) return undefined;
  if (apiKey !== undefined || apiKeys !== undefined) return 'goes without apiKey and apiKeys: leave one of them out';
  const { credentialKinds = [] } = upstreamVendors[vendor];
  if (!credentialKinds.includes(credential.kind)) return `of the kind ${credential.kind} is not for the vendor ${vendor}`;
  if (credential.kind === 'aws' && (credential.accessKeyId === undefined) !== (credential.secretAccessKey === undefined))
    return 'needs accessKeyId and secretAccessKey together';
  return undefined;
}

/** Checks one upstream beyond the schema: the settings that its vendor allows, and its addresses. */
function findUpstreamProblems(name: string, upstream: ConfiguredUpstream): readonly Problem[] {
  const found: Problem[] = [];
  const vendor = upstreamVendors[upstream.vendor];
  const preset = upstream.preset === undefined ? undefined : vendor.presets?.[upstream.preset];
  const { defaultBaseUrl, dialects, optionalDialects, modelListPath } = fitToPreset(vendor, preset);
  const facts = factsOf(upstream);
  const address = upstream.baseUrl ?? preset?.baseUrl ?? vendor.addressOf?.(facts) ?? defaultBaseUrl;
  const factsProblem = vendor.checkFacts?.(facts, upstream.baseUrl);
  if (upstream.preset !== undefined && preset === undefined) {
    const owner = Object.values(upstreamVendors).find(({ presets }) => presets?.[upstream.preset ?? ''] !== undefined);
    const message = `is only for the vendor ${owner?.id ?? 'openai-compatible'}; this upstream is of ${upstream.vendor}`;
    found.push({ path: ['upstreams', name, 'preset'], message });
  } else if (factsProblem !== undefined) {
    found.push({ path: ['upstreams', name], message: factsProblem });
  } else if (address === undefined) {
    const which = preset === undefined ? upstream.vendor : `the preset ${upstream.preset}`;
    const example = preset?.exampleUrl ?? 'http://127.0.0.1:8000/v1';
    found.push({ path: ['upstreams', name], message: `baseUrl is required for ${which}, for example ${example}` });
  }
  for (const [index, dialect] of (upstream.dialects ?? []).entries()) {
    if ([...dialects, ...optionalDialects].includes(dialect)) continue;
    const which = preset?.addresses === undefined ? upstream.vendor : `the preset ${upstream.preset}`;
    const message = `${which} does not speak ${dialect}; it speaks ${[...dialects, ...optionalDialects].join(', ')}`;
    found.push({ path: ['upstreams', name, 'dialects', index], message });
  }
  const credentialProblem = findCredentialProblem(upstream);
  if (credentialProblem !== undefined) found.push({ path: ['upstreams', name, 'credential'], message: credentialProblem });
  if (upstream.baseUrl !== undefined && !URL.canParse(upstream.baseUrl)) {
    found.push({ path: ['upstreams', name, 'baseUrl'], message: `must be a valid URL, but got "${upstream.baseUrl}"` });
  }
  if (upstream.proxy !== undefined && upstream.proxy !== noProxy && parseProxyAddress(upstream.proxy) === undefined) {
    // The message does not repeat the value, which may contain a password.
    found.push({ path: ['upstreams', name, 'proxy'], message: `must be "${noProxy}" or an address such as http://proxy.example:3128` });
  }
  if (upstream.http2 === true && address?.startsWith('http://') === true) {
    found.push({ path: ['upstreams', name, 'http2'], message: 'HTTP/2 requires https, and the address of this upstream is http' });
  }
  if (upstream.discoverModels === true && modelListPath === undefined) {
    const message =
      preset?.listsModels === false
        ? `the service of the preset ${upstream.preset} has no list of models; name them in models`
        : `is only for the vendor openai-compatible; the price book lists the models of ${upstream.vendor}`;
    found.push({ path: ['upstreams', name, 'discoverModels'], message });
  }
  return found;
}

/** Checks beyond the schema: upstreams fit their vendors, targets name known upstreams, the time zone exists. */
function findBrokenReferences(config: Config): readonly Problem[] {
  const found: Problem[] = [
    ...findSearchProblems(config),
    ...findAlertProblems(config),
    ...findIssuerProblems(config.callers?.issuers),
    ...findAuditProblems(config),
    ...findOidcProblems(config),
    ...findContentProblems(config),
  ];
  found.push(...findUpstreamsAndModelsProblems(config, config.upstreams ?? {}, Object.keys(config.upstreams ?? {})));
  for (const [index, network] of (config.trustedProxies ?? []).entries()) {
    if (parseNetwork(network) !== undefined) continue;
    found.push({ path: ['trustedProxies', index], message: `must be an address or a network such as 10.0.0.0/8, but got "${network}"` });
  }
  if (config.timeZone !== undefined && !isTimeZone(config.timeZone)) {
    found.push({ path: ['timeZone'], message: `must be an IANA time zone such as "UTC" or "Asia/Shanghai", but got "${config.timeZone}"` });
  }
  return found;
}

/**
 * Checks upstreams and models beyond the schema.
 * @param upstreams those that models may name and whose settings are known
 * @param names those that models may name; empty: any
 */
export function findUpstreamsAndModelsProblems(
  { upstreams: own = {}, models = {} }: Pick<Config, 'upstreams' | 'models'>,
  upstreams: NonNullable<Config['upstreams']>,
  names: readonly string[],
): readonly Problem[] {
  const found: Problem[] = [];
  for (const [name, upstream] of Object.entries(own))
    found.push(...findUpstreamProblems(name, upstream), ...findCredentialProblems(name, upstream));
  for (const [name, model] of Object.entries(models)) {
    found.push(...findRoutingProblems(name, model, upstreams), ...findPriceProblems(name, model.price));
    for (const [index, target] of model.targets.entries()) {
      if (names.length === 0 || names.includes(target.upstream)) continue;
      found.push({
        path: ['models', name, 'targets', index, 'upstream'],
        message: `there is no upstream "${target.upstream}"; there are: ${names.join(', ')}`,
      });
    }
  }
  return found;
}

/** A price has both input and output, or neither. */
function findPriceProblems(name: string, price: NonNullable<Config['models']>[string]['price']): readonly Problem[] {
  if (price === undefined || (price.input === undefined) === (price.output === undefined)) return [];
  const missing = price.input === undefined ? 'input' : 'output';
  return [{ path: ['models', name, 'price', missing], message: 'is required, because input and output must have prices together' }];
}

function isTimeZone(name: string): boolean {
  try {
    new Intl.DateTimeFormat('en', { timeZone: name });
    return true;
  } catch {
    // Intl has no other way to check whether it knows a zone.
    return false;
  }
}

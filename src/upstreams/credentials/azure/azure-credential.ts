import { filledText, membersOf } from '../../../platform/json/json-readers.ts';
import { parseIfJson } from '../../../platform/json/parse-if-json.ts';
import type { AccountFacts } from '../../account-facts.ts';
import type { CloudCredential } from '../cloud-credential.ts';
import type { CredentialKindOf } from '../credential-kind.ts';
import type { CredentialMeans } from '../credential-means.ts';
import { CredentialError } from '../credential-source.ts';
import { readNamedFile } from '../read-file.ts';
import { type FetchedCredential, refreshCredentials } from '../refresh-credentials.ts';
import type { TokenReply, TokenRequest } from '../token-client.ts';
import { azurePlaces, type AzurePlace, type AzureSettings } from './azure-schema.ts';
import { explainLoginFailure } from './explain-login-failure.ts';

/** openai-node, docs/azure.md: the scopes of the two interfaces. */
const scopes = { v1: 'https://ai.azure.com/.default', dated: 'https://cognitiveservices.azure.com/.default' } as const;

/** Under a dated version the older scope is required; v1 and Claude take the newer one. */
const scopeOf = ({ apiVersion }: AccountFacts): string =>
  apiVersion !== undefined && /^\d{4}-/.test(apiVersion) ? scopes.dated : scopes.v1;

/** The settings with what the environment adds. */
type Found = AzureSettings & { readonly identityEndpoint?: string; readonly identityHeader?: string };

/** The settings of the configuration, completed by the variables that Azure's own libraries read. */
function complete(settings: AzureSettings, variable: CredentialMeans['variable']): Found {
  const entry = (name: keyof Found, of: string): Partial<Found> => {
    const value = variable(of);
    return value === undefined || value === '' ? {} : { [name]: value };
  };
  return {
    ...entry('tenantId', 'AZURE_TENANT_ID'),
    ...entry('clientId', 'AZURE_CLIENT_ID'),
    ...entry('clientSecret', 'AZURE_CLIENT_SECRET'),
    ...entry('tokenFile', 'AZURE_FEDERATED_TOKEN_FILE'),
    ...entry('loginUrl', 'AZURE_AUTHORITY_HOST'),
    ...entry('identityEndpoint', 'IDENTITY_ENDPOINT'),
    ...entry('identityHeader', 'IDENTITY_HEADER'),
    ...settings,
  };
}

type Source = {
  /** For operators. */
  readonly origin: string;
  /** The missing setting. Undefined: it can be asked. */
  readonly missing: (found: Found) => string | undefined;
  readonly request: (found: Found, scope: string, means: CredentialMeans, signal: AbortSignal) => Promise<TokenRequest>;
};

/** Names the first of these members that has no value. */
const missingOf = (found: Found, ...names: readonly (keyof Found)[]): string | undefined => names.find((name) => found[name] === undefined);

const sources: Readonly<Record<AzurePlace, Source>> = {
  'client-secret': {
    origin: 'client secret',
    missing: (found) => missingOf(found, 'clientSecret', 'tenantId', 'clientId'),
    request: (found, scope) => Promise.resolve(login(found, scope, { client_secret: found.clientSecret ?? '' })),
  },
  'workload-identity': {
    origin: 'workload identity',
    missing: (found) => missingOf(found, 'tokenFile', 'tenantId', 'clientId'),
    // The kubelet replaces the file before its token ends, so it is read each time.
    request: async (found, scope, means, signal) =>
      login(found, scope, {
        client_assertion_type: 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer',
        client_assertion: (await readNamedFile('tokenFile (AZURE_FEDERATED_TOKEN_FILE)', found.tokenFile ?? '', means, signal)).trim(),
      }),
  },
  'app-service': {
    origin: 'managed identity (App Service)',
    missing: (found) => missingOf(found, 'identityEndpoint', 'identityHeader'),
    request: (found, scope) => {
      const query = managedQuery(found, scope, '2019-08-01');
      const headers = { 'x-identity-header': found.identityHeader ?? '' };
      return Promise.resolve({ url: `${found.identityEndpoint}?${query}`, method: 'GET', headers, isLocal: true });
    },
  },
  instance: {
    origin: 'managed identity (virtual machine)',
    missing: () => undefined,
    request: ({ metadataUrl = 'http://169.254.169.254', ...found }, scope) => {
      const url = `${metadataUrl.replace(/\/+$/, '')}/metadata/identity/oauth2/token?${managedQuery(found, scope, '2018-02-01')}`;
      return Promise.resolve({ url, method: 'GET', headers: { metadata: 'true' }, isLocal: true });
    },
  },
};

function login(found: Found, scope: string, proof: Readonly<Record<string, string>>): TokenRequest {
  const { loginUrl = 'https://login.microsoftonline.com', tenantId = '', clientId = '' } = found;
  return {
    url: `${loginUrl.replace(/\/+$/, '')}/${encodeURIComponent(tenantId)}/oauth2/v2.0/token`,
    method: 'POST',
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
    body: new URLSearchParams({ grant_type: 'client_credentials', client_id: clientId, scope, ...proof }).toString(),
  };
}

/** Managed identities name the resource, which is the scope without its ending. */
function managedQuery({ clientId }: Found, scope: string, apiVersion: string): string {
  const resource = scope.replace(/\/\.default$/, '');
  return new URLSearchParams({
    'api-version': apiVersion,
    resource,
    ...(clientId !== undefined && { client_id: clientId }),
  }).toString();
}

/** The place to ask: the configured one, else the first for which something is configured. */
function choose(found: Found): AzurePlace {
  if (found.from === undefined) return azurePlaces.find((place) => sources[place].missing(found) === undefined) ?? 'instance';
  const missing = sources[found.from].missing(found);
  if (missing === undefined) return found.from;
  const variable = variables[missing] ?? missing;
  throw new CredentialError(`credential.from is ${found.from}, and ${missing} is missing: set it, or the variable ${variable}`);
}

const variables: Readonly<Record<string, string>> = {
  tenantId: 'AZURE_TENANT_ID',
  clientId: 'AZURE_CLIENT_ID',
  clientSecret: 'AZURE_CLIENT_SECRET',
  tokenFile: 'AZURE_FEDERATED_TOKEN_FILE',
  identityEndpoint: 'IDENTITY_ENDPOINT',
  identityHeader: 'IDENTITY_HEADER',
};

async function fetchToken(
  settings: AzureSettings,
  scope: string,
  means: CredentialMeans,
  signal: AbortSignal,
): Promise<FetchedCredential<CloudCredential>> {
  const found = complete(settings, means.variable);
  const place = choose(found);
  const { origin, request } = sources[place];
  const asked = await request(found, scope, means, signal);
  let reply: TokenReply;
  try {
    reply = await means.ask(asked, signal);
  } catch (cause) {
    const hint =
      place === 'instance' && settings.from === undefined
        ? 'no client secret and no workload identity are configured, and this machine has no metadata service of Azure'
        : `${new URL(asked.url).origin} does not answer`;
    throw new CredentialError(`${origin}: ${hint}`, { cause });
  }
  return readToken(reply, { origin, nowMs: means.clock.nowMs(), clientId: found.clientId });
}

/** Reads a token from the answer of any of the services. @throws CredentialError without the token in it */
function readToken(
  { status, body }: TokenReply,
  { origin, nowMs, clientId }: { readonly origin: string; readonly nowMs: number; readonly clientId: string | undefined },
): FetchedCredential<CloudCredential> {
  const members = membersOf(parseIfJson(body));
  const token = filledText(members['access_token']);
  if (status !== 200 || token === undefined) throw new CredentialError(`${origin}: ${explainLoginFailure(status, members)}`);
  const identity = filledText(members['client_id']) ?? clientId;
  return {
    credential: { kind: 'bearer', token },
    origin,
    expiresAtMs: endOf(members, nowMs),
    ...(identity !== undefined && { identity }),
  };
}

/** The services write seconds as a number or as text. Without any, the token is fetched again after some minutes. */
function endOf(members: Readonly<Record<string, unknown>>, nowMs: number): number {
  const lives = Number(members['expires_in']);
  if (Number.isFinite(lives) && lives > 0) return nowMs + lives * 1000;
  const ends = Number(members['expires_on']);
  return Number.isFinite(ends) && ends > 0 ? ends * 1000 : nowMs + 300_000;
}

/** Tokens of Microsoft Entra ID, for Azure OpenAI and Foundry. */
export const azureCredential: CredentialKindOf<AzureSettings> = {
  title: 'Microsoft Entra ID',
  open: (settings, facts, means) => {
    const scope = settings.scope ?? scopeOf(facts);
    return refreshCredentials<CloudCredential>({
      clock: means.clock,
      watch: means.watch,
      fetch: (signal) => fetchToken(settings, scope, means, signal),
    });
  },
};

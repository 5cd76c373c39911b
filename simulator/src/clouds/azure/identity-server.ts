import { type IncomingMessage, type Server, type ServerResponse } from 'node:http';

import { createWholeServer } from '../whole-request.ts';
import type { AzureTokens } from './azure-tokens.ts';

/** An application of a tenant. It proves itself by a secret, or by tokens of another issuer that it trusts. */
type AzureApplication = {
  readonly tenantId: string;
  readonly clientId: string;
  /** Secrets that are accepted now. */
  readonly secrets: Set<string>;
  /** Assertions of a cluster's identity provider that are accepted now. */
  readonly assertions: Set<string>;
};

/** The behaviour of the identity services, which tests change while they run. */
export type IdentityState = {
  readonly applications: readonly AzureApplication[];
  /** Client id of the machine's own identity; undefined if it has none. */
  managedIdentity: string | undefined;
  /** The secret of the App Service endpoint, which only the app knows. */
  readonly identityHeader: string;
  /** Every request is answered with this status. 0: the services work. */
  failingStatus: number;
  /** The metadata service answers so many further requests with 429. */
  throttledCalls: number;
  /** Every request that came in. */
  readonly requests: { readonly kind: 'login' | 'metadata' | 'app-service'; readonly status: number }[];
};

type Reply = { readonly status: number; readonly body: object };

/** A refusal in the form of Entra ID. */
function entraError(status: number, error: string, code: number, words: string): Reply {
  return {
    status,
    body: {
      error,
      error_description: `AADSTS${code}: ${words} Trace ID: 00000000-0000-0000-0000-000000000000`,
      error_codes: [code],
      error_uri: `https://login.microsoftonline.com/error?code=${code}`,
    },
  };
}

const assertionType = 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer';

/** POST /{tenant}/oauth2/v2.0/token with the grant of client credentials. */
function login(state: IdentityState, tokens: AzureTokens, tenant: string, form: URLSearchParams): Reply {
  const clientId = form.get('client_id') ?? '';
  if (form.get('grant_type') !== 'client_credentials')
    return entraError(400, 'unsupported_grant_type', 70003, 'The app requested an unsupported grant type.');
  if (!state.applications.some(({ tenantId }) => tenantId === tenant))
    return entraError(400, 'invalid_request', 90002, `Tenant '${tenant}' not found. Check to make sure you have the correct tenant ID.`);
  const application = state.applications.find((each) => each.tenantId === tenant && each.clientId === clientId);
  if (application === undefined)
    return entraError(400, 'unauthorized_client', 700016, `Application with identifier '${clientId}' was not found in the directory.`);
  const scope = form.get('scope') ?? '';
  if (!/^https:\/\/\S+\/\.default$/.test(scope))
    return entraError(400, 'invalid_scope', 1002012, `The provided value for scope ${scope} is not valid.`);
  const refusal = judgeProof(application, form);
  if (refusal !== undefined) return refusal;
  const { token, expiresInSeconds } = tokens.issue(scope.replace(/\/\.default$/, ''), clientId);
  return {
    status: 200,
    body: { token_type: 'Bearer', expires_in: expiresInSeconds, ext_expires_in: expiresInSeconds, access_token: token },
  };
}

function judgeProof({ secrets, assertions }: AzureApplication, form: URLSearchParams): Reply | undefined {
  const secret = form.get('client_secret');
  const assertion = form.get('client_assertion');
  if (secret !== null) {
    if (secrets.has(secret)) return undefined;
    return entraError(401, 'invalid_client', 7000215, 'Invalid client secret provided.');
  }
  if (assertion === null || form.get('client_assertion_type') !== assertionType)
    return entraError(401, 'invalid_client', 7000218, "The request body must contain 'client_assertion' or 'client_secret'.");
  if (assertions.has(assertion)) return undefined;
  return entraError(401, 'invalid_client', 70021, 'No matching federated identity record found for presented assertion.');
}

function metadata(state: IdentityState, tokens: AzureTokens, incoming: IncomingMessage, query: URLSearchParams): Reply {
  const invalid = (words: string): Reply => ({ status: 400, body: { error: 'invalid_request', error_description: words } });
  if (incoming.headers['metadata'] !== 'true') return invalid('Required metadata header not specified');
  if (incoming.headers['x-forwarded-for'] !== undefined) return invalid('Request was forwarded');
  if (query.get('api-version') !== '2018-02-01') return invalid('Bad api-version');
  if (state.throttledCalls > 0) {
    state.throttledCalls -= 1;
    return { status: 429, body: { error: 'too_many_requests', error_description: 'Too many requests' } };
  }
  const issued = issueManaged(state, tokens, query);
  return issued ?? invalid('Identity not found');
}

function appService(state: IdentityState, tokens: AzureTokens, incoming: IncomingMessage, query: URLSearchParams): Reply {
  if (incoming.headers['x-identity-header'] !== state.identityHeader)
    return { status: 401, body: { statusCode: 401, message: 'Unauthorized' } };
  if (query.get('api-version') !== '2019-08-01') return { status: 400, body: { statusCode: 400, message: 'Unsupported api-version' } };
  return issueManaged(state, tokens, query) ?? { status: 400, body: { statusCode: 400, message: 'No managed identity found for the app' } };
}

/** The token of the machine's own identity. Undefined if it has none, or another one was asked for. */
function issueManaged({ managedIdentity }: IdentityState, tokens: AzureTokens, query: URLSearchParams): Reply | undefined {
  const resource = query.get('resource') ?? '';
  const asked = query.get('client_id');
  if (managedIdentity === undefined || resource === '' || (asked !== null && asked !== managedIdentity)) return undefined;
  const { token, expiresInSeconds } = tokens.issue(resource, managedIdentity);
  const seconds = String(expiresInSeconds);
  const on = String(Math.floor((tokens.find(token)?.expiresAtMs ?? 0) / 1000));
  const body = { access_token: token, client_id: managedIdentity, expires_in: seconds, expires_on: on, resource, token_type: 'Bearer' };
  return { status: 200, body };
}

/** The login server of Entra ID, the metadata service of virtual machines, and App Service's endpoint, at one port. */
export function createIdentityServer(state: IdentityState, tokens: AzureTokens): Server {
  const answer = (incoming: IncomingMessage, response: ServerResponse, received: Buffer): void => {
    const url = new URL(incoming.url ?? '/', 'http://identity');
    const [, tenant] = /^\/([^/]+)\/oauth2\/v2\.0\/token$/.exec(url.pathname) ?? [];
    const isMetadata = url.pathname === '/metadata/identity/oauth2/token';
    const kind = tenant !== undefined ? 'login' : isMetadata ? 'metadata' : 'app-service';
    const { status, body } = reply(incoming, url, tenant, received.toString());
    state.requests.push({ kind, status });
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
  };
  const reply = (incoming: IncomingMessage, url: URL, tenant: string | undefined, body: string): Reply => {
    const { pathname, searchParams } = url;
    if (state.failingStatus !== 0) return { status: state.failingStatus, body: { error: 'temporarily_unavailable' } };
    if (tenant !== undefined && incoming.method === 'POST') return login(state, tokens, tenant, new URLSearchParams(body));
    if (pathname === '/metadata/identity/oauth2/token') return metadata(state, tokens, incoming, searchParams);
    if (pathname === '/msi/token') return appService(state, tokens, incoming, searchParams);
    return { status: 404, body: { error: 'not_found' } };
  };
  return createWholeServer(answer);
}

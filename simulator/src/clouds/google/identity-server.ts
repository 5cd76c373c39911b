import { createPublicKey, verify } from 'node:crypto';
import { type IncomingMessage, type Server } from 'node:http';

import { createWholeServer } from '../whole-request.ts';
import type { GoogleTokens } from './google-tokens.ts';

/** The behaviour of the identity services, which tests change while they run. */
export type GoogleIdentityState = {
  /** Public keys of service accounts in PEM form, by key id. */
  readonly accountKeys: Map<string, { readonly email: string; readonly publicKey: string }>;
  readonly refreshTokens: Map<string, string>;
  /** Tokens of another provider that the workload identity pool accepts. */
  readonly subjectTokens: Set<string>;
  readonly audience: string;
  /** Service accounts that federated identities may impersonate. */
  readonly impersonable: Set<string>;
  /** The account of the machine; undefined if it has none. */
  machineAccount: string | undefined;
  /** Every request is answered with this status. 0: the services work. */
  failingStatus: number;
  /** The metadata server answers so many further requests with 429. */
  throttledCalls: number;
  readonly requests: { readonly kind: 'token' | 'metadata' | 'exchange' | 'impersonation'; readonly status: number }[];
};

type Reply = { readonly status: number; readonly body: object | string };

const scope = 'https://www.googleapis.com/auth/cloud-platform';
const grantError = (description: string, error = 'invalid_grant'): Reply => ({
  status: 400,
  body: { error, error_description: description },
});

function judgeAssertion(state: GoogleIdentityState, tokens: GoogleTokens, audience: string, assertion: string): Reply {
  const [head = '', claims = '', signature = ''] = assertion.split('.');
  const read = (part: string): Record<string, unknown> => JSON.parse(Buffer.from(part, 'base64url').toString()) as Record<string, unknown>;
  const { alg, kid } = read(head);
  const { iss, aud, iat, exp, scope: asked } = read(claims);
  const account = state.accountKeys.get(String(kid));
  if (account === undefined || account.email !== iss) return grantError('Invalid grant: account not found');
  const signed = Buffer.from(`${head}.${claims}`);
  if (alg !== 'RS256' || !verify('RSA-SHA256', signed, createPublicKey(account.publicKey), Buffer.from(signature, 'base64url')))
    return grantError('Invalid JWT Signature.');
  if (aud !== audience) return grantError('Invalid JWT: audience is not the token endpoint');
  const nowSeconds = tokens.nowMs() / 1000;
  if (typeof iat !== 'number' || typeof exp !== 'number' || Math.abs(iat - nowSeconds) > 300 || exp - iat > 3600 || exp < nowSeconds)
    return grantError(
      'Invalid JWT: Token must be a short-lived token (60 minutes) and in a reasonable timeframe. Check your iat and exp values.',
    );
  if (asked !== scope) return grantError('Invalid OAuth scope or ID token audience provided.', 'invalid_scope');
  return toToken(tokens, account.email);
}

function toToken(tokens: GoogleTokens, identity: string): Reply {
  const { token, expiresInSeconds } = tokens.issue(identity);
  return { status: 200, body: { access_token: token, expires_in: expiresInSeconds, token_type: 'Bearer' } };
}

function answerToken(state: GoogleIdentityState, tokens: GoogleTokens, audience: string, form: URLSearchParams): Reply {
  if (form.get('grant_type') === 'refresh_token') {
    const user = state.refreshTokens.get(form.get('refresh_token') ?? '');
    return user === undefined ? grantError('Token has been expired or revoked.') : toToken(tokens, user);
  }
  if (form.get('grant_type') !== 'urn:ietf:params:oauth:grant-type:jwt-bearer')
    return grantError('Invalid grant_type', 'unsupported_grant_type');
  try {
    return judgeAssertion(state, tokens, audience, form.get('assertion') ?? '');
  } catch {
    return grantError('Invalid JWT: it cannot be read.');
  }
}

function answerExchange(state: GoogleIdentityState, tokens: GoogleTokens, form: URLSearchParams): Reply {
  if (form.get('audience') !== state.audience) return grantError(`Invalid value for "audience".`, 'invalid_target');
  if (!state.subjectTokens.has(form.get('subject_token') ?? '')) return grantError('The subject token is invalid.', 'invalid_grant');
  return toToken(tokens, 'federated');
}

function answerImpersonation(state: GoogleIdentityState, tokens: GoogleTokens, email: string, bearer: string): Reply {
  const isFederated = tokens.find(bearer) === 'federated';
  if (!isFederated || !state.impersonable.has(email)) {
    const message = "Permission 'iam.serviceAccounts.getAccessToken' denied on resource (or it may not exist).";
    return { status: 403, body: { error: { code: 403, message, status: 'PERMISSION_DENIED' } } };
  }
  const { token, expiresInSeconds } = tokens.issue(email);
  return { status: 200, body: { accessToken: token, expireTime: new Date(tokens.nowMs() + expiresInSeconds * 1000).toISOString() } };
}

function answerMetadata(state: GoogleIdentityState, tokens: GoogleTokens, { headers, url = '' }: IncomingMessage): Reply {
  if (headers['metadata-flavor'] !== 'Google') return { status: 403, body: 'Missing required header "Metadata-Flavor": "Google"' };
  if (state.throttledCalls > 0) {
    state.throttledCalls -= 1;
    return { status: 429, body: 'Too many requests' };
  }
  if (state.machineAccount === undefined || !url.startsWith('/computeMetadata/v1/instance/service-accounts/default/token'))
    return { status: 404, body: 'Not Found' };
  return toToken(tokens, state.machineAccount);
}

type Kind = GoogleIdentityState['requests'][number]['kind'];

/** The token server, the metadata server, the exchange of tokens and the impersonation of Google Cloud, on one port. */
export function createGoogleIdentityServer(state: GoogleIdentityState, tokens: GoogleTokens): Server {
  const route = (request: IncomingMessage, body: string): readonly [Kind, () => Reply] | undefined => {
    const { pathname } = new URL(request.url ?? '/', 'http://google');
    const form = new URLSearchParams(body);
    if (pathname === '/token') return ['token', () => answerToken(state, tokens, `http://${request.headers.host}/token`, form)];
    if (pathname === '/v1/token') return ['exchange', () => answerExchange(state, tokens, form)];
    if (pathname.startsWith('/computeMetadata/')) return ['metadata', () => answerMetadata(state, tokens, request)];
    const email = /^\/v1\/projects\/-\/serviceAccounts\/([^:]+):generateAccessToken$/.exec(pathname)?.[1];
    const bearer = (request.headers.authorization ?? '').replace('Bearer ', '');
    return email === undefined ? undefined : ['impersonation', () => answerImpersonation(state, tokens, email, bearer)];
  };
  return createWholeServer((request, response, received) => {
    const found = route(request, received.toString());
    const answer = state.failingStatus > 0 ? () => ({ status: state.failingStatus, body: 'unavailable' }) : found?.[1];
    const { status, body } = answer?.() ?? { status: 404, body: 'not found' };
    if (found !== undefined) state.requests.push({ kind: found[0], status });
    const text = typeof body === 'string' ? body : JSON.stringify(body);
    response.writeHead(status, {
      'content-type': typeof body === 'string' ? 'text/plain' : 'application/json',
      'metadata-flavor': 'Google',
    });
    response.end(text);
  });
}

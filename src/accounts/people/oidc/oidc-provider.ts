import type * as OpenIdClient from 'openid-client';

import type { Clock } from '../../../platform/clock.ts';
import type { OidcIdentity } from '../person.ts';
import { type Fetch, limitFetch } from './limited-fetch.ts';
import { type Claims, hasClaim } from './map-claims.ts';
import { OidcError } from './oidc-error.ts';
import type { OidcSettings } from './oidc-settings.ts';

/** A sign-in to begin. */
export type SignInRequest = {
  /** The address of this console to which the provider sends the browser back. */
  readonly redirectUrl: string;
  /** The session whose person proves again who it is; undefined to sign in. */
  readonly confirms?: string;
};

/** A way back from the provider. */
export type WayBack = {
  /** The query of the address to which the provider sent the browser. */
  readonly search: string;
  /** Of `begin`, from the cookie. */
  readonly kept: string;
  /** That of `begin`. */
  readonly redirectUrl: string;
};

/** A sign-in that has begun. */
export type BegunSignIn = {
  /** Where the browser goes. */
  readonly url: string;
  /** For a cookie of the browser, for ten minutes. It has letters, digits, `-` and `_`. */
  readonly kept: string;
};

/** A person whom the provider knows. */
export type ProvenPerson = {
  readonly identity: OidcIdentity;
  readonly claims: Claims;
  /** The session that is confirmed, as the browser says; undefined for a sign-in. */
  readonly confirms?: string;
};

/** A provider of OpenID Connect: the authorization code flow with PKCE, state and nonce. Rejects with OidcError. */
export type OidcProvider = {
  readonly begin: (request: SignInRequest, signal: AbortSignal) => Promise<BegunSignIn>;
  /**
   * Reads the way back: exchanges the code, and checks signature, issuer, audience, nonce and times of the ID token.
   */
  readonly finish: (back: WayBack, signal: AbortSignal) => Promise<ProvenPerson>;
};

export type OidcProviderOptions = {
  readonly settings: OidcSettings;
  readonly clock: Clock;
  /** Sends requests as the global `fetch` does, by a proxy if there is one. */
  readonly send: Fetch;
  /** The limit of each request to the provider. Default 10 s. */
  readonly timeoutMs?: number;
};

const signInMs = 10 * 60_000;
const metadataMs = 10 * 60_000;
/** How far the clocks of the provider and this machine may differ. */
const toleranceSeconds = 30;
/** A confirmation needs a sign-in at the provider that is at most this old. */
const confirmSeconds = 300;
const searchMax = 16_384;

/** State of a sign-in that the browser keeps. */
type Kept = {
  readonly state: string;
  readonly nonce: string;
  readonly verifier: string;
  readonly beganAtMs: number;
  readonly confirms?: string;
};

export function createOidcProvider({ settings, clock, send, timeoutMs = 10_000 }: OidcProviderOptions): OidcProvider {
  let known: { readonly metadata: OpenIdClient.ServerMetadata; readonly untilMs: number } | undefined;

  /** A configuration of its own for each use, so that keys are read again: a provider may have rotated them. */
  async function configure(client: typeof OpenIdClient, signal: AbortSignal): Promise<OpenIdClient.Configuration> {
    const limited = limitFetch(send, timeoutMs, signal);
    const request: OpenIdClient.CustomFetch = (url, { body, headers, method }) => limited(url, { body: body ?? null, headers, method });
    const execute = isLoopback(settings.issuer) ? [client.allowInsecureRequests] : [];
    if (known === undefined || clock.monotonicMs() >= known.untilMs) {
      const options = { execute, [client.customFetch]: request };
      const found = await client.discovery(new URL(settings.issuer), settings.clientId, settings.clientSecret, undefined, options);
      known = { metadata: found.serverMetadata(), untilMs: clock.monotonicMs() + metadataMs };
    }
    const configuration = new client.Configuration(known.metadata, settings.clientId, {
      ...(settings.clientSecret === undefined ? {} : { client_secret: settings.clientSecret }),
      [client.clockTolerance]: toleranceSeconds,
    });
    for (const apply of execute) apply(configuration);
    configuration[client.customFetch] = request;
    // Otherwise the library trusts the connection to the token endpoint and does not check signatures.
    client.enableNonRepudiationChecks(configuration);
    return configuration;
  }

  return {
    begin: async ({ redirectUrl, confirms }, signal) => {
      const client = await import('openid-client');
      const kept = {
        state: client.randomState(),
        nonce: client.randomNonce(),
        verifier: client.randomPKCECodeVerifier(),
        beganAtMs: clock.nowMs(),
        ...(confirms === undefined ? {} : { confirms }),
      };
      const configuration = await asOidc(configure(client, signal), signal);
      const url = client.buildAuthorizationUrl(configuration, {
        redirect_uri: redirectUrl,
        scope: ['openid', ...settings.scopes].join(' '),
        state: kept.state,
        nonce: kept.nonce,
        code_challenge: await client.calculatePKCECodeChallenge(kept.verifier),
        code_challenge_method: 'S256',
        ...(confirms === undefined ? {} : { prompt: 'login', max_age: String(confirmSeconds) }),
      });
      return { url: url.href, kept: encodeKept(kept) };
    },
    finish: async ({ search, kept: text, redirectUrl }, signal) => {
      const kept = decodeKept(text);
      const ageMs = kept === undefined ? Infinity : clock.nowMs() - kept.beganAtMs;
      if (kept === undefined || ageMs >= signInMs || ageMs < 0)
        throw new OidcError('expired', 'The sign-in was not begun in this browser, or took longer than ten minutes.');
      if (search.length > searchMax) throw new OidcError('invalid', 'The address of the way back is too long.');
      const client = await import('openid-client');
      const configuration = await asOidc(configure(client, signal), signal);
      const back = new URL(redirectUrl);
      back.search = search;
      const work = exchange(client, configuration, { back, kept, settings, nowMs: clock.nowMs() });
      return { ...(await asOidc(work, signal)), ...(kept.confirms === undefined ? {} : { confirms: kept.confirms }) };
    },
  };
}

type Exchange = { readonly back: URL; readonly kept: Kept; readonly settings: OidcSettings; readonly nowMs: number };

async function exchange(
  client: typeof OpenIdClient,
  configuration: OpenIdClient.Configuration,
  { back, kept, settings, nowMs }: Exchange,
): Promise<Omit<ProvenPerson, 'confirms'>> {
  const tokens = await client.authorizationCodeGrant(configuration, back, {
    expectedState: kept.state,
    expectedNonce: kept.nonce,
    pkceCodeVerifier: kept.verifier,
    idTokenExpected: true,
    ...(kept.confirms === undefined ? {} : { maxAge: confirmSeconds }),
  });
  const token = tokens.claims();
  if (token === undefined) throw new OidcError('invalid', 'The provider sent no ID token.');
  // The library leaves this to its caller.
  if (token.iat > nowMs / 1000 + toleranceSeconds) throw new OidcError('invalid', 'The ID token was issued in the future.');
  const identity = { issuer: token.iss, subject: token.sub };
  const { userinfo_endpoint: endpoint } = configuration.serverMetadata();
  // Some providers put groups only into their answer about the person.
  if (hasClaim(token, settings.roles.claim) || endpoint === undefined) return { identity, claims: token };
  const info = await client.fetchUserInfo(configuration, tokens.access_token, token.sub);
  return { identity, claims: { ...info, ...token } };
}

/** Turns the errors of the library into OidcError. Their causes can contain tokens, so none is kept. */
async function asOidc<Result>(work: Promise<Result>, signal: AbortSignal): Promise<Result> {
  try {
    return await work;
  } catch (error) {
    if (error instanceof OidcError) throw error;
    if (signal.aborted) throw signal.reason;
    throw new OidcError(codeOf(error), describe(error));
  }
}

/** Names of errors of openid-client, and codes of those that say that no usable answer came. */
const deniedNames = new Set(['AuthorizationResponseError']);
const unavailableCodes = new Set(['OAUTH_TIMEOUT', 'OAUTH_RESPONSE_IS_NOT_CONFORM', 'OAUTH_RESPONSE_IS_NOT_JSON', 'OAUTH_PARSE_ERROR']);

function codeOf(error: unknown): OidcError['code'] {
  if (!(error instanceof Error)) return 'unavailable';
  if (deniedNames.has(error.name)) return 'denied';
  const code: unknown = 'code' in error ? error.code : undefined;
  if (typeof code !== 'string') return 'unavailable';
  return unavailableCodes.has(code) ? 'unavailable' : 'invalid';
}

function describe(error: unknown): string {
  if (!(error instanceof Error)) return 'The sign-in at the provider failed.';
  const inner = error.cause instanceof Error ? `: ${error.cause.message}` : '';
  return `${error.message}${inner}`.slice(0, 500);
}

function encodeKept(kept: Kept): string {
  return Buffer.from(JSON.stringify(kept)).toString('base64url');
}

function decodeKept(text: string): Kept | undefined {
  if (text.length > 2000) return undefined;
  let kept: unknown;
  try {
    kept = JSON.parse(Buffer.from(text, 'base64url').toString());
  } catch {
    // A browser may send anything.
    return undefined;
  }
  return isKept(kept) ? kept : undefined;
}

function isKept(value: unknown): value is Kept {
  if (typeof value !== 'object' || value === null) return false;
  const texts = ['state', 'nonce', 'verifier'] as const;
  const members: Partial<Record<keyof Kept, unknown>> = value;
  if (!texts.every((name) => typeof members[name] === 'string' && members[name] !== '')) return false;
  return typeof members.beganAtMs === 'number' && (members.confirms === undefined || typeof members.confirms === 'string');
}

/** A provider on this machine, for development and tests, may speak http. */
function isLoopback(issuer: string): boolean {
  const { protocol, hostname } = new URL(issuer);
  return protocol === 'http:' && ['localhost', '127.0.0.1', '[::1]'].includes(hostname);
}

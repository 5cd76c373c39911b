import { hash } from 'node:crypto';

import type { Upstream } from '../../gateway/attempts/routing/target.ts';
import { type Authorize, authorizeRequests, type Renew } from '../../platform/http/authorize-requests.ts';
import { systemClock } from '../../platform/clock.ts';
import type { UpstreamClient, UpstreamRequest } from '../../platform/http/upstream-client.ts';
import type { CloudCredential } from '../../upstreams/credentials/cloud-credential.ts';
import type { CredentialSource } from '../../upstreams/credentials/credential-source.ts';
import type { ConfiguredUpstream } from './config-schema.ts';

/** The credentials of an upstream, in the order of the configuration. */
export function credentialsOf({ apiKey, apiKeys }: ConfiguredUpstream): readonly string[] {
  if (apiKeys !== undefined) return apiKeys;
  return apiKey === undefined ? [] : [apiKey];
}

/** A key of the configuration. */
export type UpstreamKey = {
  readonly apiKey: string;
  /** Where it is read again, if the configuration refers to a secret. */
  readonly source?: CredentialSource<string> | undefined;
};

type SharedUpstream = Omit<Upstream, 'apiKey' | 'credentialId'>;

/**
 * Returns one upstream for each credential. They share their connections. If the vendor authorizes each request, or the
 * key is a secret that may change, the client does so with its credential.
 * @param authorizeMs longest time of an authorization
 * @param nowMs the time of signatures
 */
export function splitCredentials(
  upstream: SharedUpstream,
  keys: readonly UpstreamKey[],
  authorizeMs: number,
  nowMs: () => number = systemClock.nowMs,
): readonly [Upstream, ...Upstream[]] {
  const { id } = upstream;
  const [first, ...others] = keys;
  const withKey = (key: UpstreamKey | undefined, credentialId: string): Upstream => ({
    ...upstream,
    apiKey: key?.apiKey,
    credentialId,
    client: authorizedClient(upstream, key, authorizeMs, nowMs),
  });
  if (first === undefined) return [withKey(undefined, id)];
  const name = ({ apiKey }: UpstreamKey, index: number): string =>
    nameCredential(others.length === 0 ? id : `${id}#${index + 1}`, id, apiKey);
  return [withKey(first, name(first, 0)), ...others.map((key, index) => withKey(key, name(key, index + 1)))];
}

/** The client of an upstream whose requests are authorized one by one; of any other, the client as it is. */
function authorizedClient(upstream: SharedUpstream, key: UpstreamKey | undefined, timeoutMs: number, nowMs: () => number): UpstreamClient {
  const { vendor, origin, facts, credential, client } = upstream;
  const { authorize } = vendor;
  const account = { origin, facts, nowMs };
  if (key?.source !== undefined) {
    const { apiKey, source } = key;
    const withSecret: SignWith<string> = (request, secret, signal) => {
      const signed = replaceKey(request, apiKey, secret);
      return authorize === undefined ? signed : authorize(signed, { ...account, apiKey: secret }, signal);
    };
    return renewingClient(upstream, source, withSecret, timeoutMs);
  }
  if (authorize === undefined) return client;
  if (key !== undefined || credential === undefined)
    return authorizeRequests(client, (request, signal) => authorize(request, { ...account, apiKey: key?.apiKey }, signal), { timeoutMs });
  const withTaken: SignWith<CloudCredential> = (request, taken, signal) =>
    authorize(request, { ...account, apiKey: undefined, credential: { ...credential, current: () => taken } }, signal);
  return renewingClient(upstream, credential, withTaken, timeoutMs);
}

/** Adds a credential to a request. */
type SignWith<Credential> = (
  request: UpstreamRequest,
  credential: Credential,
  signal: AbortSignal,
) => UpstreamRequest | Promise<UpstreamRequest>;

/** A client that takes the credential of each request from a source, and another one if the vendor refuses it. */
function renewingClient<Credential>(
  { vendor, client }: Pick<SharedUpstream, 'vendor' | 'client'>,
  source: CredentialSource<Credential>,
  sign: SignWith<Credential>,
  timeoutMs: number,
): UpstreamClient {
  const { refusesCredential = (status) => status === 401 } = vendor;
  /** The credential of each request that has been sent, to know which one was refused. */
  const used = new WeakMap<UpstreamRequest, { readonly credential: Credential }>();
  const signWith = (request: UpstreamRequest, credential: Credential, signal: AbortSignal): UpstreamRequest | Promise<UpstreamRequest> => {
    const remember = (authorized: UpstreamRequest): UpstreamRequest => {
      used.set(authorized, { credential });
      return authorized;
    };
    const authorized = sign(request, credential, signal);
    return authorized instanceof Promise ? authorized.then(remember) : remember(authorized);
  };
  const authorize: Authorize = (request, signal) => {
    const current = source.current(signal);
    return current instanceof Promise ? current.then((one) => signWith(request, one, signal)) : signWith(request, current, signal);
  };
  const renew: Renew = (request, status, headers, signal) => {
    const refused = used.get(request);
    if (refused === undefined || !refusesCredential(status, headers)) return undefined;
    source.refused(refused.credential);
    return Promise.resolve(source.current(signal)).then((next) => next !== refused.credential);
  };
  return authorizeRequests(client, authorize, { timeoutMs, renew });
}

/** A request with another key in its headers. The same request if the key has not changed. */
function replaceKey(request: UpstreamRequest, from: string, to: string): UpstreamRequest {
  if (from === to) return request;
  const headers = Object.fromEntries(
    Object.entries(request.headers).map(([name, value]) => [name, typeof value === 'string' ? value.replaceAll(from, () => to) : value]),
  );
  return { ...request, headers };
}

/** A renewed key has the same mark once in 16 million cases. Then it only inherits the health of its predecessor. */
const markCharacters = 6;

/**
 * Names a credential equally in every process. The name changes with the key, so that failures of an old key do not
 * count against its successor. The mark is 24 bits of a hash, which reveal nothing about a key of 128 bits or more.
 */
function nameCredential(name: string, upstreamId: string, apiKey: string): string {
  return `${name}~${hash('sha256', `weir credential\n${upstreamId}\n${apiKey}`).slice(0, markCharacters)}`;
}

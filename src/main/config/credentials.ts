import { hash } from 'node:crypto';

import type { Upstream } from '../../gateway/attempts/routing/target.ts';
import { type Authorize, authorizeRequests, type Renew } from '../../platform/http/authorize-requests.ts';
import { systemClock } from '../../platform/clock.ts';
import type { UpstreamClient, UpstreamRequest } from '../../platform/http/upstream-client.ts';
import type { CloudCredential } from '../../upstreams/credentials/cloud-credential.ts';
import type { ConfiguredUpstream } from './config-schema.ts';

/** The credentials of an upstream, in the order of the configuration. */
export function credentialsOf({ apiKey, apiKeys }: ConfiguredUpstream): readonly string[] {
  if (apiKeys !== undefined) return apiKeys;
  return apiKey === undefined ? [] : [apiKey];
}

/**
 * Returns one upstream for each credential. They share their connections. If the vendor authorizes each request, the
 * client does so with its credential.
 * @param authorizeMs longest time of an authorization
 */
export function splitCredentials(
  upstream: Omit<Upstream, 'apiKey' | 'credentialId'>,
  credentials: readonly string[],
  authorizeMs: number,
): readonly [Upstream, ...Upstream[]] {
  const { id } = upstream;
  const [first, ...others] = credentials;
  const withKey = (apiKey: string | undefined, credentialId: string): Upstream => ({
    ...upstream,
    apiKey,
    credentialId,
    client: authorizedClient(upstream, apiKey, authorizeMs),
  });
  if (first === undefined) return [withKey(undefined, id)];
  const name = (apiKey: string, index: number): string => nameCredential(others.length === 0 ? id : `${id}#${index + 1}`, id, apiKey);
  return [withKey(first, name(first, 0)), ...others.map((apiKey, index) => withKey(apiKey, name(apiKey, index + 1)))];
}

/** The client of an upstream whose vendor authorizes requests; of any other vendor, the client as it is. */
function authorizedClient(
  { vendor, origin, facts, credential, client }: Omit<Upstream, 'apiKey' | 'credentialId'>,
  apiKey: string | undefined,
  timeoutMs: number,
): UpstreamClient {
  const { authorize, refusesCredential = (status) => status === 401 } = vendor;
  if (authorize === undefined) return client;
  if (apiKey !== undefined || credential === undefined)
    return authorizeRequests(client, (request, signal) => authorize(request, { apiKey, origin, facts, nowMs: systemClock.nowMs }, signal), {
      timeoutMs,
    });
  /** The credential of each request that has been sent, to know which one was refused. */
  const used = new WeakMap<UpstreamRequest, CloudCredential>();
  const signedWith = (
    request: UpstreamRequest,
    taken: CloudCredential,
    signal: AbortSignal,
  ): UpstreamRequest | Promise<UpstreamRequest> => {
    const account = { apiKey, origin, facts, nowMs: systemClock.nowMs, credential: { ...credential, current: () => taken } };
    const remember = (authorized: UpstreamRequest): UpstreamRequest => {
      used.set(authorized, taken);
      return authorized;
    };
    const authorized = authorize(request, account, signal);
    return authorized instanceof Promise ? authorized.then(remember) : remember(authorized);
  };
  const authorizeNow: Authorize = (request, signal) => {
    const taken = credential.current(signal);
    return taken instanceof Promise ? taken.then((one) => signedWith(request, one, signal)) : signedWith(request, taken, signal);
  };
  const renew: Renew = (request, status, headers, signal) => {
    const refused = used.get(request);
    if (refused === undefined || !refusesCredential(status, headers)) return undefined;
    credential.refused(refused);
    return Promise.resolve(credential.current(signal)).then((next) => next !== refused);
  };
  return authorizeRequests(client, authorizeNow, { timeoutMs, renew });
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

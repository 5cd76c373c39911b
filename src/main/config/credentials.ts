import { hash } from 'node:crypto';

import type { Upstream } from '../../gateway/attempts/routing/target.ts';
import { type Authorize, authorizeRequests } from '../../platform/http/authorize-requests.ts';
import type { UpstreamClient } from '../../platform/http/upstream-client.ts';
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
  const { id, origin, vendor } = upstream;
  const { authorize } = vendor;
  const clientOf = (apiKey: string | undefined): UpstreamClient => {
    if (authorize === undefined) return upstream.client;
    const withCredential: Authorize = (request, signal) => authorize(request, { apiKey, origin }, signal);
    return authorizeRequests(upstream.client, withCredential, { timeoutMs: authorizeMs });
  };
  const [first, ...others] = credentials;
  if (first === undefined) return [{ ...upstream, apiKey: undefined, credentialId: id, client: clientOf(undefined) }];
  const name = (apiKey: string, index: number): string => nameCredential(others.length === 0 ? id : `${id}#${index + 1}`, id, apiKey);
  return [
    { ...upstream, apiKey: first, credentialId: name(first, 0), client: clientOf(first) },
    ...others.map((apiKey, index) => ({
      ...upstream,
      apiKey,
      credentialId: name(apiKey, index + 1),
      client: clientOf(apiKey),
    })),
  ];
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

import { hash } from 'node:crypto';

import type { Upstream } from '../../gateway/attempts/routing/target.ts';
import { type Authorize, authorizeRequests } from '../../platform/http/authorize-requests.ts';
import type { UpstreamClient } from '../../platform/http/upstream-client.ts';
import type { ConfiguredUpstream } from './config-schema.ts';

/** The credentials of an upstream, in the order of the configuration; none where it is sent none. */
export function credentialsOf({ apiKey, apiKeys }: ConfiguredUpstream): readonly string[] {
  if (apiKeys !== undefined) return apiKeys;
  return apiKey === undefined ? [] : [apiKey];
}

/**
 * One upstream for each of its credentials, the connections being those of all. Where the vendor authorizes requests itself, the client does so with that credential.
 * @param authorizeMs how long that may take
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

/** Two renewed keys in 16 million have the same mark, which costs no more than that the new one is taken for the old. */
const markCharacters = 6;

/**
 * A name for a credential that is the same in every process and changes with the key, so that what is known of an old key is not held against its successor.
 * The mark is 24 bits of a hash, which say nothing of a key of the usual 128 bits and more.
 */
function nameCredential(name: string, upstreamId: string, apiKey: string): string {
  return `${name}~${hash('sha256', `weir credential\n${upstreamId}\n${apiKey}`).slice(0, markCharacters)}`;
}

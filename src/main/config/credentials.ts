import { hash } from 'node:crypto';

import type { Upstream } from '../../gateway/attempts/routing/routing-table.ts';
import type { ConfiguredUpstream } from './config-schema.ts';

/** The credentials of an upstream, in the order of the configuration; none where it is sent none. */
export function credentialsOf({ apiKey, apiKeys }: ConfiguredUpstream): readonly string[] {
  if (apiKeys !== undefined) return apiKeys;
  return apiKey === undefined ? [] : [apiKey];
}

/** One upstream for each of its credentials, the connections being those of all. */
export function splitCredentials(
  upstream: Omit<Upstream, 'apiKey' | 'credentialId'>,
  credentials: readonly string[],
): readonly [Upstream, ...Upstream[]] {
  const { id } = upstream;
  const [first, ...others] = credentials;
  if (first === undefined) return [{ ...upstream, apiKey: undefined, credentialId: id }];
  const name = (apiKey: string, index: number): string => nameCredential(others.length === 0 ? id : `${id}#${index + 1}`, id, apiKey);
  return [
    { ...upstream, apiKey: first, credentialId: name(first, 0) },
    ...others.map((apiKey, index) => ({ ...upstream, apiKey, credentialId: name(apiKey, index + 1) })),
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

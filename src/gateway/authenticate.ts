import type { IncomingMessage } from 'node:http';

import type { ApiKey } from '../accounts/api-key.ts';
import { GatewayError } from '../inference/gateway-error.ts';

/** What the gateway needs of the accounts to know a caller. */
export type CallerDirectory = {
  /** The living key with this secret, if it is known in memory. */
  readonly find: (secret: string) => ApiKey | undefined;
  /** The same with a look-up in the store for secrets not known in memory; `unavailable` when the store cannot be asked. */
  readonly resolve: (secret: string) => Promise<ApiKey | undefined | 'unavailable'>;
};

const carrierHeaders = new Set(['x-api-key', 'x-goog-api-key']);

/** Collects every credential of a request, whatever carries it. Raw headers are read because Node hides a second `Authorization`. */
function readCredentials(request: IncomingMessage, queryKeys: readonly string[]): ReadonlySet<string> {
  const credentials = new Set<string>(queryKeys.filter((key) => key !== ''));
  const { rawHeaders } = request;
  for (let index = 0; index + 1 < rawHeaders.length; index += 2) {
    const name = rawHeaders[index]?.toLowerCase() ?? '';
    const value = rawHeaders[index + 1]?.trim() ?? '';
    if (value === '') continue;
    if (carrierHeaders.has(name)) credentials.add(value);
    // Some clients send the scheme without a key beside the header that carries it: no credential, and no conflict.
    else if (name === 'authorization') credentials.add(value.replace(/^bearer(?:\s+|$)/i, ''));
  }
  credentials.delete('');
  return credentials;
}

const carriers = 'Authorization: Bearer, x-api-key, x-goog-api-key or ?key=';

/**
 * Finds the caller's key. Every carrier works on every endpoint; two different credentials in one request are refused, because whichever
 * were taken, somebody could be made to pay for another's call.
 * @throws GatewayError `missing_api_key`, `invalid_api_key`, `conflicting_credentials` (401) or `accounts_unavailable` (503)
 */
export async function authenticate(request: IncomingMessage, queryKeys: readonly string[], callers: CallerDirectory): Promise<ApiKey> {
  const credentials = readCredentials(request, queryKeys);
  if (credentials.size > 1) {
    throw new GatewayError('conflicting_credentials', 'the request carries two different API keys; send one');
  }
  const [secret] = credentials;
  if (secret === undefined) {
    throw new GatewayError('missing_api_key', `an API key is required: send it as ${carriers}`);
  }
  const known = callers.find(secret) ?? (await callers.resolve(secret));
  if (known === 'unavailable') {
    throw new GatewayError('accounts_unavailable', 'API keys cannot be checked at the moment; try again', { retryAfterSeconds: 1 });
  }
  if (known === undefined) throw new GatewayError('invalid_api_key', 'invalid API key: it is unknown, disabled or deleted');
  return known;
}

import type { IncomingMessage } from 'node:http';

import type { ApiKey } from '../../accounts/api-key.ts';
import { GatewayError } from '../../inference/gateway-error.ts';

/** What the gateway needs of the accounts to know a caller. */
export type CallerDirectory = {
  /** The living key with this secret, if it is known in memory. */
  readonly find: (secret: string) => ApiKey | undefined;
  /** The same with a look-up in the store for secrets not known in memory; `unavailable` when the store cannot be asked. */
  readonly resolve: (secret: string) => Promise<ApiKey | undefined | 'unavailable'>;
};

/** The headers that carry credentials have names of these lengths, and few others do. */
const carrierLengths = new Set(['authorization', 'x-api-key', 'x-goog-api-key'].map((name) => name.length));

/** The credential in a header, or an empty text. */
function readCredential(name: string, value: string): string {
  if (!carrierLengths.has(name.length)) return '';
  switch (name.toLowerCase()) {
    case 'x-api-key':
    case 'x-goog-api-key':
      return value.trim();
    case 'authorization':
      // Some clients send the scheme without a key beside the header that carries it: no credential, and no conflict.
      return value.trim().replace(/^bearer(?:\s+|$)/i, '');
    default:
      return '';
  }
}

/**
 * The one credential of a request, whatever carries it, however often. Raw headers are read because Node hides a second `Authorization`.
 * @throws GatewayError `missing_api_key` or `conflicting_credentials` (401)
 */
function readSecret(request: IncomingMessage, queryKeys: readonly string[]): string {
  let secret = '';
  const add = (credential: string): void => {
    if (credential === '') return;
    if (secret !== '' && secret !== credential) {
      throw new GatewayError('conflicting_credentials', 'the request carries two different API keys; send one');
    }
    secret = credential;
  };
  for (const key of queryKeys) add(key);
  const { rawHeaders } = request;
  for (let index = 0; index + 1 < rawHeaders.length; index += 2) add(readCredential(rawHeaders[index] ?? '', rawHeaders[index + 1] ?? ''));
  if (secret === '') throw new GatewayError('missing_api_key', `an API key is required: send it as ${carriers}`);
  return secret;
}

const carriers = 'Authorization: Bearer, x-api-key, x-goog-api-key or ?key=';

/**
 * Finds the caller's key. Every carrier works on every endpoint; two different credentials in one request are refused, because whichever
 * were taken, somebody could be made to pay for another's call. A key that is known in memory is returned at once, without a promise.
 * @throws GatewayError `missing_api_key`, `invalid_api_key`, `conflicting_credentials` (401) or `accounts_unavailable` (503)
 */
export function authenticate(request: IncomingMessage, queryKeys: readonly string[], callers: CallerDirectory): ApiKey | Promise<ApiKey> {
  const secret = readSecret(request, queryKeys);
  return callers.find(secret) ?? resolve(secret, callers);
}

async function resolve(secret: string, callers: CallerDirectory): Promise<ApiKey> {
  const known = await callers.resolve(secret);
  if (known === 'unavailable') {
    throw new GatewayError('accounts_unavailable', 'API keys cannot be checked at the moment; try again', { retryAfterSeconds: 1 });
  }
  if (known === undefined) throw new GatewayError('invalid_api_key', 'invalid API key: it is unknown, disabled or deleted');
  return known;
}

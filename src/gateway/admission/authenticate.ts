import type { IncomingMessage } from 'node:http';

import type { AccessLimits } from '../../accounts/access-limits.ts';
import type { ApiKey } from '../../accounts/api-key.ts';
import { GatewayError } from '../../inference/gateway-error.ts';
import { compileAddressList } from '../../platform/http/address-list.ts';
import type { ProxyTest } from '../settings/call-settings.ts';

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

/** Lists that were compiled, as long as the keys that hold them are in use. */
const compiled = new WeakMap<readonly string[], (address: string) => boolean>();

function compile(addresses: readonly string[]): (address: string) => boolean {
  const known = compiled.get(addresses);
  if (known !== undefined) return known;
  const made = compileAddressList(addresses);
  compiled.set(addresses, made);
  return made;
}

/**
 * Refuses a key that has expired or that may not be used from where the request comes. The key's own limits and those of its owner both count.
 * @throws GatewayError `expired_api_key` (401) or `address_not_allowed` (403)
 */
export function checkCaller(caller: ApiKey, request: IncomingMessage, nowMs: number, isProxy: ProxyTest | undefined): void {
  if (caller.limits !== undefined) checkLimits(caller.limits, request, nowMs, isProxy);
  if (caller.userLimits !== undefined) checkLimits(caller.userLimits, request, nowMs, isProxy);
}

function checkLimits(limits: AccessLimits, request: IncomingMessage, nowMs: number, isProxy: ProxyTest | undefined): void {
  const { expiresAtMs, addresses } = limits;
  if (expiresAtMs !== undefined && nowMs >= expiresAtMs) {
    throw new GatewayError('expired_api_key', `this API key expired at ${new Date(expiresAtMs).toISOString()}`);
  }
  if (addresses === undefined) return;
  const address = clientAddress(request, isProxy);
  if (address !== undefined && compile(addresses)(address)) return;
  throw new GatewayError('address_not_allowed', `this API key may not be used from the address ${address ?? 'of this connection'}`);
}

/**
 * The address that a request comes from. Proxies that are trusted name it in `X-Forwarded-For`, which is read from its end: everything before the
 * first address that is no trusted proxy's could have been written by anyone.
 */
export function clientAddress(request: IncomingMessage, isProxy: ProxyTest | undefined): string | undefined {
  let address = request.socket.remoteAddress;
  if (isProxy === undefined || address === undefined) return address;
  const chain = String(request.headers['x-forwarded-for'] ?? '').split(',');
  while (isProxy(address)) {
    const named = withoutPort((chain.pop() ?? '').trim());
    if (named === '') return address;
    address = named;
  }
  return address;
}

/** Some proxies write the port after the address: `192.0.2.1:4711`, `[2001:db8::1]:4711`. */
function withoutPort(text: string): string {
  return /^\[([^\]]*)\]/.exec(text)?.[1] ?? /^([0-9.]+):[0-9]+$/.exec(text)?.[1] ?? text;
}

/** What says which models a caller may call. */
export type ModelLimits = Partial<Pick<ApiKey, 'limits' | 'userLimits'>>;

/** Whether a caller may call a model by this name: it is on the list of the key, and on that of its owner, where there are such lists. */
export function mayCall(caller: ModelLimits, model: string): boolean {
  return isListed(caller.limits?.models, model) && isListed(caller.userLimits?.models, model);
}

function isListed(models: readonly string[] | undefined, requestedModel: string): boolean {
  if (models === undefined) return true;
  const name = requestedModel.startsWith('models/') ? requestedModel.slice('models/'.length) : requestedModel;
  return models.some((allowed) => (allowed.endsWith('*') ? name.startsWith(allowed.slice(0, -1)) : name === allowed));
}

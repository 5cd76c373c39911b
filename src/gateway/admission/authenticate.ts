import type { IncomingMessage } from 'node:http';

import type { AccessLimits } from '../../accounts/access-limits.ts';
import { isListed } from '../../accounts/is-listed.ts';
import { isRefused, type TokenRefusal } from '../../accounts/jwt/token-refusal.ts';
import type { ApiKey } from '../../accounts/api-key.ts';
import { GatewayError } from '../../inference/gateway-error.ts';
import { compileAddressList } from '../../platform/http/address-list.ts';
import { clientAddress, type ProxyTest } from '../../platform/http/client-address.ts';

/** The accounts, as authentication needs them. */
export type CallerDirectory = {
  /** The valid key with this secret, if it is in memory. */
  readonly find: (secret: string) => ApiKey | undefined;
  /**
   * The same with a look-up in the store for secrets that are not in memory. `unavailable` if the store does not
   * answer. For a signed token that is refused, the reason.
   */
  readonly resolve: (secret: string) => Promise<ApiKey | TokenRefusal | undefined | 'unavailable'>;
  /** Called for each request with a valid key. Must not wait. */
  readonly noteUse?: ((keyId: string) => void) | undefined;
};

/** The headers that carry credentials have names of these lengths, and few others have. */
const carrierLengths = new Set(['authorization', 'x-api-key', 'x-goog-api-key', 'api-key'].map((name) => name.length));

/** The credential in a header, or an empty text. */
function readCredential(name: string, value: string): string {
  if (!carrierLengths.has(name.length)) return '';
  switch (name.toLowerCase()) {
    case 'x-api-key':
    case 'api-key':
    case 'x-goog-api-key':
      return value.trim();
    case 'authorization':
      // Some clients send the scheme without a key beside the header that carries it. That is neither a credential nor
      // a conflict.
      return isSignature(value) ? '' : value.trim().replace(/^bearer(?:\s+|$)/i, '');
    default:
      return '';
  }
}

/**
 * The one credential of a request, in whatever headers and however often. Raw headers are read because Node hides a
 * second `Authorization`.
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
  if (secret !== '') return secret;
  const hint = rawHeaders.some(isSignature) ? signatureHint : '';
  throw new GatewayError('missing_api_key', `an API key is required: send it as ${carriers}${hint}`);
}

/** The beginning of an `Authorization` with which clients of AWS sign a request, also beside a key. */
function isSignature(value: string): boolean {
  return value.trimStart().startsWith('AWS4-');
}

const signatureHint = '; a signature of AWS is not a key: set AWS_BEARER_TOKEN_BEDROCK to the key';

const carriers = 'Authorization: Bearer, x-api-key, x-goog-api-key, api-key or ?key=';

/**
 * Finds the caller's key. Every carrier works on every endpoint. Two different credentials in one request are refused,
 * because either choice could make somebody pay for another's call. A key in memory is returned at once, without a
 * promise.
 * @throws GatewayError `missing_api_key`, `invalid_api_key`, `conflicting_credentials` (401) or `accounts_unavailable`
 * (503)
 */
export function authenticate(request: IncomingMessage, queryKeys: readonly string[], callers: CallerDirectory): ApiKey | Promise<ApiKey> {
  const secret = readSecret(request, queryKeys);
  return callers.find(secret) ?? resolve(secret, callers);
}

/** The caller of a request if its key is in memory and there is one of them; undefined otherwise. It never waits. */
export function findKnownCaller(
  request: IncomingMessage,
  queryKeys: readonly string[],
  callers: Pick<CallerDirectory, 'find'>,
): ApiKey | undefined {
  try {
    return callers.find(readSecret(request, queryKeys));
  } catch (error) {
    if (error instanceof GatewayError) return undefined;
    throw error;
  }
}

async function resolve(secret: string, callers: CallerDirectory): Promise<ApiKey> {
  const caller = await callers.resolve(secret);
  if (caller === 'unavailable') {
    throw new GatewayError('accounts_unavailable', 'API keys cannot be checked at the moment; try again', { retryAfterSeconds: 1 });
  }
  if (caller === undefined) throw new GatewayError('invalid_api_key', 'invalid API key: it is unknown, disabled or deleted');
  if (isRefused(caller)) throw new GatewayError('invalid_api_key', `this signed token is not accepted: ${caller.refused}`);
  return caller;
}

/** Compiled lists, for as long as their keys are in use. */
const compiled = new WeakMap<readonly string[], (address: string) => boolean>();

function compile(addresses: readonly string[]): (address: string) => boolean {
  return compiled.getOrInsertComputed(addresses, () => compileAddressList(addresses));
}

/**
 * Refuses a key that has expired or that may not be used from the request's address. The limits of all levels apply.
 * @throws GatewayError `expired_api_key` (401) or `address_not_allowed` (403)
 */
export function checkCaller(caller: ApiKey, request: IncomingMessage, nowMs: number, isProxy: ProxyTest | undefined): void {
  if (caller.limits !== undefined) checkLimits(caller.limits, request, nowMs, isProxy);
  if (caller.userLimits !== undefined) checkLimits(caller.userLimits, request, nowMs, isProxy);
  if (caller.team?.limits !== undefined) checkLimits(caller.team.limits, request, nowMs, isProxy);
  if (caller.organizationLimits !== undefined) checkLimits(caller.organizationLimits, request, nowMs, isProxy);
}

/** @throws GatewayError `expired_api_key` if a level of the caller has expired */
export function checkExpiry({ limits, userLimits, team, organizationLimits }: CallerLimits, nowMs: number): void {
  for (const level of [limits, userLimits, team?.limits, organizationLimits]) if (level !== undefined) checkExpired(level, nowMs);
}

function checkExpired({ expiresAtMs }: AccessLimits, nowMs: number): void {
  if (expiresAtMs === undefined || nowMs < expiresAtMs) return;
  throw new GatewayError('expired_api_key', `this API key expired at ${new Date(expiresAtMs).toISOString()}`);
}

function checkLimits(limits: AccessLimits, request: IncomingMessage, nowMs: number, isProxy: ProxyTest | undefined): void {
  checkExpired(limits, nowMs);
  const { addresses } = limits;
  if (addresses === undefined) return;
  const address = clientAddress(request, isProxy);
  if (address !== undefined && compile(addresses)(address)) return;
  throw new GatewayError('address_not_allowed', `this API key may not be used from the address ${address ?? 'of this connection'}`);
}

/** The levels with lists of what a caller may call. */
export type CallerLimits = Partial<Pick<ApiKey, 'limits' | 'userLimits' | 'team' | 'organizationLimits'>>;

/** Whether a caller may call a model by this name: every level that has a list of models allows it. */
export function mayCall(caller: CallerLimits, model: string): boolean {
  return (
    isListed(caller.limits?.models, model) &&
    isListed(caller.userLimits?.models, model) &&
    isListed(caller.team?.limits?.models, model) &&
    isListed(caller.organizationLimits?.models, model)
  );
}

/** Whether a level of the caller has a list of upstreams. */
export function hasUpstreamList({ limits, userLimits, team, organizationLimits }: CallerLimits): boolean {
  return (limits?.upstreams ?? userLimits?.upstreams ?? team?.limits?.upstreams ?? organizationLimits?.upstreams) !== undefined;
}

/** Whether calls of a caller may go to an upstream: every level that has a list of upstreams allows it. */
export function mayUseUpstream(caller: CallerLimits, upstream: string): boolean {
  return (
    isListed(caller.limits?.upstreams, upstream) &&
    isListed(caller.userLimits?.upstreams, upstream) &&
    isListed(caller.team?.limits?.upstreams, upstream) &&
    isListed(caller.organizationLimits?.upstreams, upstream)
  );
}

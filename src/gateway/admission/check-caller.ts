import type { ProxyTest } from '../settings/call-settings.ts';
import type { IncomingMessage } from 'node:http';

import type { AccessLimits } from '../../accounts/access-limits.ts';
import type { ApiKey } from '../../accounts/api-key.ts';
import { GatewayError } from '../../inference/gateway-error.ts';
import { compileAddressList } from '../../platform/http/address-list.ts';

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

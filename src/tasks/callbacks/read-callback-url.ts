import { GatewayError } from '../../inference/gateway-error.ts';
import { isPrivateHost } from '../../platform/http/public-address.ts';

const urlCharactersMax = 2048;

/**
 * Checks the callback address of a request without a look-up. The sender checks at each attempt where it really leads.
 * @param param the field, for the error
 * @throws GatewayError `invalid_value`
 */
export function readCallbackUrl(
  value: unknown,
  { param, allowPrivate }: { readonly param: string; readonly allowPrivate: boolean },
): string {
  const refuse = (reason: string): GatewayError => new GatewayError('invalid_value', `Invalid '${param}': ${reason}.`, { param });
  if (typeof value !== 'string') throw refuse('expected the address of a receiver, as a string');
  if (value.length > urlCharactersMax) throw refuse(`an address must have at most ${urlCharactersMax} characters`);
  const url = URL.parse(value);
  if (url === null) throw refuse('it is not an absolute address');
  if (url.protocol !== 'https:' && !(allowPrivate && url.protocol === 'http:'))
    throw refuse(allowPrivate ? 'it must begin with https:// or http://' : 'it must begin with https://');
  if (url.username !== '' || url.password !== '') throw refuse('it must not hold a user name or password');
  if (!allowPrivate && isPrivateHost(url.hostname)) throw refuse('its host is not of the public internet');
  return url.href;
}

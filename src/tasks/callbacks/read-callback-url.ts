import { GatewayError } from '../../inference/gateway-error.ts';
import { isPrivateHost } from '../../platform/http/public-address.ts';

const urlCharactersMax = 2048;

/**
 * Checks the address that a request wants to be called back at, as far as it can be told without asking: the sender looks at where it really leads, each time.
 * @param param the field, for the error
 * @throws GatewayError `invalid_value`
 */
export function readCallbackUrl(
  value: unknown,
  { param, allowPrivate }: { readonly param: string; readonly allowPrivate: boolean },
): string {
  const refuse = (reason: string): GatewayError => new GatewayError('invalid_value', `Invalid '${param}': ${reason}.`, { param });
  if (typeof value !== 'string') throw refuse('expected the address of a receiver, as a string');
  if (value.length > urlCharactersMax) throw refuse(`an address has at most ${urlCharactersMax} characters`);
  const url = URL.parse(value);
  if (url === null) throw refuse('it is no absolute address');
  if (url.protocol !== 'https:' && !(allowPrivate && url.protocol === 'http:'))
    throw refuse(allowPrivate ? 'it must begin with https:// or http://' : 'it must begin with https://');
  if (url.username !== '' || url.password !== '') throw refuse('it must not hold a user name or password');
  if (!allowPrivate && isPrivateHost(url.hostname)) throw refuse('its host is not of the public internet');
  return url.href;
}

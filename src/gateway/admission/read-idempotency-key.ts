import type { IncomingHttpHeaders } from 'node:http';

import { GatewayError } from '../../inference/gateway-error.ts';

/** As long as the interfaces that know such keys allow; visible characters, because they stand in a header. */
const keyPattern = /^[\x21-\x7e](?:[\x20-\x7e]{0,253}[\x21-\x7e])?$/;

/**
 * The client's name for this one request; undefined where it has none.
 * @throws GatewayError `invalid_value` for what is no such key
 */
export function readIdempotencyKey(headers: IncomingHttpHeaders): string | undefined {
  const given = headers['idempotency-key'] ?? headers['x-idempotency-key'];
  if (given === undefined) return undefined;
  const key = (typeof given === 'string' ? given : (given[0] ?? '')).trim();
  if (key === '') return undefined;
  if (!keyPattern.test(key))
    throw new GatewayError('invalid_value', 'Idempotency-Key: expected 1 to 255 visible ASCII characters', { param: 'Idempotency-Key' });
  return key;
}

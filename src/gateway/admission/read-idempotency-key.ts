import type { IncomingHttpHeaders } from 'node:http';

import { GatewayError } from '../../inference/gateway-error.ts';

/** The length that other interfaces with such keys allow; visible characters, because keys are in a header. */
const keyPattern = /^[\x21-\x7e](?:[\x20-\x7e]{0,253}[\x21-\x7e])?$/;

/**
 * The client's name for this request. Undefined if there is none.
 * @throws GatewayError `invalid_value` for an invalid key
 */
export function readIdempotencyKey(headers: IncomingHttpHeaders): string | undefined {
  const header = headers['idempotency-key'] ?? headers['x-idempotency-key'];
  if (header === undefined) return undefined;
  const key = (typeof header === 'string' ? header : (header[0] ?? '')).trim();
  if (key === '') return undefined;
  if (!keyPattern.test(key))
    throw new GatewayError('invalid_value', 'Idempotency-Key: expected 1 to 255 visible ASCII characters', { param: 'Idempotency-Key' });
  return key;
}

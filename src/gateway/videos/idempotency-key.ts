import { createHash } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';

import type { ApiKey } from '../../accounts/api-key.ts';
import { GatewayError } from '../../inference/gateway-error.ts';
import type { VideoRequest } from '../../inference/video.ts';
import type { Idempotency } from '../../tasks/task-store.ts';

const keptMs = 24 * 3600 * 1000;
/** As long as the interfaces that know such keys allow; visible characters, because they stand in a header. */
const keyPattern = /^[\x21-\x7e](?:[\x20-\x7e]{0,253}[\x21-\x7e])?$/;

/**
 * The client's name for this one wish, by which a repetition of it is known for 24 hours among those of its API key.
 *
 * What was asked for is compared, and not the bytes: forms are written anew each time, with other boundaries.
 * @throws GatewayError `invalid_value` for what is no such key
 */
export function readIdempotency(
  headers: IncomingHttpHeaders,
  { caller, request, nowMs }: { readonly caller: Pick<ApiKey, 'id'>; readonly request: VideoRequest; readonly nowMs: number },
): Idempotency | undefined {
  const given = headers['idempotency-key'] ?? headers['x-idempotency-key'];
  const key = (typeof given === 'string' ? given : given?.[0])?.trim();
  if (key === undefined || key === '') return undefined;
  if (!keyPattern.test(key))
    throw new GatewayError('invalid_value', 'Idempotency-Key: expected 1 to 255 visible ASCII characters', { param: 'Idempotency-Key' });
  const bodyHash = createHash('sha256').update(JSON.stringify(request)).digest('hex');
  return { keyId: caller.id, key, bodyHash, untilMs: nowMs + keptMs };
}

import { createHash } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';

import type { ApiKey } from '../../../accounts/api-key.ts';
import type { VideoRequest } from '../../../inference/video.ts';
import type { Idempotency } from '../../../tasks/task-store.ts';
import { readIdempotencyKey } from '../../admission/read-idempotency-key.ts';

const keptMs = 24 * 3600 * 1000;

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
  const key = readIdempotencyKey(headers);
  if (key === undefined) return undefined;
  const bodyHash = createHash('sha256').update(JSON.stringify(request)).digest('hex');
  return { keyId: caller.id, key, bodyHash, untilMs: nowMs + keptMs };
}

import { createHash } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';

import type { ApiKey } from '../../../accounts/api-key.ts';
import type { VideoRequest } from '../../../inference/video.ts';
import type { Idempotency } from '../../../tasks/task-store.ts';
import { readIdempotencyKey } from '../../admission/read-idempotency-key.ts';

const retentionMs = 24 * 3600 * 1000;

/**
 * The idempotency key of a request. For 24 hours, a repetition with the same API key gets the same task. The decoded
 * requests are compared and not their bytes, because forms have different boundaries each time.
 * @throws GatewayError `invalid_value` if it is not a valid key
 */
export function readIdempotency(
  headers: IncomingHttpHeaders,
  { caller, request, nowMs }: { readonly caller: Pick<ApiKey, 'id'>; readonly request: VideoRequest; readonly nowMs: number },
): Idempotency | undefined {
  const key = readIdempotencyKey(headers);
  if (key === undefined) return undefined;
  const bodyHash = createHash('sha256').update(JSON.stringify(request)).digest('hex');
  return { keyId: caller.id, key, bodyHash, untilMs: nowMs + retentionMs };
}

import { GatewayError } from '../../inference/gateway-error.ts';

/** Clients that honour this header do not retry a request that would get the same refusal. */
const final = { 'x-should-retry': 'false' } as const;
const retryAfterSeconds = 2;

export function conflict(): GatewayError {
  return new GatewayError(
    'idempotency_conflict',
    'Idempotency-Key: this key was used before, with another request. Use a new key for every request.',
    { param: 'Idempotency-Key', headers: final },
  );
}

export function inProgress(): GatewayError {
  return new GatewayError(
    'idempotency_in_progress',
    `Idempotency-Key: a request with this key is under way. Please try again in ${retryAfterSeconds}s.`,
    {
      param: 'Idempotency-Key',
      retryAfterSeconds,
    },
  );
}

/** @param requestId the id of the first call with this key */
export function spent(requestId: string): GatewayError {
  const message = `Idempotency-Key: the request with this key was ${requestId}. Its answer cannot be repeated: it was too long, the storage for answers was full, it was interrupted, or the gateway stopped. Check its receipt before you send the request with another key: it may have been charged.`;
  return new GatewayError('idempotency_spent', message, { param: 'Idempotency-Key', headers: final });
}

export function unavailable(cause: unknown): GatewayError {
  return new GatewayError(
    'idempotency_unavailable',
    'Idempotency-Key: whether this request was made before cannot be looked up at the moment, so it was not made. Please try again in 1s.',
    { cause, retryAfterSeconds: 1, internal: cause instanceof Error ? cause.message : 'the store refused' },
  );
}

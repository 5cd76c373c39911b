import type { UpstreamRequest } from '../../../platform/http/upstream-client.ts';
import type { Target } from '../routing/target.ts';

/**
 * The idempotency keys of a call's attempts. They are derived from the call's id, never from a key of its client: two clients of this gateway are one client to the upstream, and
 * the same key of both would give one of them the other's reply.
 *
 * An attempt repeats its key only if it repeats the request: at the same target, after one that got no answer. After an answer the key changes, because some upstreams give the
 * recorded answer again, even if it is an error.
 */
export class AttemptKeys {
  readonly #callId: string;
  #number = 1;

  /** @param callId the id of the call, or of one round of its tool loop */
  constructor(callId: string) {
    this.#callId = callId;
  }

  /** The next attempt asks for something new. */
  renew(): void {
    this.#number += 1;
  }

  /** The request with its key, where the upstream takes one and the request has none. */
  sign({ upstream }: Target, request: UpstreamRequest): UpstreamRequest {
    if (!upstream.takesIdempotencyKeys || request.headers['idempotency-key'] !== undefined) return request;
    return { ...request, headers: { ...request.headers, 'idempotency-key': `${this.#callId}-${this.#number}` } };
  }
}

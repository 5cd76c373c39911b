import type { IncomingMessage } from 'node:http';

import type { ApiKey } from '../../../accounts/api-key.ts';
import type { IdempotencyClaim } from '../../../billing/idempotency/idempotency-claim.ts';
import type { Idempotency } from '../../../billing/idempotency/idempotency.ts';
import type { StoredReply } from '../../../billing/idempotency/stored-reply.ts';
import { GatewayError } from '../../../inference/gateway-error.ts';
import { DirectRequest } from '../../../platform/http/direct-request.ts';
import { waitFor } from '../../../platform/wait-for.ts';
import type { ClientReply } from '../../replies/client-reply.ts';
import type { Gateway } from '../../endpoints/gateway.ts';
import { findCaller } from '../../admission/enter.ts';
import { wordingOfPath } from '../../endpoints/registry.ts';
import type { RequestIdentity } from '../../endpoints/shared/endpoint.ts';
import { reserveCall } from '../../admission/limits/reserve-call.ts';
import type { RequestTarget } from '../../admission/read-request.ts';
import type { CallReport } from '../../telemetry/call-report.ts';
import { type BodyIdentity, identifyBody } from './body-identity.ts';
import { decideKey } from './decide-key.ts';
import { readIdempotencyKey } from '../../admission/read-idempotency-key.ts';
import { RecordedReply } from './recorded-reply.ts';
import { replayReply } from './replay-reply.ts';

/** A store that does not respond must not delay the client's answer any longer. */
const releaseMsMax = 2000;

/** A request, the destination of its reply, and the report that its route begins. */
export type RepeatableRequest = {
  readonly request: IncomingMessage;
  response: ClientReply;
  readonly callId: string;
  readonly report: CallReport | undefined;
};

/** A route that is served once for each key, and the function that runs it. */
export type ServedRoute = {
  readonly identifiedBy: RequestIdentity;
  readonly target: RequestTarget;
  readonly run: () => Promise<void> | undefined;
};

/**
 * Serves a request that its client may repeat: first by its route, and later by the recorded answer.
 * @throws GatewayError as the route does, or because of the key
 */
export async function serveOnce(
  gateway: Gateway,
  idempotency: Idempotency,
  handled: RepeatableRequest,
  served: ServedRoute,
): Promise<void> {
  const name = readIdempotencyKey(handled.request.headers);
  if (name === undefined) return await served.run();
  await new RepeatableCall({ gateway, idempotency, handled, served, name }).serve();
}

/** Whether the route will read a body. A request without one is identified by its path. */
function readsBody({ headers }: IncomingMessage, identifiedBy: RequestIdentity): boolean {
  if (identifiedBy === 'path') return false;
  return headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? '0') > 0;
}

type Parts = {
  readonly gateway: Gateway;
  readonly idempotency: Idempotency;
  readonly handled: RepeatableRequest;
  readonly served: ServedRoute;
  readonly name: string;
};

/**
 * One request with a key. Its route runs until the body is complete; only then is it known whether the request was made
 * before.
 */
class RepeatableCall {
  readonly #parts: Parts;
  readonly #reply: RecordedReply;
  readonly #left = new AbortController();
  #isReplayed = false;
  #refusal: { readonly error: unknown } | undefined;

  constructor(parts: Parts) {
    this.#parts = parts;
    const { handled, gateway } = parts;
    // Writers wait this long for a slow client. A recorded reply continues without the client before that.
    this.#reply = new RecordedReply(handled.response, gateway.settings().timeouts.stalledReaderMs / 2);
    handled.response = this.#reply;
    this.#reply.on('close', () => this.#left.abort(new GatewayError('request_timeout', 'the client disconnected')));
  }

  async serve(): Promise<void> {
    const { handled, served } = this.#parts;
    const { request } = handled;
    const { path, query, model } = served.target;
    const named = model === undefined ? [] : [model];
    const identity = identifyBody([request.method ?? '', path, query.toString(), ...named], request.headers['content-type']);
    if (readsBody(request, served.identifiedBy) && request instanceof DirectRequest) this.#watch(request, identity);
    else {
      await this.#begin(identity.finish().digest);
      if (this.#isReplayed) return;
    }
    try {
      await served.run();
    } catch (error) {
      // A route whose request was answered here only sees that its body never ends.
      if (this.#refusal !== undefined) throw this.#refusal.error;
      if (!this.#isReplayed) throw error;
    }
    if (this.#isReplayed) handled.report?.ended('finished', undefined);
  }

  #watch(request: DirectRequest, identity: BodyIdentity): void {
    const decide = async (): Promise<void> => {
      const { digest, rest } = identity.finish();
      try {
        await this.#begin(digest);
        if (this.#isReplayed) request.failBody(new Error('the request was made before'));
        else request.endBody(rest);
      } catch (error) {
        this.#refusal = { error };
        request.failBody(new Error('the request is refused', { cause: error }));
      }
    };
    request.watchBody({ piece: identity.piece.bind(identity), whole: () => void decide() });
  }

  /**
   * Checks whether the request was made before, and then repeats the answer.
   * @throws GatewayError
   */
  async #begin(digest: Uint8Array): Promise<void> {
    const { gateway, idempotency, handled, served, name } = this.#parts;
    // It was refused while its body arrived.
    if (this.#isAnswered()) return;
    const caller = await findCaller(gateway, handled.request, served.target.queryKeys);
    const signal = this.#left.signal;
    const begun = await idempotency.begin({ keyId: caller.id, name, digest, requestId: handled.callId, signal });
    if ('kept' in begun) return await this.#replay(caller, begun.kept);
    if (this.#isAnswered()) return await begun.claim.release();
    this.#record(begun.claim);
  }

  #isAnswered(): boolean {
    return this.#reply.headersSent || this.#reply.destroyed;
  }

  #record(claim: IdempotencyClaim): void {
    const { handled } = this.#parts;
    this.#reply.record({
      add: claim.add,
      whenRoom: claim.whenRoom,
      ended: ({ status, headers, isBroken }) => {
        const disposition = decideKey({ status, isBroken, entry: handled.report?.entry });
        const done = disposition === 'keep' ? claim.keep({ status, headers }) : claim[disposition]();
        // A client that learns that nothing was done may use its key for another request at once.
        return disposition === 'release' ? waitFor(done, releaseMsMax).catch(() => {}) : undefined;
      },
    });
  }

  /** A repetition counts as one request of its caller, and uses nothing else. */
  async #replay(caller: ApiKey, reply: StoredReply): Promise<void> {
    const { gateway, handled, served } = this.#parts;
    const { limiter, clock } = gateway;
    const { perKey, timeouts } = gateway.settings();
    const { voice } = wordingOfPath(served.target.path, handled.request.headers);
    const facts = { requestedModel: '', stream: false, inputCharacters: 0, needs: [], outputTokensMax: 0 };
    const taken = await reserveCall({ limiter, clock, voice, caller, perKey, facts, model: undefined });
    try {
      await replayReply({
        reply,
        response: this.#reply,
        callId: handled.callId,
        limitHeaders: taken?.headers ?? {},
        stalledReaderMs: timeouts.stalledReaderMs,
        signal: this.#left.signal,
      });
      this.#isReplayed = true;
    } finally {
      taken?.reservation.settle(0);
    }
  }
}

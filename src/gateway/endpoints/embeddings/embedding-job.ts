import { GatewayError } from '../../../inference/gateway-error.ts';
import { countInput } from '../../../inference/meters.ts';
import type { UpstreamRequest } from '../../../platform/http/upstream-client.ts';
import type { JsonObject } from '../../../platform/json/json-value.ts';
import { boundAtTarget, type Purchase } from '../../attempts/books/bound-call.ts';
import type { UsageBound } from '../../attempts/books/settle.ts';
import type { CallJob, PlannedAttempt } from '../../attempts/call-job.ts';
import { passReplyHeaders } from '../../attempts/exchange/pass-headers.ts';
import { createUpstreamHeaders } from '../../attempts/exchange/prepare-request.ts';
import type { ReplyRelay } from '../../attempts/exchange/reply-relay.ts';
import { digestRequest } from '../../attempts/health/attempt.ts';
import type { Target } from '../../attempts/routing/target.ts';
import { readErrorAnswer } from '../shared/read-error-answer.ts';
import { boundEmbeddings } from './bound-embeddings.ts';
import { encodeEmbeddings, readEmbeddingsReport, tellCharged } from './read-reply.ts';

/** A request for embeddings that is to be sent. */
type KnownEmbedding = {
  readonly callId: string;
  readonly body: JsonObject;
  readonly headers: Readonly<Record<string, string | undefined>>;
  /** Its prices are those that it is held by. */
  readonly purchase: Purchase;
  readonly inputCharacters: number;
  readonly encoding: 'float' | 'base64';
};

/** What the attempts of a call for embeddings send: the request with the name that its model has at the target. */
export function createEmbeddingJob(known: KnownEmbedding): CallJob {
  return {
    isFree: false,
    plan: (target) => ({ kind: 'exchange', upstreamRequest: createRequest(known, target), relay: createRelay(known, target) }),
    digest: () => digestRequest(Buffer.from(JSON.stringify(known.body))),
    sent: () => {},
    // Nothing is delivered before the reply is whole: the call is over then.
    forget: () => {},
    bound: (attempt) => boundUsage(known, attempt),
  };
}

function createRequest({ body, headers: own }: KnownEmbedding, target: Target): UpstreamRequest {
  const { upstream, upstreamModel } = target;
  const dialects = { client: 'openai-chat', upstream: 'openai-chat' } as const;
  const headers = createUpstreamHeaders({ operation: 'generate', body, headers: own }, target, dialects, undefined);
  // Clients write null for what they leave out; the vendors refuse it.
  const given = Object.fromEntries(Object.entries(body).filter(([, value]) => value !== null));
  const path = `${upstream.basePath}${upstream.services.embeddings ?? ''}`;
  return { path, method: 'POST', headers, body: Buffer.from(JSON.stringify({ ...given, model: upstreamModel })) };
}

function createRelay({ callId, purchase, encoding }: KnownEmbedding, { upstream }: Target): ReplyRelay {
  return {
    upstreamFraming: undefined,
    replyHeaders: (received) => ({ 'content-type': 'application/json', ...passReplyHeaders(upstream, received, callId) }),
    readReply: readEmbeddingsReport,
    writeReply: (reply, bytes, charged) => {
      const written = encodeEmbeddings(reply, encoding, purchase.requestedModel);
      if (written === undefined) throw holdsNone(upstream.id, bytes.length);
      const report = readEmbeddingsReport(reply);
      return Buffer.from(JSON.stringify(tellCharged(written, report, charged?.(report, true).usage)));
    },
    openStream: () => {
      throw new Error('embeddings are never streamed');
    },
    readError: readErrorAnswer,
  };
}

function holdsNone(upstreamId: string, length: number): GatewayError {
  return new GatewayError('upstream_invalid_reply', "Upstream connection error: the model service's reply holds no embeddings.", {
    internal: `${upstreamId} answered with ${length} bytes`,
  });
}

function boundUsage({ body, inputCharacters, purchase }: KnownEmbedding, { target, pricingParameters }: PlannedAttempt): UsageBound {
  return {
    // A text has more characters than tokens, nearly always.
    isSuspicious: (usage) => countInput(usage) > inputCharacters || (usage.outputTokens ?? 0) > 0,
    find: () => {
      const { most } = boundEmbeddings(body, inputCharacters);
      return { most, nanoUsd: boundAtTarget(purchase, target, { most, pricingParameters }), provesCounts: true };
    },
  };
}

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
import { serviceAt, type Target } from '../../attempts/routing/target.ts';
import { readErrorAnswer } from '../shared/read-error-answer.ts';
import { boundEmbeddings } from './bound-embeddings.ts';
import { encodeEmbeddings, readEmbeddingsReport, withChargedUsage } from './read-reply.ts';

/** An embeddings request that can be sent. */
type PreparedEmbedding = {
  readonly callId: string;
  readonly body: JsonObject;
  readonly headers: Readonly<Record<string, string | undefined>>;
  /** Has the prices that the hold used. */
  readonly purchase: Purchase;
  readonly inputCharacters: number;
  readonly encoding: 'float' | 'base64';
};

/** Creates the job of an embeddings call. Each target gets the request with its own name of the model. */
export function createEmbeddingJob(call: PreparedEmbedding): CallJob {
  return {
    isFree: false,
    plan: (target) => ({ kind: 'exchange', upstreamRequest: createRequest(call, target), relay: createRelay(call, target) }),
    digest: () => digestRequest(Buffer.from(JSON.stringify(call.body))),
    sent: () => {},
    // A reply is delivered whole, so no attempt follows a delivery.
    forget: () => {},
    bound: (attempt) => boundUsage(call, attempt),
  };
}

function createRequest({ body, headers: own }: PreparedEmbedding, target: Target): UpstreamRequest {
  const { upstream, upstreamModel } = target;
  const dialects = { client: 'openai-chat', upstream: 'openai-chat' } as const;
  const headers = createUpstreamHeaders({ operation: 'generate', body, headers: own }, target, dialects, undefined);
  // Clients send null for absent fields; vendors refuse it.
  const present = Object.fromEntries(Object.entries(body).filter(([, value]) => value !== null));
  const path = serviceAt(upstream, upstream.services.embeddings ?? '', upstreamModel);
  return { path, method: 'POST', headers, body: Buffer.from(JSON.stringify({ ...present, model: upstreamModel })) };
}

function createRelay({ callId, purchase, encoding }: PreparedEmbedding, { upstream }: Target): ReplyRelay {
  return {
    upstreamFraming: undefined,
    replyHeaders: (received) => ({ 'content-type': 'application/json', ...passReplyHeaders(upstream, received, callId) }),
    readReply: readEmbeddingsReport,
    writeReply: (reply, bytes, charged) => {
      const written = encodeEmbeddings(reply, encoding, purchase.requestedModel);
      if (written === undefined) throw noEmbeddings(upstream.id, bytes.length);
      const report = readEmbeddingsReport(reply);
      return Buffer.from(JSON.stringify(withChargedUsage(written, report, charged?.(report, true).usage)));
    },
    openStream: () => {
      throw new Error('embeddings are never streamed');
    },
    readError: readErrorAnswer,
  };
}

function noEmbeddings(upstreamId: string, length: number): GatewayError {
  return new GatewayError('upstream_invalid_reply', "Upstream connection error: the model service's reply has no embeddings.", {
    internal: `${upstreamId} answered with ${length} bytes`,
  });
}

function boundUsage({ body, inputCharacters, purchase }: PreparedEmbedding, { target, pricingParameters }: PlannedAttempt): UsageBound {
  return {
    // A text nearly always has more characters than tokens.
    isSuspicious: (usage) => countInput(usage) > inputCharacters || (usage.outputTokens ?? 0) > 0,
    find: () => {
      const { most } = boundEmbeddings(body, inputCharacters);
      return { most, nanoUsd: boundAtTarget(purchase, target, { most, pricingParameters }), provesCounts: true };
    },
  };
}

import type { ReplyReport } from '../../../dialects/chat-dialect.ts';
import { readModerationReply } from '../../../dialects/openai-moderations/read-moderation-reply.ts';
import { chatDialects } from '../../../dialects/registry.ts';
import { GatewayError } from '../../../inference/gateway-error.ts';
import { isJsonObject, type JsonObject } from '../../../platform/json/json-value.ts';
import type { UpstreamRequest } from '../../../platform/http/upstream-client.ts';
import { boundAtTarget, type Purchase } from '../../attempts/books/bound-call.ts';
import type { CallJob } from '../../attempts/call-job.ts';
import { passReplyHeaders } from '../../attempts/exchange/pass-headers.ts';
import { createUpstreamHeaders } from '../../attempts/exchange/prepare-request.ts';
import type { ReplyRelay } from '../../attempts/exchange/reply-relay.ts';
import { digestRequest } from '../../attempts/health/attempt.ts';
import type { Target } from '../../attempts/routing/target.ts';
import { readErrorAnswer } from '../shared/read-error-answer.ts';
import type { Moderation } from './read-moderation.ts';

/** A moderation request that can be sent. */
export type PreparedModeration = {
  readonly callId: string;
  readonly body: JsonObject;
  readonly headers: Readonly<Record<string, string | undefined>>;
  readonly moderation: Moderation;
  /** Has the prices that the hold used. */
  readonly purchase: Purchase;
};

/** Creates the job of a moderation. Each target gets the request with its own name of the model. */
export function createModerationJob(call: PreparedModeration): CallJob {
  const { moderation, purchase, body } = call;
  return {
    isFree: false,
    plan: (target) => ({ kind: 'exchange', upstreamRequest: createRequest(call, target), relay: createRelay(call, target) }),
    digest: () => digestRequest(Buffer.from(JSON.stringify(body))),
    sent: () => {},
    // A reply is delivered whole, so no attempt follows a delivery.
    forget: () => {},
    bound: ({ target, pricingParameters }) => ({
      // Replies report no usage, so no figure can be wrong.
      isSuspicious: () => false,
      find: () => {
        const { most } = moderation.bounds;
        return { most, nanoUsd: boundAtTarget(purchase, target, { most, pricingParameters }), provesCounts: true };
      },
    }),
  };
}

function createRequest({ body, headers: own }: PreparedModeration, target: Target): UpstreamRequest {
  const { upstream, upstreamModel } = target;
  const dialects = { client: 'openai-chat', upstream: 'openai-chat' } as const;
  const headers = createUpstreamHeaders({ operation: 'generate', body, headers: own }, target, dialects, undefined);
  // Clients send null for absent fields; vendors refuse it.
  const present = Object.fromEntries(Object.entries(body).filter(([, value]) => value !== null));
  const path = `${upstream.basePath}${upstream.services.moderations ?? ''}`;
  return { path, method: 'POST', headers, body: Buffer.from(JSON.stringify({ ...present, model: upstreamModel })) };
}

function createRelay({ callId, moderation, purchase }: PreparedModeration, { upstream }: Target): ReplyRelay {
  return {
    upstreamFraming: undefined,
    replyHeaders: (received) => ({ 'content-type': 'application/json', ...passReplyHeaders(upstream, received, callId) }),
    readReply: (reply) => readReport(reply, moderation.inputs.length),
    writeReply: (reply, bytes) => {
      if (!isJsonObject(reply) || readModerationReply(reply, moderation.inputs.length) === undefined)
        throw lacksVerdicts(upstream.id, bytes.length);
      return Buffer.from(JSON.stringify({ ...reply, model: purchase.requestedModel }));
    },
    openStream: () => {
      throw new Error('moderations are never streamed');
    },
    readError: readErrorAnswer,
  };
}

function readReport(reply: unknown, inputs: number): ReplyReport {
  const { error } = chatDialects['openai-chat'].readReply(reply);
  const judged = isJsonObject(reply) ? readModerationReply(reply, inputs) : undefined;
  return {
    outputCharacters: 0,
    ...(error !== undefined && { error }),
    ...(judged?.servedModel !== undefined && { servedModel: judged.servedModel }),
  };
}

/** The error for a reply that lacks verdicts. */
export function lacksVerdicts(upstreamId: string, length: number): GatewayError {
  const message = "Upstream connection error: the model service's reply does not judge every input.";
  return new GatewayError('upstream_invalid_reply', message, { internal: `${upstreamId} answered with ${length} bytes` });
}

import { chatDialects } from '../../../dialects/registry.ts';
import { readRerankReply } from '../../../dialects/rerank/read-rerank-reply.ts';
import type { RerankForm } from '../../../dialects/rerank/rerank-form.ts';
import { writeRerankReply } from '../../../dialects/rerank/write-rerank-reply.ts';
import { type RerankInterface, rerankPath, writeRerankRequest } from '../../../dialects/rerank/write-rerank-request.ts';
import type { ReplyReport } from '../../../dialects/chat-dialect.ts';
import { GatewayError } from '../../../inference/gateway-error.ts';
import { countInput } from '../../../inference/meters.ts';
import { createFieldNotes, type TranslationNote } from '../../../inference/translation-notes.ts';
import type { RerankReply } from '../../../inference/rerank.ts';
import { isJsonObject, type JsonObject } from '../../../platform/json/json-value.ts';
import { boundAtTarget, type Purchase } from '../../attempts/books/bound-call.ts';
import type { UsageBound } from '../../attempts/books/settle.ts';
import type { AttemptPlan, CallJob, PlannedAttempt } from '../../attempts/call-job.ts';
import { passReplyHeaders } from '../../attempts/exchange/pass-headers.ts';
import { createUpstreamHeaders } from '../../attempts/exchange/prepare-request.ts';
import type { ReplyRelay } from '../../attempts/exchange/reply-relay.ts';
import { digestRequest } from '../../attempts/health/attempt.ts';
import type { Target } from '../../attempts/routing/target.ts';
import { translationHeaders } from '../../replies/write-reply.ts';
import { readErrorAnswer } from '../shared/read-error-answer.ts';
import { boundsOfRanking, expectedUse, usualUnits } from './ranking-bounds.ts';
import type { Ranking } from './read-ranking.ts';

/** A ranking request that can be sent. */
type PreparedRanking = {
  readonly callId: string;
  readonly body: JsonObject;
  readonly headers: Readonly<Record<string, string | undefined>>;
  /** The spelling of the client. */
  readonly form: RerankForm;
  readonly ranking: Ranking;
  /** Whether a loss is refused. */
  readonly isStrict: boolean;
  /** Has the prices that the hold used. */
  readonly purchase: Purchase;
};

/** Creates the job of a ranking. Each target gets the request in its own spelling. */
export function createRerankJob(call: PreparedRanking): CallJob {
  return {
    isFree: false,
    plan: (target) => planRanking(call, target),
    uses: (target) => expectedUse(call.ranking, target),
    digest: () => digestRequest(Buffer.from(JSON.stringify(call.body))),
    sent: () => {},
    // A reply is delivered whole, so no attempt follows a delivery.
    forget: () => {},
    bound: (attempt) => boundUsage(call, attempt),
  };
}

function planRanking(call: PreparedRanking, target: Target): AttemptPlan {
  const { ranking, body, headers: own, isStrict } = call;
  const { upstream, upstreamModel } = target;
  const spelling: RerankInterface = upstream.services.rerank ?? 'vllm';
  const fieldNotes = createFieldNotes(isStrict);
  const { json } = writeRerankRequest(ranking.request, spelling, upstreamModel, fieldNotes);
  const notes = [...ranking.notes, ...fieldNotes.list()];
  const dialects = { client: 'openai-chat', upstream: 'openai-chat' } as const;
  const headers = createUpstreamHeaders({ operation: 'generate', body, headers: own }, target, dialects, undefined);
  const upstreamRequest = {
    path: rerankPath(upstream.basePath, spelling),
    method: 'POST' as const,
    headers,
    body: Buffer.from(JSON.stringify(json)),
  };
  const list = (): readonly TranslationNote[] => notes;
  return {
    kind: 'exchange',
    upstreamRequest,
    relay: createRelay(call, target, notes),
    ...(notes.length > 0 && { translation: { upstream: { id: `rerank-${spelling}` }, notes: { list }, replyNotes: { list: () => [] } } }),
  };
}

function createRelay(call: PreparedRanking, target: Target, notes: readonly TranslationNote[]): ReplyRelay {
  const { callId, form, ranking } = call;
  const { request } = ranking;
  const { upstream } = target;
  const read = (reply: unknown): RerankReply | undefined => (isJsonObject(reply) ? readRerankReply(reply, request) : undefined);
  return {
    upstreamFraming: undefined,
    replyHeaders: (received) => ({
      'content-type': 'application/json',
      ...passReplyHeaders(upstream, received, callId),
      ...translationHeaders(notes),
    }),
    begun: () => {
      const usage = expectedUse(ranking, target);
      // Search units follow from the request; the books estimate tokens.
      return { outputCharacters: 0, ...(usage.searchUnits !== undefined && { usageReport: { usage, raw: undefined, trustworthy: true } }) };
    },
    readReply: (reply) => reportOf(reply, read(reply)),
    writeReply: (reply, bytes, charged) => {
      const ranked = read(reply);
      if (ranked === undefined) throw noRanking(upstream.id, bytes.length);
      const usage = charged?.(reportOf(reply, ranked), true).usage ?? ranked.usage?.usage ?? {};
      return Buffer.from(JSON.stringify(writeRerankReply(ranked, request, form, { id: callId, usage })));
    },
    openStream: () => {
      throw new Error('rankings are never streamed');
    },
    readError: readErrorAnswer,
  };
}

function reportOf(reply: unknown, ranked: RerankReply | undefined): ReplyReport {
  const { error } = chatDialects['openai-chat'].readReply(reply);
  return {
    outputCharacters: 0,
    ...(error !== undefined && { error }),
    ...(ranked?.servedModel !== undefined && { servedModel: ranked.servedModel }),
    ...(ranked?.usage !== undefined && { usageReport: ranked.usage }),
  };
}

function noRanking(upstreamId: string, length: number): GatewayError {
  return new GatewayError(
    'upstream_invalid_reply',
    "Upstream connection error: the model service's reply has no ranking of these documents.",
    {
      internal: `${upstreamId} answered with ${length} bytes`,
    },
  );
}

function boundUsage({ ranking, purchase }: PreparedRanking, { target, pricingParameters }: PlannedAttempt): UsageBound {
  const { request, facts } = ranking;
  return {
    // A text nearly always has more characters than tokens.
    isSuspicious: (usage) =>
      countInput(usage) > facts.inputCharacters || (usage.outputTokens ?? 0) > 0 || (usage.searchUnits ?? 0) > usualUnits(request),
    find: () => {
      const { most } = boundsOfRanking(ranking)(target);
      return { most, nanoUsd: boundAtTarget(purchase, target, { most, pricingParameters }), provesCounts: true };
    },
  };
}

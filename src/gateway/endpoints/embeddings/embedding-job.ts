import { readEmbeddingsReply } from '../../../dialects/embeddings/read-embeddings-reply.ts';
import { joinReplies, splitTexts } from '../../../dialects/embeddings/split-texts.ts';
import { type EmbeddingForm, countTexts, listUnwritten, writeEmbeddings } from '../../../dialects/embeddings/write-embeddings.ts';
import { chatDialects } from '../../../dialects/registry.ts';
import { GatewayError } from '../../../inference/gateway-error.ts';
import { countInput } from '../../../inference/meters.ts';
import type { TranslationNote } from '../../../inference/translation-notes.ts';
import { gatherReplies } from '../../../platform/http/gather-replies.ts';
import type { UpstreamRequest } from '../../../platform/http/upstream-client.ts';
import type { JsonObject } from '../../../platform/json/json-value.ts';
import type { EmbeddingInterface } from '../../../upstreams/embedding-interfaces.ts';
import { boundAtTarget, type Purchase } from '../../attempts/books/bound-call.ts';
import type { UsageBound } from '../../attempts/books/settle.ts';
import type { CallJob, PlannedAttempt } from '../../attempts/call-job.ts';
import { readRefusalOf } from '../../attempts/exchange/fit-relay.ts';
import { forwardReplyHeaders, passReplyHeaders } from '../../attempts/exchange/pass-headers.ts';
import { createUpstreamHeaders } from '../../attempts/exchange/prepare-request.ts';
import type { ReplyRelay } from '../../attempts/exchange/reply-relay.ts';
import { digestRequest } from '../../attempts/health/attempt.ts';
import { serviceAt, type Target } from '../../attempts/routing/target.ts';
import { requestIdHeader, translationHeaders } from '../../replies/write-reply.ts';
import { createErrorReader } from '../shared/read-error-answer.ts';
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
  /** The most bytes of a reply. */
  readonly replyBytesMax: number;
};

/** Requests that one call has under way at a time, if its model takes fewer texts than the call has. */
const partsAtOnce = 8;

/** Creates the job of an embeddings call. Each target gets the request with its own name of the model. */
export function createEmbeddingJob(call: PreparedEmbedding): CallJob {
  return {
    isFree: false,
    plan: (target) => {
      const made = interfaceOf(target);
      const notes = made.form === 'openai' ? [] : listUnwritten(call.body);
      const parts = splitTexts(call.body, made.textsMax);
      const bodies = parts.map((part) => writeEmbeddings(part, made.form, target.upstreamModel));
      const texts = parts.map(({ input }) => countTexts(input));
      return {
        kind: 'exchange',
        upstreamRequest: createRequest(call, target, { path: made.path, form: made.form, bodies }),
        relay: createRelay(call, target, { form: made.form, notes, texts }),
        ...(bodies.length > 1 && { client: sendInParts(target, bodies, call.replyBytesMax) }),
        ...(made.form !== 'openai' && { translation: { upstream: { id: 'google-embeddings' }, notes: { list: () => notes }, replyNotes } }),
      };
    },
    digest: () => digestRequest(Buffer.from(JSON.stringify(call.body))),
    sent: () => {},
    // A reply is delivered whole, so no attempt follows a delivery.
    forget: () => {},
    bound: (attempt) => boundUsage(call, attempt),
  };
}

/** The embedding interface of a target. Only for targets that make embeddings. */
function interfaceOf({ upstream, upstreamModel, is }: Target): EmbeddingInterface {
  const found = upstream.services.embeddings?.(is ?? upstreamModel);
  if (found === undefined) throw new Error(`${upstream.id} has no embedding interface`);
  return found;
}

const replyNotes = { list: () => [] };

/** The dialect whose headers, credentials and errors a form has. */
const dialectOf = (form: EmbeddingForm): 'openai-chat' | 'gemini-generate-content' =>
  form === 'openai' ? 'openai-chat' : 'gemini-generate-content';

type Written = Pick<EmbeddingInterface, 'form' | 'path'> & { readonly bodies: readonly JsonObject[] };

function createRequest({ body, headers: own }: PreparedEmbedding, target: Target, { form, path, bodies }: Written): UpstreamRequest {
  const { upstream, upstreamModel } = target;
  const dialects = { client: 'openai-chat', upstream: dialectOf(form) } as const;
  const headers = createUpstreamHeaders({ operation: 'generate', body, headers: own }, target, dialects, undefined);
  const [first, ...others] = bodies;
  // Prices are read from this body, and it is what a copy of the content has. In parts, it is not sent itself.
  const whole = others.length === 0 ? first : { ...first, further_requests: others };
  return { path: serviceAt(upstream, path, upstreamModel), method: 'POST', headers, body: Buffer.from(JSON.stringify(whole)) };
}

/** The client of a request that is sent in parts. They are one call: the first that fails is the failure of all. */
function sendInParts({ upstream }: Target, bodies: readonly JsonObject[], bytesMax: number): ReturnType<typeof gatherReplies> {
  const written = bodies.map((body) => Buffer.from(JSON.stringify(body)));
  return gatherReplies(upstream.client, { bodies: written, join: joinReplies, partsAtOnce, bytesMax });
}

function createRelay(
  { callId, purchase, encoding }: PreparedEmbedding,
  target: Target,
  { form, notes, texts }: { readonly form: EmbeddingForm; readonly notes: readonly TranslationNote[]; readonly texts: readonly number[] },
): ReplyRelay {
  const { upstream } = target;
  const read = (reply: unknown): unknown => readEmbeddingsReply(reply, form, texts);
  return {
    upstreamFraming: undefined,
    replyHeaders: (received) => ({
      ...(form === 'openai'
        ? passReplyHeaders(upstream, received, callId)
        : { ...forwardReplyHeaders(upstream, received), [requestIdHeader]: callId, ...translationHeaders(notes) }),
      'content-type': 'application/json',
    }),
    readReply: (reply) => readEmbeddingsReport(read(reply)),
    writeReply: (reply, bytes, charged) => {
      const embeddings = read(reply);
      const written = encodeEmbeddings(embeddings, encoding, purchase.requestedModel);
      if (written === undefined) throw noEmbeddings(upstream.id, bytes.length);
      const report = readEmbeddingsReport(embeddings);
      return Buffer.from(JSON.stringify(withChargedUsage(written, report, charged?.(report, true).usage)));
    },
    openStream: () => {
      throw new Error('embeddings are never streamed');
    },
    readError: createErrorReader(chatDialects[dialectOf(form)]),
    ...readRefusalOf(target, dialectOf(form)),
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

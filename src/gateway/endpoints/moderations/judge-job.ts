import type { UsageBounds } from '../../../billing/metering/estimate-usage.ts';
import type { EncodedRequest, ReplyReading } from '../../../dialects/chat-codec.ts';
import type { UpstreamDialect } from '../../../dialects/chat-dialect.ts';
import { readJudgement, writeJudgement, writeModerationReply } from '../../../dialects/openai-moderations/judge-by-chat.ts';
import { upstreamDialects } from '../../../dialects/registry.ts';
import type { CallFacts } from '../../../inference/call-facts.ts';
import { foldEvents } from '../../../inference/fold-events.ts';
import { GatewayError } from '../../../inference/gateway-error.ts';
import { measureInput } from '../../../inference/measure-input.ts';
import { countInput } from '../../../inference/meters.ts';
import type { ModelTraits } from '../../../inference/model-traits.ts';
import { replayReply } from '../../../inference/replay-reply.ts';
import { restoreTools } from '../../../inference/restore-tools.ts';
import { createTranslationNotes, type TranslationNote } from '../../../inference/translation-notes.ts';
import { boundAtTarget, forecastUsage } from '../../attempts/books/bound-call.ts';
import type { AttemptPlan, CallJob } from '../../attempts/call-job.ts';
import { passReplyHeaders } from '../../attempts/exchange/pass-headers.ts';
import { fitRelay } from '../../attempts/exchange/fit-relay.ts';
import { createUpstreamHeaders, shapeRequest } from '../../attempts/exchange/prepare-request.ts';
import type { ReplyRelay } from '../../attempts/exchange/reply-relay.ts';
import { digestRequest } from '../../attempts/health/attempt.ts';
import type { Target } from '../../attempts/routing/target.ts';
import { translationHeaders } from '../../replies/write-reply.ts';
import { createErrorReader } from '../shared/read-error-answer.ts';
import { lacksVerdicts, type PreparedModeration } from './moderation-job.ts';
import type { Moderation } from './read-moderation.ts';

/** The facts for limits and holds. @throws GatewayError (400) for more inputs than one answer judges */
export function factsOfJudgement({ inputs, facts }: Moderation): CallFacts {
  const { outputTokensMax } = writeJudgement(inputs, facts.requestedModel);
  return { ...facts, inputCharacters: facts.inputCharacters + usualOwnCharacters, outputTokensMax };
}

/** The usage bounds of a judgement at a target, for holds and quotes alike. */
export function boundsOfJudgement({ inputs, facts }: Moderation): (target: Target) => UsageBounds {
  const texts = inputs.map((parts) => parts.filter(({ kind }) => kind === 'text'));
  const { outputTokensMax, ...request } = writeJudgement(texts, facts.requestedModel);
  // Images have a bound of their own, independent of their bytes.
  const images = inputs.flat().filter(({ kind }) => kind === 'image').length;
  const input = { ...measureInput(request), images };
  const inputCharacters = facts.inputCharacters + usualOwnCharacters;
  return (target) => forecastUsage({ facts: { inputCharacters, outputTokensMax }, input, outputTokensDefault: undefined }, target);
}

/** Instructions and schema of a judgement of one input. */
const usualOwnCharacters = 2000;

/** The job of a call that a chat model judges: a chat in the dialect of each target, its answer read as a verdict. */
export function createJudgeJob(call: PreparedModeration & { readonly newId: (prefix: string) => string }): CallJob {
  const { body, moderation, purchase } = call;
  const boundsAt = boundsOfJudgement(moderation);
  return {
    isFree: false,
    plan: (target) => planJudgement(call, target),
    digest: () => digestRequest(Buffer.from(JSON.stringify(body))),
    sent: () => {},
    // A reply is delivered whole, so no attempt follows a delivery.
    forget: () => {},
    bound: ({ target, pricingParameters }) => {
      const { most } = boundsAt(target);
      return {
        isSuspicious: (usage) =>
          countInput(usage) > (most.inputTokens ?? Infinity) || (usage.outputTokens ?? 0) > (most.outputTokens ?? Infinity),
        find: () => ({ most, nanoUsd: boundAtTarget(purchase, target, { most, pricingParameters }), provesCounts: true }),
      };
    },
  };
}

/** Chat completions first: OpenAI stores Responses by default. */
function dialectOf({ upstream }: Target): UpstreamDialect {
  const id = upstream.dialects.find((dialect) => dialect === 'openai-chat') ?? upstream.dialects[0];
  if (id === undefined) throw new Error(`${upstream.id} was chosen for a chat, and has no chat dialect`);
  return upstreamDialects[id];
}

function planJudgement(call: Parameters<typeof createJudgeJob>[0], target: Target): AttemptPlan {
  const { moderation, purchase, headers: own, newId } = call;
  const { upstream, upstreamModel } = target;
  const dialect = dialectOf(target);
  const { proofOrigin } = upstream;
  refuseAddresses(moderation, dialect, upstream.traitsOf(upstreamModel));
  // Strict notes refuse a loss: a model must not judge less than the client sent.
  const fit = {
    upstreamModel,
    traits: upstream.traitsOf(upstreamModel),
    proofOrigin,
    notes: createTranslationNotes({ ...dialect.codec.fieldNames, turns: 'input' }, true),
  };
  const encoded = dialect.codec.encodeRequest(writeJudgement(moderation.inputs, purchase.requestedModel), fit);
  const headers = createUpstreamHeaders(
    { operation: 'generate', body: {}, headers: own },
    target,
    { client: 'openai-chat', upstream: dialect.id },
    undefined,
  );
  const { body } = encoded;
  const written = { body, bytes: Buffer.from(JSON.stringify(body)), headers: { ...headers, ...encoded.headers } };
  const shaped = shapeRequest(target, { dialect: dialect.id, operation: 'generate', upstreamModel }, written, []);
  if (shaped === undefined) throw new Error(`${upstream.vendor.id} has the dialect ${dialect.id} without a route for it`);
  const notes = [noteOf(purchase.requestedModel), ...shaped.notes];
  const relay = createRelay(call, target, { dialect, encoded, reading: { proofOrigin, newId, notes: fit.notes }, notes });
  return {
    kind: 'exchange',
    upstreamRequest: shaped.upstreamRequest,
    upstreamDialect: dialect,
    relay: fitRelay(relay, target, dialect.id, []),
    translation: { upstream: dialect, notes: { list: () => notes }, replyNotes: { list: () => [] } },
  };
}

/** The gateway fetches no images here: the model reads inline images, and addresses if its vendor takes them. */
function refuseAddresses({ inputs }: Moderation, { codec }: UpstreamDialect, { fetchesUrls }: ModelTraits): void {
  const hasAddress = inputs.flat().some((part) => part.kind === 'image' && !part.url.startsWith('data:'));
  if (!hasAddress || (fetchesUrls && codec.takesAddressOf.includes('image'))) return;
  const message = 'input: this chat model cannot fetch images by URL; send the image as a data: URL';
  throw new GatewayError('untranslatable_field', message, { param: 'input' });
}

function noteOf(model: string): TranslationNote {
  return { kind: 'emulated', field: 'model', reason: `the chat model ${model.slice(0, 128)} judged in place of a moderation model` };
}

type Judging = {
  readonly dialect: UpstreamDialect;
  readonly encoded: EncodedRequest;
  readonly reading: ReplyReading;
  readonly notes: readonly TranslationNote[];
};

function createRelay({ callId, moderation, purchase }: PreparedModeration, { upstream }: Target, judging: Judging): ReplyRelay {
  const { dialect, notes } = judging;
  const { inputs } = moderation;
  return {
    upstreamFraming: undefined,
    replyHeaders: (received) => ({
      'content-type': 'application/json',
      ...passReplyHeaders(upstream, received, callId),
      ...translationHeaders(notes),
    }),
    readReply: (reply) => dialect.readReply(reply),
    writeReply: (reply, bytes) => {
      const results = readJudgement(textOf(reply, judging), inputs.length);
      if (results === undefined) throw lacksVerdicts(upstream.id, bytes.length);
      return Buffer.from(JSON.stringify(writeModerationReply(results, inputs, { id: callId, model: purchase.requestedModel })));
    },
    openStream: () => {
      throw new Error('moderations are never streamed');
    },
    readError: createErrorReader(dialect),
  };
}

/** The text of an answer, or the arguments if the model called a function instead. */
function textOf(reply: unknown, { dialect, encoded, reading }: Judging): string {
  const restore = restoreTools(encoded);
  const { parts } = foldEvents(replayReply(dialect.codec.decodeReply(reply, reading)).flatMap((event) => restore(event)));
  return parts.map((part) => (part.kind === 'text' ? part.text : '')).join('');
}

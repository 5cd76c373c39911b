import type { MeteredCall } from '../../../billing/metering/meter-call.ts';
import { invalidField } from '../../../dialects/openai-audio/audio-errors.ts';
import { speechContentTypes } from '../../../dialects/openai-audio/audio-formats.ts';
import { speechModelOf } from '../../../dialects/openai-audio/audio-models.ts';
import type { SpeechFacts } from '../../../dialects/openai-audio/speech-request.ts';
import type { Usage, UsageReport } from '../../../inference/usage.ts';
import { estimateTokens } from '../../../inference/count-text-characters.ts';
import type { JsonObject } from '../../../platform/json/json-value.ts';
import { digestRequest } from '../../attempts/health/attempt.ts';
import { createUpstreamHeaders } from '../../attempts/exchange/prepare-request.ts';
import type { ReplyRelay } from '../../attempts/exchange/reply-relay.ts';
import { serviceAt, type Target } from '../../attempts/routing/target.ts';
import type { AudioRequest, PreparedAudio } from './audio-job.ts';
import { checkSound, createAudioRelay, type RelayedAudio } from './audio-relay.ts';

/** A validated speech request. */
export type SpeechCall = {
  readonly facts: SpeechFacts;
  readonly body: JsonObject;
  /** The received body. It passes unchanged if the model has the same name at the target. */
  readonly bytes: Buffer;
  readonly headers: Readonly<Record<string, string | undefined>>;
};

/** Creates the audio request of a speech call. */
export function createSpeechJob(call: SpeechCall): AudioRequest {
  const { requestedModel, inputCharacters, instructionsCharacters, streamsEvents } = call.facts;
  return {
    operation: 'speech',
    facts: {
      requestedModel,
      stream: streamsEvents,
      inputCharacters: inputCharacters + instructionsCharacters,
      needs: [],
      outputTokensMax: 0,
    },
    digest: () => digestRequest(call.bytes),
    prepare: (target) => prepareSpeech(call, target),
  };
}

function prepareSpeech(call: SpeechCall, target: Target): PreparedAudio {
  const { facts, body, bytes } = call;
  const { upstream, upstreamModel } = target;
  const model = speechModelOf(target.is ?? upstreamModel);
  if (facts.streamsEvents && model.streamsEvents === false)
    throw invalidField(
      'stream_format',
      `stream_format 'sse' is not supported with model '${facts.requestedModel.slice(0, 256)}'.`,
      'unsupported_value',
    );
  const request = { operation: 'generate', body, headers: call.headers } as const;
  const dialects = { client: 'openai-chat', upstream: 'openai-chat' } as const;
  const headers = createUpstreamHeaders(request, target, dialects, facts.streamsEvents ? 'sse' : undefined);
  if (!facts.streamsEvents) headers['accept'] = '*/*';
  // If tokens have a price, characters have none. Tokens are estimated from the text until the upstream reports them.
  const usageAtHead = model.billedBy === 'characters' ? { inputCharacters: facts.inputCharacters } : estimateSpeechTokens(facts);
  const sent = upstreamModel === facts.requestedModel ? bytes : Buffer.from(JSON.stringify({ ...body, model: upstreamModel }));
  return {
    request: { path: serviceAt(upstream, upstream.services.audio?.speech ?? '', upstreamModel), method: 'POST', headers, body: sent },
    bounds: () => ({ expected: usageAtHead, most: model.billedBy === 'characters' ? usageAtHead : boundSpeechTokens(facts) }),
    possible: () => possibleSpeech(facts),
    atHead: () => usageAtHead,
    count: (report) => meterSpeech(facts, model.billedBy, report?.usageReport),
    createRelay: (relayed) => createSpeechRelay(facts, relayed),
  };
}

function createSpeechRelay({ format, streamsEvents }: SpeechFacts, relayed: RelayedAudio): ReplyRelay {
  return createAudioRelay(relayed, {
    stream: streamsEvents,
    shape: 'bytes',
    typeOf: (type) => (/^audio\/[\w.+-]+/i.test(type) ? type : speechContentTypes[format]),
    bytes: { check: (first, headers) => checkSound(first, headers, format === 'pcm'), pieceOf: (chunk) => chunk },
    readReply: neverWhole,
    writeReply: neverWhole,
  });
}

function neverWhole(): never {
  throw new Error('audio is never read as a whole');
}

/** The usual pace of speech. */
const charactersPerSecond = 15;
/** Tokens of a second of speech: 1,250 a minute, by the vendor's prices per token and per minute. */
const tokensPerSecond = 1250 / 60;

/**
 * Meters a speech. Characters are always known. Tokens that the upstream does not report are estimated from the text,
 * because a count of zero would be wrong.
 */
export function meterSpeech(facts: SpeechFacts, billedBy: 'characters' | 'tokens', report: UsageReport | undefined): MeteredCall {
  const { inputCharacters } = facts;
  const reported = { inputCharacters, ...report?.usage };
  const evidence = report === undefined ? {} : { rawUsage: report.raw };
  if (report?.trustworthy === true) return { usage: reported, ...evidence, estimated: false };
  if (billedBy === 'characters' && report === undefined) return { usage: reported, estimated: false };
  const guess = estimateSpeechTokens(facts);
  const { inputTokens = guess.inputTokens, outputTokens = guess.outputTokens } = report?.usage ?? {};
  return { usage: { inputCharacters, inputTokens, outputTokens, outputAudioTokens: outputTokens }, ...evidence, estimated: true };
}

/** Slow voices take about three times as long as usual ones; a character has at most four bytes. */
const slowness = 4;
const characterBytesMax = 4;

function boundSpeechTokens(facts: SpeechFacts) {
  const outputTokens = estimateSpeechTokens(facts).outputTokens * slowness;
  const inputTokens = (facts.inputCharacters + facts.instructionsCharacters) * characterBytesMax;
  return { inputTokens, outputTokens, outputAudioTokens: outputTokens };
}

/** No voice takes thirty times as long as usual ones, or continues for minutes after a short text. */
const slownessMax = 32;
const spokenTokensMin = 4096;

function possibleSpeech(facts: SpeechFacts): Usage {
  const outputTokens = estimateSpeechTokens(facts).outputTokens * slownessMax + spokenTokensMin;
  const inputTokens = (facts.inputCharacters + facts.instructionsCharacters) * characterBytesMax + spokenTokensMin;
  return { inputCharacters: facts.inputCharacters, inputTokens, outputTokens, outputAudioTokens: outputTokens };
}

function estimateSpeechTokens({ inputCharacters, instructionsCharacters, speed }: SpeechFacts) {
  const outputTokens = Math.ceil((inputCharacters / charactersPerSecond / speed) * tokensPerSecond);
  return { inputTokens: estimateTokens(inputCharacters + instructionsCharacters), outputTokens, outputAudioTokens: outputTokens };
}

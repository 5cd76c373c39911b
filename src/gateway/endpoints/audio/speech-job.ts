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
import type { Target } from '../../attempts/routing/target.ts';
import type { AudioRequest, PreparedAudio } from './audio-job.ts';
import { checkSound, createAudioRelay, type RelayedSound } from './audio-relay.ts';

/** A request for speech, checked. */
export type SpeechCall = {
  readonly facts: SpeechFacts;
  readonly body: JsonObject;
  /** The body as it came, which goes on as it is where the model keeps its name. */
  readonly bytes: Buffer;
  readonly headers: Readonly<Record<string, string | undefined>>;
};

/** A request to read a text out, as its attempts see it. */
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
  const model = speechModelOf(upstreamModel);
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
  // Characters have no price where tokens have one, and those are an estimate by the text until the upstream says them.
  const usageAtHead = model.billedBy === 'characters' ? { inputCharacters: facts.inputCharacters } : estimateSpeechTokens(facts);
  const sent = upstreamModel === facts.requestedModel ? bytes : Buffer.from(JSON.stringify({ ...body, model: upstreamModel }));
  return {
    request: { path: `${upstream.basePath}${upstream.services.audio?.speech ?? ''}`, method: 'POST', headers, body: sent },
    bounds: () => ({ expected: usageAtHead, most: model.billedBy === 'characters' ? usageAtHead : boundSpeechTokens(facts) }),
    possible: () => possibleSpeech(facts),
    atHead: () => usageAtHead,
    count: (report) => meterSpeech(facts, model.billedBy, report?.usageReport),
    createRelay: (relayed) => createSpeechRelay(facts, relayed),
  };
}

function createSpeechRelay({ format, streamsEvents }: SpeechFacts, relayed: RelayedSound): ReplyRelay {
  return createAudioRelay(relayed, {
    stream: streamsEvents,
    shape: 'bytes',
    typeOf: (said) => (/^audio\/[\w.+-]+/i.test(said) ? said : speechContentTypes[format]),
    bytes: { check: (first, headers) => checkSound(first, headers, format === 'pcm'), pieceOf: (chunk) => chunk },
    readReply: neverWhole,
    writeReply: neverWhole,
  });
}

function neverWhole(): never {
  throw new Error('sound is not read as a whole');
}

/** People are read to at about this pace. */
const charactersPerSecond = 15;
/** What a second of sound is in tokens where it is billed by them: 1,250 a minute, by the vendor's prices for either. */
const tokensPerSecond = 1250 / 60;

/**
 * Counts what a speech used. The characters are always known. Tokens are known where the upstream reports them; else they are estimated by the text, because
 * nothing would be a lie.
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

/** Slow readers take some three times as long for a text as the usual ones, and a character has at most so many bytes. */
const slowness = 4;
const characterBytesMax = 4;

function boundSpeechTokens(facts: SpeechFacts) {
  const outputTokens = estimateSpeechTokens(facts).outputTokens * slowness;
  const inputTokens = (facts.inputCharacters + facts.instructionsCharacters) * characterBytesMax;
  return { inputTokens, outputTokens, outputAudioTokens: outputTokens };
}

/** No reader takes thirty times as long as the usual ones, or goes on for minutes after a short text. */
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

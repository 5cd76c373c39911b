import type { AudioOperation } from '../../../dialects/openai-audio/audio-formats.ts';
import { billedAudioMs } from '../../../dialects/openai-audio/audio-usage.ts';
import { planTranscript } from '../../../dialects/openai-audio/plan-transcript.ts';
import { readSpeechRequest } from '../../../dialects/openai-audio/speech-request.ts';
import { readTranscriptionForm } from '../../../dialects/openai-audio/transcription-form.ts';
import { GatewayError } from '../../../inference/gateway-error.ts';
import { isJsonObject, type JsonValue } from '../../../platform/json/json-value.ts';
import type { Target } from '../../attempts/routing/target.ts';
import type { AudioServices } from './audio-services.ts';
import { audioRequirements } from './audio-job.ts';
import { estimateAudioMs } from './measure-audio.ts';
import { createSpeechJob } from './speech-job.ts';
import { boundTranscript, transcriptionModelAt } from './transcription-job.ts';
import { type QuoteTarget, type QuotedCall, type QuotedTarget, fitTargets, rankRouted } from '../shared/quoted-call.ts';

const dialect = 'openai-audio';

/** Quotes an audio request. @throws GatewayError if the call would be refused */
export function quoteAudio(query: QuoteTarget<AudioServices>, operation: AudioOperation): QuotedCall {
  return operation === 'speech' ? quoteSpeech(query) : quoteTranscription(query, operation);
}

function quoteSpeech(query: QuoteTarget<AudioServices>): QuotedCall {
  const { body, bytes, headers, settings } = query;
  const job = createSpeechJob({ facts: readSpeechRequest(body, settings.validation), body, bytes, headers });
  const targets = fitTargets(
    rankRouted(query, job.facts, audioRequirements('speech')),
    (target) => ({ target, usage: job.prepare(target).bounds() }),
    query.explained?.onLeftOut,
  );
  return { dialect, requestedModel: job.facts.requestedModel, targets, roundsMax: 1 };
}

/** Quotes a transcription form in JSON: its fields, and `file` with the duration or size of the recording. */
function quoteTranscription(query: QuoteTarget<AudioServices>, operation: Exclude<AudioOperation, 'speech'>): QuotedCall {
  const { file, ...fields } = query.body;
  const task = operation === 'translations' ? 'translate' : 'transcribe';
  const facts = readTranscriptionForm(Object.entries(fields).flatMap(toFields), task, query.settings.validation);
  const audioMs = readLength(file);
  const { requestedModel, stream, promptCharacters: inputCharacters } = facts;
  const called = { requestedModel, stream, inputCharacters, needs: [], outputTokensMax: 0 };
  const fit = (target: Target): QuotedTarget => {
    const model = transcriptionModelAt(target);
    planTranscript(facts, model);
    return { target, usage: boundTranscript(model, audioMs, inputCharacters) };
  };
  const targets = fitTargets(rankRouted(query, called, audioRequirements(operation)), fit, query.explained?.onLeftOut);
  return { dialect, requestedModel, targets, roundsMax: 1 };
}

/** A member as form fields: lists are repeated fields, and all values are strings. */
function toFields([name, value]: [string, JsonValue | undefined]): { readonly name: string; readonly value: string }[] {
  const values = Array.isArray(value) ? (value as readonly JsonValue[]) : [value];
  return values.map((one) => ({ name, value: typeof one === 'string' ? one : JSON.stringify(one) }));
}

const secondsMax = 86_400;
const bytesMax = 1024 ** 4;

/** The stated duration, otherwise the estimate from the size. @throws GatewayError `invalid_value` */
function readLength(file: JsonValue | undefined): number {
  const { duration_seconds: seconds, bytes } = isJsonObject(file) ? file : {};
  if (typeof seconds === 'number' && seconds > 0 && seconds <= secondsMax) return billedAudioMs(seconds);
  if (seconds === undefined && typeof bytes === 'number' && Number.isInteger(bytes) && bytes > 0 && bytes <= bytesMax)
    return estimateAudioMs(bytes, 'mp3');
  const message = `Invalid 'file': a quote expects an object with 'duration_seconds' (up to ${secondsMax}) or 'bytes'.`;
  throw new GatewayError('invalid_value', message, { param: 'file' });
}

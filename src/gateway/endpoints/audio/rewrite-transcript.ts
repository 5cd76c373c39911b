import { isDeepStrictEqual } from 'node:util';

import type { TranscriptFormat } from '../../../dialects/openai-audio/audio-formats.ts';
import { readAudioUsage } from '../../../dialects/openai-audio/audio-usage.ts';
import { missingTimes, type TranscriptPlan } from '../../../dialects/openai-audio/plan-transcript.ts';
import { readTranscript } from '../../../dialects/openai-audio/read-transcript.ts';
import type { TranscriptionFacts } from '../../../dialects/openai-audio/transcription-form.ts';
import { completeVttTimes } from '../../../dialects/openai-audio/write-subtitles.ts';
import { writeTranscript, writeVerbose } from '../../../dialects/openai-audio/write-transcript.ts';
import { GatewayError } from '../../../inference/gateway-error.ts';
import type { UsageReport } from '../../../inference/usage.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '../../../platform/json/json-value.ts';
import { parseIfJson } from '../../../platform/json/parse-if-json.ts';

/** A transcript in the client's format, and the upstream's report. */
export type WrittenTranscript = {
  readonly body: Buffer;
  readonly report: UsageReport | undefined;
  /** The duration that the server reports beside its usage. */
  readonly durationSeconds: number | undefined;
  readonly textCharacters: number;
};

/**
 * Converts an upstream's reply into the client's format. A reply in that format keeps its bytes.
 * @throws GatewayError if it is not a transcript, or lacks times that the format needs
 */
export function rewriteTranscript(received: Buffer, facts: TranscriptionFacts, { askedFormat }: TranscriptPlan): WrittenTranscript {
  const { format } = facts;
  const isText = askedFormat === 'text' || askedFormat === 'srt' || askedFormat === 'vtt';
  const parsed = isText && !/^\s*[{"]/.test(received.toString('latin1', 0, 64)) ? undefined : parseIfJson(received);
  if (isText && !isTranscript(parsed)) {
    // This is an error in JSON with a successful status, not speech.
    if (isJsonObject(parsed)) throw notATranscript(received);
    return keepText(typeof parsed === 'string' ? Buffer.from(parsed) : received, format);
  }
  if (!isJsonObject(parsed)) throw notATranscript(received);
  const transcript = readTranscript(parsed);
  if (transcript === undefined) throw notATranscript(received);
  const { durationSeconds, text } = transcript;
  const base = { report: readAudioUsage(parsed['usage'], 'text'), durationSeconds, textCharacters: text.length };
  if (format === askedFormat && (format === 'json' || format === 'diarized_json')) return { ...base, body: received };
  if (format === 'verbose_json' && askedFormat === format) return { ...base, body: completeVerbose(received, parsed, facts) };
  const body = writeTranscript(transcript, facts);
  if (typeof body !== 'string') throw missingTimes(body.missing, facts);
  return { ...base, body: Buffer.from(body) };
}

/** The text of a JSON reply: some servers only answer in JSON. */
function isTranscript(value: JsonValue | undefined): value is JsonObject {
  return isJsonObject(value) && (typeof value['text'] === 'string' || Array.isArray(value['segments']));
}

function keepText(text: Buffer, format: TranscriptFormat): WrittenTranscript {
  const words = text.toString();
  if (!isInForm(words, format)) throw notATranscript(text);
  const complete = format === 'vtt' ? completeVttTimes(words) : format === 'text' && !words.endsWith('\n') ? `${words}\n` : words;
  return {
    body: complete === words ? text : Buffer.from(complete),
    report: undefined,
    durationSeconds: undefined,
    textCharacters: text.length,
  };
}

/**
 * Whether a text can have the requested format, whatever its declared type (whisper.cpp declares its texts as HTML).
 * The page of a proxy and the plain-text error of a server are not subtitles.
 */
function isInForm(words: string, format: TranscriptFormat): boolean {
  if (/^\s*<(?:!doctype|html)\b/i.test(words)) return false;
  if (format === 'vtt') return /^\uFEFF?WEBVTT/.test(words);
  return format !== 'srt' || words.trim() === '' || words.includes('-->');
}

/**
 * Completes replies of servers that imitate the format: they use codes of languages, numbers as strings, or omit
 * members. The vendor's own bytes stay unchanged.
 */
function completeVerbose(received: Buffer, parsed: JsonObject, facts: TranscriptionFacts): Buffer {
  const transcript = readTranscript(parsed);
  const written = transcript === undefined ? undefined : writeVerbose(transcript, facts);
  if (written === undefined) return received;
  if ('missing' in written) throw missingTimes(written.missing, facts);
  // JSON omits undefined members.
  const body = JSON.stringify(written.body);
  return isDeepStrictEqual(parseIfJson(body), parsed) ? received : Buffer.from(body);
}

function notATranscript(received: Buffer): GatewayError {
  return new GatewayError('upstream_invalid_reply', "Upstream connection error: the model service's reply is not a transcript.", {
    internal: `it answered with ${received.length} bytes`,
  });
}

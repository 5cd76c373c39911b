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

/** A transcript as its client gets it, and what its upstream said of it. */
export type WrittenTranscript = {
  readonly body: Buffer;
  readonly report: UsageReport | undefined;
  /** What the server says of the recording's length, beside what it says of its bill. */
  readonly durationSeconds: number | undefined;
  readonly textCharacters: number;
};

/**
 * Brings an upstream's reply into the client's form. What is already as it should be keeps its bytes.
 * @throws GatewayError where it is no transcript, or times are missing that the form needs
 */
export function rewriteTranscript(received: Buffer, facts: TranscriptionFacts, { askedFormat }: TranscriptPlan): WrittenTranscript {
  const { format } = facts;
  const isText = askedFormat === 'text' || askedFormat === 'srt' || askedFormat === 'vtt';
  const parsed = isText && !/^\s*[{"]/.test(received.toString('latin1', 0, 64)) ? undefined : parseIfJson(received);
  if (isText && !isTranscript(parsed)) {
    // An error in JSON with a good status, not what somebody said.
    if (isJsonObject(parsed)) throw notATranscript(received);
    return keepText(typeof parsed === 'string' ? Buffer.from(parsed) : received, format);
  }
  if (!isJsonObject(parsed)) throw notATranscript(received);
  const transcript = readTranscript(parsed);
  if (transcript === undefined) throw notATranscript(received);
  const { durationSeconds, text } = transcript;
  const known = { report: readAudioUsage(parsed['usage'], 'text'), durationSeconds, textCharacters: text.length };
  if (format === askedFormat && (format === 'json' || format === 'diarized_json')) return { ...known, body: received };
  if (format === 'verbose_json' && askedFormat === format) return { ...known, body: completeVerbose(received, parsed, facts) };
  const body = writeTranscript(transcript, facts);
  if (typeof body !== 'string') throw missingTimes(body.missing, facts);
  return { ...known, body: Buffer.from(body) };
}

/** An answer in JSON to a call for text: some servers know no other. */
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

/** Whether a text can be what was asked for, whatever its type (whisper.cpp declares its texts as HTML): a page of a proxy is no subtitles, and neither is what a server says in plain words that failed. */
function isInForm(words: string, format: TranscriptFormat): boolean {
  if (/^\s*<(?:!doctype|html)\b/i.test(words)) return false;
  if (format === 'vtt') return /^\uFEFF?WEBVTT/.test(words);
  return format !== 'srt' || words.trim() === '' || words.includes('-->');
}

/** Servers that imitate the form name languages by code, write numbers as texts, or leave members out. The vendor's own bytes stay as they are. */
function completeVerbose(received: Buffer, parsed: JsonObject, facts: TranscriptionFacts): Buffer {
  const transcript = readTranscript(parsed);
  const written = transcript === undefined ? undefined : writeVerbose(transcript, facts);
  if (written === undefined) return received;
  if ('missing' in written) throw missingTimes(written.missing, facts);
  // Undefined members are not there once it is written.
  const body = JSON.stringify(written.body);
  return isDeepStrictEqual(parseIfJson(body), parsed) ? received : Buffer.from(body);
}

function notATranscript(received: Buffer): GatewayError {
  return new GatewayError('upstream_invalid_reply', "Upstream connection error: the model service's reply is no transcript.", {
    internal: `it answered with ${received.length} bytes`,
  });
}

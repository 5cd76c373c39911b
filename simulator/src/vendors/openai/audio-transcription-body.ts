import { countTokens, splitText } from '../../count-tokens.ts';
import { writeSrt, writeVtt } from '../../media/audio-subtitles.ts';
import type { Transcript } from '../../media/audio-transcript.ts';
import { createSeededRandom } from '../../seeded-random.ts';
import type { JsonRecord } from '../../simulated-vendor.ts';
import type { TranscriptionRequest } from './audio-transcription-request.ts';

/** A body and its type. */
export type TranscriptionBody = { readonly contentType: string; readonly text: string };

const audioTokensPerSecond = 10;
/** The model processes windows of 30 seconds, which it counts in frames of 10 ms. */
const windowMs = 30_000;
const framesPerWindow = 3_000;

/** The whole reply in the requested format. */
export function writeTranscription(request: TranscriptionRequest, heard: Transcript, seed: string): TranscriptionBody {
  switch (request.format) {
    case 'text':
      return { contentType: 'text/plain; charset=utf-8', text: `${heard.text}\n` };
    case 'srt':
      return { contentType: 'text/plain; charset=utf-8', text: writeSrt(heard.segments) };
    case 'vtt':
      return { contentType: 'text/plain; charset=utf-8', text: writeVtt(heard.segments) };
    case 'json':
      return toJson(writeJson(request, heard, seed));
    case 'verbose_json':
      return toJson(writeVerboseJson(request, heard, seed));
    case 'diarized_json':
      return toJson(writeDiarizedJson(request, heard));
  }
}

/** The events of a streamed transcription, and the tokens of each. */
export function writeTranscriptionEvents(
  request: TranscriptionRequest,
  heard: Transcript,
  seed: string,
): { readonly frames: string[]; readonly frameTokens: number[] } {
  const events: { readonly body: JsonRecord; readonly tokens: number }[] = splitText(heard.text).map(({ text, tokens }) => ({
    body: { type: 'transcript.text.delta', delta: text, ...(request.hasLogprobs && { logprobs: writeLogprobs(text, seed) }) },
    tokens,
  }));
  if (request.kind === 'diarize') events.push(...writeSpeakerSegments(request, heard).map((body) => ({ body, tokens: 0 })));
  const logprobs = request.hasLogprobs ? { logprobs: writeLogprobs(heard.text, seed) } : {};
  events.push({ body: { type: 'transcript.text.done', text: heard.text, ...logprobs, usage: writeUsage(request, heard) }, tokens: 0 });
  return { frames: events.map(({ body }) => `data: ${JSON.stringify(body)}\n\n`), frameTokens: events.map(({ tokens }) => tokens) };
}

/** The usage of the transcription in the model's own unit: seconds rounded up, or tokens. */
export function writeUsage(request: Pick<TranscriptionRequest, 'kind' | 'prompt'>, heard: Transcript): JsonRecord {
  const seconds = Math.ceil(heard.durationMs / 1000);
  if (request.kind === 'whisper') return { type: 'duration', seconds };
  const audioTokens = Math.ceil((heard.durationMs / 1000) * audioTokensPerSecond);
  const textTokens = countTokens(request.prompt);
  const outputTokens = countTokens(heard.text);
  return {
    type: 'tokens',
    total_tokens: audioTokens + textTokens + outputTokens,
    input_tokens: audioTokens + textTokens,
    input_token_details: { text_tokens: textTokens, audio_tokens: audioTokens },
    output_tokens: outputTokens,
  };
}

/**
 * Segments as whisper-1 reports them: times in seconds, the text with its leading space, invented but plausible
 * confidence values.
 */
export function writeSegments(heard: Transcript, temperature: number, seed: string): JsonRecord[] {
  const random = createSeededRandom(`${seed}/${heard.text}`);
  return heard.segments.map((segment, id) => ({
    id,
    seek: Math.floor(segment.startMs / windowMs) * framesPerWindow,
    start: segment.startMs / 1000,
    end: segment.endMs / 1000,
    text: ` ${segment.text}`,
    tokens: writeTokenIds(segment.text),
    temperature,
    avg_logprob: round(-0.15 - 0.3 * random.fraction()),
    compression_ratio: round(1 + 0.6 * random.fraction()),
    no_speech_prob: round(0.02 * random.fraction()),
  }));
}

function writeJson(request: TranscriptionRequest, heard: Transcript, seed: string): JsonRecord {
  if (request.isTranslation) return { text: heard.text };
  return {
    text: heard.text,
    ...(request.hasLogprobs && { logprobs: writeLogprobs(heard.text, seed) }),
    usage: writeUsage(request, heard),
  };
}

function writeVerboseJson(request: TranscriptionRequest, heard: Transcript, seed: string): JsonRecord {
  const words = heard.words.map(({ word, startMs, endMs }) => ({ word, start: startMs / 1000, end: endMs / 1000 }));
  return {
    task: request.isTranslation ? 'translate' : 'transcribe',
    language: heard.language,
    duration: Math.round(heard.durationMs / 10) / 100,
    text: heard.text,
    ...(request.hasWords && { words }),
    ...(request.hasSegments && { segments: writeSegments(heard, request.temperature, seed) }),
    ...(!request.isTranslation && { usage: writeUsage(request, heard) }),
  };
}

function writeDiarizedJson(request: TranscriptionRequest, heard: Transcript): JsonRecord {
  return {
    task: 'transcribe',
    duration: Math.round(heard.durationMs / 10) / 100,
    text: heard.text,
    segments: writeSpeakerSegments(request, heard),
    usage: writeUsage(request, heard),
  };
}

/** One speaker says everything: the first known one, or A. */
function writeSpeakerSegments({ speakers }: TranscriptionRequest, heard: Transcript): JsonRecord[] {
  return heard.segments.map(({ text, startMs, endMs }, index) => ({
    type: 'transcript.text.segment',
    id: `seg_${index}`,
    start: startMs / 1000,
    end: endMs / 1000,
    text,
    speaker: speakers[0] ?? 'A',
  }));
}

function writeLogprobs(text: string, seed: string): JsonRecord[] {
  const random = createSeededRandom(`${seed}/logprobs/${text}`);
  return splitText(text, 1).map(({ text: token }) => ({ token, logprob: round(-0.4 * random.fraction()), bytes: [...Buffer.from(token)] }));
}

/** Ids that begin with the token of a time, like the model's; otherwise they mean nothing. */
function writeTokenIds(text: string): number[] {
  return [
    50_364,
    ...splitText(text, 1).map(({ text: token }) => [...Buffer.from(token)].reduce((sum, byte) => (sum * 31 + byte) % 50_000, 7)),
  ];
}

function toJson(body: JsonRecord): TranscriptionBody {
  return { contentType: 'application/json', text: JSON.stringify(body) };
}

function round(value: number): number {
  return Math.round(value * 1e6) / 1e6;
}

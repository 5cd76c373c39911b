import type { JsonObject, JsonValue } from '../../platform/json/json-value.ts';
import { numberOf } from '../../platform/json/json-readers.ts';
import type { TranscriptFormat } from './audio-formats.ts';
import type { Transcript, TranscriptSegment } from './transcript.ts';
import type { Granularity, TranscriptionFacts } from './transcription-form.ts';
import { writeSrt, writeVtt } from './write-subtitles.ts';

/** The timestamps that a format needs and the server did not return. */
export type MissingTimes = { readonly missing: Granularity };

/**
 * Writes a transcript in a format that its server did not send. Missing timestamps are reported, never invented.
 * @param durationSeconds of the recording, if the server did not return it
 */
export function writeTranscript(
  transcript: Transcript,
  facts: Pick<TranscriptionFacts, 'task' | 'format' | 'granularities'>,
  durationSeconds?: number,
): string | MissingTimes {
  switch (facts.format) {
    case 'json':
      return JSON.stringify(writeJson(transcript));
    case 'text':
      return `${transcript.text.trim()}\n`;
    case 'srt':
    case 'vtt':
      return writeSubtitles(transcript, facts.format);
    case 'verbose_json':
    case 'diarized_json': {
      const written = writeVerbose(transcript, facts, durationSeconds);
      return 'missing' in written ? { missing: written.missing } : JSON.stringify(written.body);
    }
  }
}

function writeJson({ text, members }: Transcript): JsonObject {
  const { usage, logprobs } = members;
  return { text: text.trim(), ...(logprobs === undefined ? {} : { logprobs }), ...(usage === undefined ? {} : { usage }) };
}

function writeSubtitles(transcript: Transcript, format: Extract<TranscriptFormat, 'srt' | 'vtt'>): string | MissingTimes {
  const segments = transcript.segments ?? [];
  // Without segments, an empty text is an empty file; any other text cannot be written without times.
  if (segments.length === 0 && transcript.text.trim() !== '') return { missing: 'segment' };
  return format === 'srt' ? writeSrt(segments) : writeVtt(segments);
}

/**
 * The vendor's members in their order, then the server's other members. Segments are included by default, words on
 * request.
 */
export function writeVerbose(
  transcript: Transcript,
  { task, granularities = ['segment'] }: Pick<TranscriptionFacts, 'task' | 'granularities'>,
  durationSeconds?: number,
): { readonly body: JsonObject } | MissingTimes {
  const { text, members } = transcript;
  const isSilent = text.trim() === '';
  const words = transcript.words ?? (isSilent ? [] : undefined);
  const segments = transcript.segments ?? (isSilent ? [] : undefined);
  if (granularities.includes('word') && words === undefined) return { missing: 'word' };
  if (granularities.includes('segment') && segments === undefined) return { missing: 'segment' };
  const duration = transcript.durationSeconds ?? durationSeconds ?? segments?.at(-1)?.end ?? 0;
  const language = task === 'translate' ? 'english' : (transcript.language ?? 'unknown');
  return {
    body: {
      task,
      language,
      duration,
      text,
      ...(granularities.includes('word') ? { words: words?.map((word) => ({ ...word })) } : {}),
      ...(granularities.includes('segment') ? { segments: segments?.map(writeSegment) } : {}),
      ...members,
    },
  };
}

/** Audio frames per second, the unit of `seek`. */
const framesPerSecond = 100;

/** All members of the contract. Confidence values that the server did not return are 0. */
function writeSegment({ start, end, text, members }: TranscriptSegment, index: number): JsonObject {
  const { words: _words, ...own } = members;
  const number = (name: string): number => numberOf(own[name]) ?? 0;
  const tokens: JsonValue = Array.isArray(own['tokens']) ? own['tokens'] : [];
  return {
    ...own,
    id: numberOf(own['id']) ?? index,
    seek: numberOf(own['seek']) ?? Math.round(start * framesPerSecond),
    start,
    end,
    text,
    tokens,
    temperature: number('temperature'),
    avg_logprob: number('avg_logprob'),
    compression_ratio: number('compression_ratio'),
    no_speech_prob: number('no_speech_prob'),
  };
}

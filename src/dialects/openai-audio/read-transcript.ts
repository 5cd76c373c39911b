import { filledText, numberOf, objectsOf, textOf } from '../../platform/json/json-readers.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '../../platform/json/json-value.ts';
import { languageName } from './language-names.ts';
import type { Transcript, TranscriptSegment, TranscriptWord } from './transcript.ts';

const readHere = new Set(['task', 'language', 'duration', 'text', 'segments', 'words']);

/**
 * Reads the answer of a transcription server in any known format: the vendor's `json` and `verbose_json`, whisper.cpp's
 * (words inside the segments), faster-whisper's (a language code, `words: null`), and older ones (the duration as
 * text). Undefined for other objects.
 */
export function readTranscript(body: JsonObject): Transcript | undefined {
  const segments = readSegments(body['segments']);
  const text = textOf(body['text']) ?? segments?.map((segment) => segment.text).join('');
  if (text === undefined) return undefined;
  const language = filledText(body['language']);
  const durationSeconds = readSeconds(body['duration']);
  const words = readWords(body['words']) ?? wordsOfSegments(body['segments']);
  return {
    text,
    members: Object.fromEntries(Object.entries(body).filter(([name]) => !readHere.has(name))),
    ...(language === undefined ? {} : { language: languageName(language) }),
    ...(durationSeconds === undefined ? {} : { durationSeconds }),
    ...(segments === undefined ? {} : { segments }),
    ...(words === undefined ? {} : { words }),
  };
}

/** Seconds as a number, or as text, which older servers send. */
export function readSeconds(value: JsonValue | undefined): number | undefined {
  const isText = typeof value === 'string' && /^\d{1,9}(?:\.\d{1,20})?$/.test(value.trim());
  const seconds = isText ? Number(value) : numberOf(value);
  return seconds === undefined || seconds < 0 ? undefined : seconds;
}

/** Undefined if any segment is malformed, because nobody would notice a missing cue. */
function readSegments(value: JsonValue | undefined): readonly TranscriptSegment[] | undefined {
  if (!Array.isArray(value)) return undefined;
  const segments: TranscriptSegment[] = [];
  for (const item of value as readonly JsonValue[]) {
    if (!isJsonObject(item)) return undefined;
    const start = readSeconds(item['start']);
    const end = readSeconds(item['end']);
    const text = textOf(item['text']);
    if (start === undefined || end === undefined || text === undefined) return undefined;
    segments.push({ start, end, text, members: item });
  }
  return segments;
}

function readWords(value: JsonValue | undefined): readonly TranscriptWord[] | undefined {
  if (!Array.isArray(value)) return undefined;
  const words: TranscriptWord[] = [];
  for (const item of value as readonly JsonValue[]) {
    const members = isJsonObject(item) ? item : {};
    const word = textOf(members['word']) ?? textOf(members['text']);
    const start = readSeconds(members['start']);
    const end = readSeconds(members['end']);
    if (word === undefined || start === undefined || end === undefined) return undefined;
    words.push({ word: word.trim(), start, end });
  }
  return words;
}

function wordsOfSegments(value: JsonValue | undefined): readonly TranscriptWord[] | undefined {
  const lists = objectsOf(value).map((segment) => readWords(segment['words']));
  if (lists.length === 0 || lists.some((list) => list === undefined)) return undefined;
  return lists.flatMap((list) => list ?? []);
}

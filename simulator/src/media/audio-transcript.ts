import { isRecord } from '../read-json.ts';
import type { Json } from '../simulated-vendor.ts';
import { guessLanguage } from './audio-speech.ts';
import { cutToWords, timeSegments, timeWords, type TimedSegment, type TimedWord } from './audio-timing.ts';

/** The words of a recording, and their times. */
export type Transcript = {
  readonly text: string;
  readonly durationMs: number;
  /** Lower-case English name. */
  readonly language: string;
  readonly words: readonly TimedWord[];
  readonly segments: readonly TimedSegment[];
  /** False for recordings that the simulator did not make: their text only gives their length. */
  readonly isCarried: boolean;
};

const mark = 'simulated-speech:';

/**
 * The comment by which simulated speech carries its own transcript: marked JSON in ASCII, which fits into every
 * container's comment and character set.
 */
export function writeTranscriptComment(text: string, durationMs: number): string {
  const words = timeWords(text, durationMs).map(({ word, startMs, endMs }) => [word, startMs, endMs]);
  const json = JSON.stringify({ text, durationMs: Math.round(durationMs), words });
  return mark + json.replaceAll(/[^ -~]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

/** The transcript of a text over a duration, timed by the lengths of its words. */
export function transcribeText(text: string, durationMs: number, isCarried = false): Transcript {
  const words = timeWords(text, durationMs);
  return { text, durationMs, language: guessLanguage(text), words, segments: timeSegments(text, words), isCarried };
}

/**
 * The transcript of a recording by its comment and its length: the one that simulated speech carries, or else a text
 * that says that its transcription is simulated.
 */
export function transcriptOf(comment: string | undefined, durationMs: number): Transcript {
  return readCarried(comment, durationMs) ?? transcribeText(foreignText(durationMs), durationMs);
}

function foreignText(durationMs: number): string {
  return `Simulated transcription of ${(durationMs / 1000).toFixed(1)} seconds of audio.`;
}

function readCarried(comment: string | undefined, durationMs: number): Transcript | undefined {
  if (comment?.startsWith(mark) !== true) return undefined;
  const carried = parseJson(comment.slice(mark.length));
  if (!isRecord(carried) || typeof carried['text'] !== 'string' || !Array.isArray(carried['words'])) return undefined;
  // The transcript of a truncated recording has only the remaining words.
  const words = carried['words'].flatMap(readWord).filter(({ startMs }) => startMs < durationMs);
  const text = words.length < carried['words'].length ? cutToWords(carried['text'], words.length) : carried['text'];
  return { text, durationMs, language: guessLanguage(text), words, segments: timeSegments(text, words), isCarried: true };
}

function readWord(entry: Json): readonly TimedWord[] {
  const [word, startMs, endMs] = Array.isArray(entry) ? entry : [];
  return typeof word === 'string' && typeof startMs === 'number' && typeof endMs === 'number' ? [{ word, startMs, endMs }] : [];
}

function parseJson(text: string): Json | undefined {
  try {
    return JSON.parse(text.replace(/\0+$/, '')) as Json;
  } catch {
    // A truncated comment is not recognised as one of the simulator.
    return undefined;
  }
}

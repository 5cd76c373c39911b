import { ALL_FORMATS, BufferSource, Input } from 'mediabunny';
import { isRecord } from '../read-json.ts';
import type { Json } from '../simulated-vendor.ts';
import { guessLanguage } from './audio-speech.ts';
import { cutToWords, timeSegments, timeWords, type TimedSegment, type TimedWord } from './audio-timing.ts';

/** What a recording says, and when. */
export type Transcript = {
  readonly text: string;
  readonly durationMs: number;
  /** Lower-case English name. */
  readonly language: string;
  readonly words: readonly TimedWord[];
  readonly segments: readonly TimedSegment[];
  /** False for recordings that the simulator did not make: their text only says how long they are. */
  readonly isCarried: boolean;
};

const mark = 'simulated-speech:';

/** The comment by which simulated speech carries its own transcript: marked JSON in ASCII, which every container's comment holds whatever its character set is. */
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
 * Hears a recording: simulated speech says what its comment carries; of any other it is said honestly that its transcription is simulated, with its real duration.
 * Undefined when the bytes are no recording that can be read.
 */
export async function hearRecording(bytes: Uint8Array<ArrayBuffer>): Promise<Transcript | undefined> {
  const input = new Input({ source: new BufferSource(bytes), formats: ALL_FORMATS });
  try {
    const track = await input.getPrimaryAudioTrack();
    if (track === null) return undefined;
    const durationMs = (await track.computeDuration()) * 1000;
    const tags = await input.getMetadataTags();
    return readCarried(tags.comment, durationMs) ?? transcribeText(foreignText(durationMs), durationMs);
  } catch {
    // Whatever the reader stumbled over, these bytes are no recording.
    return undefined;
  } finally {
    input.dispose();
  }
}

function foreignText(durationMs: number): string {
  return `Simulated transcription of ${(durationMs / 1000).toFixed(1)} seconds of audio.`;
}

function readCarried(comment: string | undefined, durationMs: number): Transcript | undefined {
  if (comment?.startsWith(mark) !== true) return undefined;
  const carried = parseJson(comment.slice(mark.length));
  if (!isRecord(carried) || typeof carried['text'] !== 'string' || !Array.isArray(carried['words'])) return undefined;
  // A recording that was cut says what is left of it.
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
    // A comment that was cut is no longer one of ours.
    return undefined;
  }
}

/** A word of a speech and its time, in milliseconds from the beginning. */
export type TimedWord = { readonly word: string; readonly startMs: number; readonly endMs: number };

/** A sentence of a speech. */
export type TimedSegment = { readonly text: string; readonly startMs: number; readonly endMs: number };

/** Speech at speed 1: about 150 words a minute. */
const msPerLetter = 55;
const msPerWord = 90;
const stopPauseMs = 320;
const commaPauseMs = 120;

const wordSegmenter = new Intl.Segmenter('en', { granularity: 'word' });
const sentenceSegmenter = new Intl.Segmenter('en', { granularity: 'sentence' });

/** The duration of a word at speed 1, and of the silence after it. */
export type SpokenWord = { readonly word: string; readonly ms: number; readonly pauseMs: number };

/** The words of a text without their punctuation, with durations by their letters. A text without words is one word. */
export function splitWords(text: string): SpokenWord[] {
  const words: { word: string; ms: number; pauseMs: number }[] = [];
  for (const { segment, isWordLike } of wordSegmenter.segment(text)) {
    const last = words.at(-1);
    if (isWordLike === true) words.push({ word: segment, ms: msPerWord + msPerLetter * countCodePoints(segment), pauseMs: 0 });
    else if (last !== undefined) last.pauseMs = Math.max(last.pauseMs, pauseOf(segment));
  }
  const rest = text.trim();
  if (words.length === 0 && rest !== '') words.push({ word: rest, ms: msPerWord + msPerLetter, pauseMs: 0 });
  return words;
}

/** Spreads the words of a text over a duration by their lengths, so that the last one ends with it. */
export function timeWords(text: string, durationMs: number): TimedWord[] {
  const words = splitWords(text);
  const whole = words.reduce((sum, word) => sum + word.ms + word.pauseMs, 0) - (words.at(-1)?.pauseMs ?? 0);
  const scale = whole > 0 ? durationMs / whole : 0;
  let atMs = 0;
  return words.map((word) => {
    const startMs = Math.round(atMs * scale);
    const endMs = Math.min(Math.round(durationMs), Math.round((atMs + word.ms) * scale));
    atMs += word.ms + word.pauseMs;
    return { word: word.word, startMs, endMs };
  });
}

/**
 * The sentences of a text with the times of their first and last words. An empty sentence belongs to the one
 * before it.
 */
export function timeSegments(text: string, words: readonly TimedWord[]): TimedSegment[] {
  const segments: { text: string; startMs: number; endMs: number }[] = [];
  let next = 0;
  for (const { segment } of sentenceSegmenter.segment(text)) {
    const sentence = segment.trim();
    if (sentence === '') continue;
    const count = splitWords(segment).length;
    const first = words[next];
    const last = words[next + count - 1];
    next += count;
    const previous = segments.at(-1);
    if (first !== undefined && last !== undefined) segments.push({ text: sentence, startMs: first.startMs, endMs: last.endMs });
    else if (previous !== undefined) previous.text = `${previous.text} ${sentence}`;
  }
  return segments;
}

/** The beginning of a text up to the end of its `count`-th word. */
export function cutToWords(text: string, count: number): string {
  let left = count;
  for (const { segment, index, isWordLike } of wordSegmenter.segment(text)) {
    if (isWordLike !== true) continue;
    left -= 1;
    if (left === 0) return text.slice(0, index + segment.length);
  }
  return count === 0 ? '' : text;
}

/** Unicode code points of a text: the characters by which speech is limited and charged. */
export function countCodePoints(text: string): number {
  return Array.from(text).length;
}

function pauseOf(between: string): number {
  if (/[.!?。！？…]/u.test(between)) return stopPauseMs;
  return /[,;:、，；：\u2013\u2014-]/u.test(between) ? commaPauseMs : 0;
}

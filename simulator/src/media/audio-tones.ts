import { sampleRate, samplesOfMs } from './audio-pcm.ts';
import { splitWords } from './audio-timing.ts';

const fadeMs = 12;
const amplitude = 12_000;
const fifth = 1.5;

/**
 * Tones instead of speech, for machines without a synthesizer: two notes for each word, as long as the word would take
 * at this speed, with its pause. They are clearly not a voice. `baseHertz` distinguishes voices; the letters choose the
 * notes.
 */
export function playTones(text: string, baseHertz: number, speed: number): Int16Array {
  const words = splitWords(text);
  const length = words.reduce((sum, word) => sum + samplesOfMs(word.ms / speed) + samplesOfMs(word.pauseMs / speed), 0);
  const samples = new Int16Array(length);
  let at = 0;
  for (const word of words) {
    const span = samplesOfMs(word.ms / speed);
    const note = baseHertz * 2 ** ((sumOfLetters(word.word) % 8) / 12);
    writeNote(samples.subarray(at, at + Math.floor(span / 2)), note);
    writeNote(samples.subarray(at + Math.floor(span / 2), at + span), note * fifth);
    at += span + samplesOfMs(word.pauseMs / speed);
  }
  return samples;
}

/** A sine that fades in and out, so that it does not click. */
function writeNote(into: Int16Array, hertz: number): void {
  const fade = Math.min(samplesOfMs(fadeMs), into.length / 2);
  for (let index = 0; index < into.length; index++) {
    const level = Math.min(1, index / fade, (into.length - index) / fade);
    into[index] = Math.round(amplitude * level * Math.sin((2 * Math.PI * hertz * index) / sampleRate));
  }
}

function sumOfLetters(word: string): number {
  let sum = 0;
  for (const letter of word.toLowerCase()) sum += letter.codePointAt(0) ?? 0;
  return sum;
}

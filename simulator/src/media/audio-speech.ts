import { hasEspeak, speakWithEspeak, type EspeakVoice } from './audio-espeak.ts';
import { finish } from './audio-pcm.ts';
import { playTones } from './audio-tones.ts';

type Voice = EspeakVoice & { readonly hertz: number };

const voices: Readonly<Record<string, Voice>> = {
  alloy: { variant: 'f2', pitch: 50, hertz: 262 },
  ash: { variant: 'm1', pitch: 40, hertz: 147 },
  ballad: { variant: 'm2', pitch: 55, hertz: 165 },
  coral: { variant: 'f1', pitch: 62, hertz: 294 },
  echo: { variant: 'm3', pitch: 45, hertz: 175 },
  fable: { variant: 'm4', pitch: 60, hertz: 196 },
  onyx: { variant: 'm5', pitch: 25, hertz: 110 },
  nova: { variant: 'f3', pitch: 65, hertz: 330 },
  sage: { variant: 'f4', pitch: 45, hertz: 247 },
  shimmer: { variant: 'f5', pitch: 75, hertz: 349 },
  verse: { variant: 'm6', pitch: 50, hertz: 185 },
  marin: { variant: 'f2', pitch: 70, hertz: 311 },
  cedar: { variant: 'm7', pitch: 35, hertz: 131 },
};

const otherVoice: Voice = { variant: 'm1', pitch: 50, hertz: 220 };

/**
 * Languages that are recognised by their script; any other text counts as English. Japanese also uses Chinese
 * characters, so it comes first.
 */
const scripts: readonly { readonly script: RegExp; readonly code: string; readonly name: string }[] = [
  { script: /[\p{Script=Hiragana}\p{Script=Katakana}]/gu, code: 'ja', name: 'japanese' },
  { script: /\p{Script=Han}/gu, code: 'cmn', name: 'chinese' },
  { script: /\p{Script=Hangul}/gu, code: 'ko', name: 'korean' },
  { script: /\p{Script=Cyrillic}/gu, code: 'ru', name: 'russian' },
  { script: /\p{Script=Greek}/gu, code: 'el', name: 'greek' },
  { script: /\p{Script=Arabic}/gu, code: 'ar', name: 'arabic' },
  { script: /\p{Script=Hebrew}/gu, code: 'he', name: 'hebrew' },
  { script: /\p{Script=Devanagari}/gu, code: 'hi', name: 'hindi' },
];

/**
 * The required share of letters of a script, in per cent, so that a foreign name in an English sentence does not change
 * its voice.
 */
const scriptPercent = 30;

function findScript(text: string): (typeof scripts)[number] | undefined {
  const letters = text.match(/\p{Letter}/gu)?.length ?? 0;
  return scripts.find(({ script }) => ((text.match(script)?.length ?? 0) * 100) / Math.max(1, letters) >= scriptPercent);
}

/** The lower-case English name of the likely language of a text. */
export function guessLanguage(text: string): string {
  return findScript(text)?.name ?? 'english';
}

/**
 * A simulated speech: 24 kHz mono, at 60 % of full scale. `synthesizer` names its source: espeak-ng if it is installed,
 * otherwise tones that are not a voice.
 */
export async function synthesizeSpeech(
  text: string,
  voiceName: string,
  speed: number,
): Promise<{ readonly samples: Int16Array; readonly synthesizer: 'espeak-ng' | 'tones' }> {
  const voice = voices[voiceName] ?? otherVoice;
  const code = findScript(text)?.code ?? 'en-us';
  const spoken = await speak(text, code, voice, speed);
  // A text without words, for example a row of dots, is silence for the synthesizer; the tones make audio of any text.
  if (spoken.some((sample) => sample !== 0)) return { samples: finish(spoken), synthesizer: 'espeak-ng' };
  return { samples: finish(playTones(text, voice.hertz, speed)), synthesizer: 'tones' };
}

/** Silence if there is no synthesizer, or if it fails: not every installation has every language. */
async function speak(text: string, code: string, voice: Voice, speed: number): Promise<Int16Array> {
  if (!(await hasEspeak())) return new Int16Array();
  try {
    return await speakWithEspeak(text, code, voice, speed);
  } catch {
    return new Int16Array();
  }
}

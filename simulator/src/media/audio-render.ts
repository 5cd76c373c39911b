import { encodeAudio, type AudioFormat } from './audio-encode.ts';
import { msOfSamples } from './audio-pcm.ts';
import { synthesizeSpeech } from './audio-speech.ts';
import { writeTranscriptComment } from './audio-transcript.ts';

export type SpeechOrder = {
  readonly text: string;
  readonly voice: string;
  readonly speed: number;
  readonly format: AudioFormat;
  readonly isStreamed: boolean;
};

export type RenderedSpeech = {
  readonly bytes: Buffer;
  readonly durationMs: number;
  /** The source of the audio: a synthesizer, or tones that are not a voice. */
  readonly synthesizer: 'espeak-ng' | 'tones';
};

const lanesMax = 2;
const keptMax = 64;
const keptBytesMax = 33_554_432;

const kept = new Map<string, RenderedSpeech>();
const waiting: (() => void)[] = [];
let running = 0;

/**
 * Speech in a format, with its own transcript in it. At most two are made at a time; the last ones are cached for
 * repeated orders. Rejects if the synthesizer fails.
 */
export async function renderSpeech(order: SpeechOrder): Promise<RenderedSpeech> {
  const key = JSON.stringify([order.text, order.voice, order.speed, order.format, order.isStreamed]);
  const known = kept.get(key);
  if (known !== undefined) return known;
  // After waiting, a newer caller may already have taken the slot.
  while (running >= lanesMax) await new Promise<void>((resolve) => waiting.push(resolve));
  running += 1;
  try {
    const rendered = await render(order);
    keep(key, rendered);
    return rendered;
  } finally {
    running -= 1;
    waiting.shift()?.();
  }
}

async function render({ text, voice, speed, format, isStreamed }: SpeechOrder): Promise<RenderedSpeech> {
  const { samples, synthesizer } = await synthesizeSpeech(text, voice, speed);
  const durationMs = msOfSamples(samples.length);
  return { bytes: await encodeAudio(samples, format, writeTranscriptComment(text, durationMs), isStreamed), durationMs, synthesizer };
}

function keep(key: string, rendered: RenderedSpeech): void {
  kept.set(key, rendered);
  let bytes = 0;
  for (const {
    bytes: { length },
  } of kept.values())
    bytes += length;
  for (const [
    oldest,
    {
      bytes: { length },
    },
  ] of kept) {
    if (kept.size <= keptMax && bytes <= keptBytesMax) return;
    kept.delete(oldest);
    bytes -= length;
  }
}

import { billedAudioMs } from '../../../dialects/openai-audio/audio-usage.ts';
import type { AudioContainer } from '../../../dialects/openai-audio/sniff-audio.ts';
import type { MeasureOptions, MediaMeter } from '../../../platform/media/media-meter.ts';
import type { SpooledUpload } from '../shared/upload-spool.ts';

/** The billed duration of a recording. `measured` is false if it was estimated from the size. */
export type AudioDuration = { readonly audioMs: number; readonly measured: boolean };

/** A day, in seconds. No upload contains more, whatever it declares. */
const secondsMax = 86_400;

/**
 * Measures a recording by its packets. Headers of streams often lack the length, and a client could forge it to pay
 * less. If a file makes its reader loop, the duration is estimated from the size. Never rejects.
 */
export async function measureAudio(
  meter: Pick<MediaMeter, 'measureSound'>,
  { upload, container }: { readonly upload: SpooledUpload; readonly container: AudioContainer },
  options: MeasureOptions,
): Promise<AudioDuration> {
  const { bytes } = upload;
  const file = { bytes, readAt: (start: number, end: number) => upload.readAt(start, end) };
  const format = container === 'mp3' || container === 'flac' ? container : 'other';
  const seconds = await meter.measureSound(file, format, options).catch(() => {
    // Unreadable, or too slow: the size decides. Metrics of the threads show it to the operator.
    return undefined;
  });
  if (seconds !== undefined && Number.isFinite(seconds) && seconds > 0 && seconds < secondsMax)
    return { audioMs: billedAudioMs(seconds), measured: true };
  return { audioMs: estimateAudioMs(bytes, container), measured: false };
}

/** Usual minimum of bits per second by container: speech at 16 kHz if it is not compressed. */
const usualBitrates: Readonly<Partial<Record<AudioContainer, number>>> = { wav: 256_000, flac: 128_000 };
const compressedBitrate = 64_000;

/** Estimates the duration from the size, in whole seconds. */
export function estimateAudioMs(bytes: number, container: AudioContainer): number {
  return billedAudioMs((bytes * 8) / (usualBitrates[container] ?? compressedBitrate));
}

/** No speech codec needs fewer bits per second, except for silence. */
const leastBitrate = 600;
const longestSlackMs = 60_000;

/** The duration of the longest recording of a size. */
export function longestAudioMs(bytes: number): number {
  return billedAudioMs((bytes * 8) / leastBitrate) + longestSlackMs;
}

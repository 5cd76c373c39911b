import { billedAudioMs } from '../../../dialects/openai-audio/audio-usage.ts';
import type { AudioContainer } from '../../../dialects/openai-audio/sniff-audio.ts';
import type { MeasureOptions, MediaMeter } from '../../../platform/media/media-meter.ts';
import type { SpooledUpload } from '../shared/upload-spool.ts';

/** How long a recording is, for the bill. `measured` is false where it had to be guessed from its size. */
export type SoundLength = { readonly audioMs: number; readonly measured: boolean };

/** A day, in seconds. More cannot be in an upload, whatever it says. */
const secondsMax = 86_400;

/**
 * Measures a recording by its packets: what headers say of the length is often missing in streams, and would be what a client that wants to pay less
 * changes. A file that makes its reader loop is measured by its size. Never rejects.
 */
export async function measureSound(
  meter: Pick<MediaMeter, 'measureSound'>,
  { upload, container }: { readonly upload: SpooledUpload; readonly container: AudioContainer },
  options: MeasureOptions,
): Promise<SoundLength> {
  const { bytes } = upload;
  const file = { bytes, readAt: (start: number, end: number) => upload.readAt(start, end) };
  const format = container === 'mp3' || container === 'flac' ? container : 'other';
  const seconds = await meter.measureSound(file, format, options).catch(() => {
    // Not readable, or not in time: the size has to do. The figures of the threads tell the operator.
    return undefined;
  });
  if (seconds !== undefined && Number.isFinite(seconds) && seconds > 0 && seconds < secondsMax)
    return { audioMs: billedAudioMs(seconds), measured: true };
  return { audioMs: estimateAudioMs(bytes, container), measured: false };
}

/** Bits per second below which recordings of a kind are rare: speech at 16 kHz where it is not compressed. */
const usualBitrates: Readonly<Partial<Record<AudioContainer, number>>> = { wav: 256_000, flac: 128_000 };
const compressedBitrate = 64_000;

/** A length by the size alone, in whole seconds. */
export function estimateAudioMs(bytes: number, container: AudioContainer): number {
  return billedAudioMs((bytes * 8) / (usualBitrates[container] ?? compressedBitrate));
}

/** No codec for speech needs fewer bits a second, and silence may need next to none. */
const leastBitrate = 600;
const longestSlackMs = 60_000;

/** A length that no recording of a size exceeds. */
export function longestAudioMs(bytes: number): number {
  return billedAudioMs((bytes * 8) / leastBitrate) + longestSlackMs;
}

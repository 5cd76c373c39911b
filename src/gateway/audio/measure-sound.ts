import { billedAudioMs } from '../../dialects/openai-audio/audio-usage.ts';
import type { AudioContainer } from '../../dialects/openai-audio/sniff-audio.ts';
import { countMpegFrames } from './count-mpeg-frames.ts';
import { loadMediabunny } from '../../platform/load-mediabunny.ts';
import { waitFor } from '../../platform/wait-for.ts';
import type { SpooledUpload } from './upload-spool.ts';

/** How long a recording is, for the bill. `measured` is false where it had to be guessed from its size. */
export type SoundLength = { readonly audioMs: number; readonly measured: boolean };

/** A file made of a million tiny frames is not read to its end. */
const measureMsMax = 5000;
const cacheBytes = 2 * 1024 * 1024;
/** A day, in seconds. More cannot be in an upload, whatever it says. */
const secondsMax = 86_400;

/**
 * Measures a recording by its packets: what headers say of the length is often missing in streams, and would be what a client that wants to pay less
 * changes. Its cost is that of reading the file, in steps between which others have their turn. Never rejects.
 */
export async function measureSound(upload: SpooledUpload, container: AudioContainer, signal: AbortSignal): Promise<SoundLength> {
  const seconds = (container === 'mp3' ? await countFrames(upload, signal) : undefined) ?? (await readSeconds(upload, signal));
  if (seconds !== undefined) return { audioMs: billedAudioMs(seconds), measured: true };
  return { audioMs: estimateAudioMs(upload.bytes, container), measured: false };
}

/** Those recordings are the ones made of the most pieces: their packets one by one would take the process from others for seconds. */
async function countFrames(upload: SpooledUpload, signal: AbortSignal): Promise<number | undefined> {
  try {
    const seconds = await countMpegFrames(upload, signal);
    return seconds !== undefined && seconds > 0 && seconds < secondsMax ? seconds : undefined;
  } catch {
    // Its call is over, and the file with it.
    return undefined;
  }
}

async function readSeconds(upload: SpooledUpload, signal: AbortSignal): Promise<number | undefined> {
  const { ALL_FORMATS, CustomSource, Input } = await loadMediabunny();
  const source = new CustomSource({
    getSize: () => upload.bytes,
    read: (start, end) => upload.readAt(start, end),
    maxCacheSize: cacheBytes,
    prefetchProfile: 'fileSystem',
    handleUnhandledError: () => {},
  });
  const input = new Input({ source, formats: ALL_FORMATS });
  try {
    const measure = async (): Promise<number | undefined> => {
      const track = await input.getPrimaryAudioTrack();
      return track === null ? undefined : await track.computeDuration();
    };
    const seconds = await waitFor(measure(), measureMsMax, signal);
    return seconds !== undefined && Number.isFinite(seconds) && seconds > 0 && seconds < secondsMax ? seconds : undefined;
  } catch {
    // Not readable, or not in time: the size has to do.
    return undefined;
  } finally {
    input.dispose();
  }
}

/** Bits per second below which recordings of a kind are rare: speech at 16 kHz where it is not compressed. */
const usualBitrates: Readonly<Partial<Record<AudioContainer, number>>> = { wav: 256_000, flac: 128_000 };
const compressedBitrate = 64_000;

/** A length by the size alone, in whole seconds. */
export function estimateAudioMs(bytes: number, container: AudioContainer): number {
  return billedAudioMs((bytes * 8) / (usualBitrates[container] ?? compressedBitrate));
}

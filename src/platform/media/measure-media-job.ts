import { ALL_FORMATS, CustomSource, Input } from 'mediabunny';

import type { JobContext } from '../isolation/isolated-job.ts';
import { countFlacFrames } from './count-flac-frames.ts';
import { countMpegFrames } from './count-mpeg-frames.ts';
import type { ReadableFile } from './readable-file.ts';

/** What is wanted of a file: the seconds of its sound, or of its pictures. */
export type MediaQuestion = {
  readonly bytes: number;
  readonly of: 'sound' | 'pictures';
  /** Formats whose frames are counted. */
  readonly format: 'mp3' | 'flac' | 'other';
  /** What may be read of the file at a time, and altogether. */
  readonly pieceBytesMax: number;
  readonly readBytesMax: number;
};

type Piece = { readonly start: number; readonly end: number };

/** What a reader keeps of a file: the tables of a video of six hours are some megabytes. */
const cacheBytes = 2 * 1024 * 1024;

/** The seconds of a file; undefined where it has neither sound nor pictures, as asked. Throws what the reader of the format throws. */
export async function run(asked: MediaQuestion, { ask }: JobContext<Piece, Uint8Array>): Promise<number | undefined> {
  const file: ReadableFile = { bytes: asked.bytes, readAt: (start, end) => ask({ start, end }) };
  // Those recordings are the ones made of the most pieces, and what a demuxer does with a broken one is not to be foreseen.
  if (asked.format === 'flac') return await countFlacFrames(file);
  if (asked.format === 'mp3') {
    const seconds = await countMpegFrames(file);
    if (seconds !== undefined) return seconds;
  }
  return await demux(file, asked);
}

async function demux(file: ReadableFile, { of, pieceBytesMax, readBytesMax }: MediaQuestion): Promise<number | undefined> {
  let left = readBytesMax;
  const source = new CustomSource({
    getSize: () => file.bytes,
    read: (start, end) => {
      left -= end - start;
      if (left < 0 || end - start > pieceBytesMax) throw new RangeError('the tables of the file are too large to be measured');
      return file.readAt(start, end);
    },
    maxCacheSize: cacheBytes,
    prefetchProfile: 'fileSystem',
    handleUnhandledError: () => {},
  });
  const input = new Input({ source, formats: ALL_FORMATS });
  try {
    const track = of === 'sound' ? await input.getPrimaryAudioTrack() : await input.getPrimaryVideoTrack();
    return track === null ? undefined : await track.computeDuration();
  } finally {
    input.dispose();
  }
}

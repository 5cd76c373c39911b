import { ALL_FORMATS, CustomSource, Input } from 'mediabunny';

import type { JobContext } from '../isolation/isolated-job.ts';
import { countFlacFrames } from './count-flac-frames.ts';
import { countMpegFrames } from './count-mpeg-frames.ts';
import type { ReadableFile } from './readable-file.ts';

/** Which length of a file is measured: that of its audio, or that of its video. */
export type MediaQuestion = {
  readonly bytes: number;
  readonly of: 'sound' | 'pictures';
  /** The format, if its frames are counted. */
  readonly format: 'mp3' | 'flac' | 'other';
  /** The most bytes to read at a time, and in total. */
  readonly pieceBytesMax: number;
  readonly readBytesMax: number;
};

type Piece = { readonly start: number; readonly end: number };

/** Cache of the reader: the tables of a six-hour video are some megabytes. */
const cacheBytes = 2 * 1024 * 1024;

/** Measures a file in seconds. Undefined if it has no such track. Throws the errors of the format's reader. */
export async function run(asked: MediaQuestion, { ask }: JobContext<Piece, Uint8Array>): Promise<number | undefined> {
  const file: ReadableFile = { bytes: asked.bytes, readAt: (start, end) => ask({ start, end }) };
  // These recordings have the most frames, and a demuxer's behaviour on broken ones is unpredictable.
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

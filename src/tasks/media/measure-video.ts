import { loadMediabunny } from '../../platform/load-mediabunny.ts';
import type { StoredMedia } from '../video-task.ts';
import type { MediaStorage } from './media-storage.ts';

/** What a reader keeps of a file, and what it may read of it: the tables of a video of six hours are some megabytes. */
const cacheBytes = 2 * 1024 * 1024;
const pieceBytesMax = 32 * 1024 * 1024;
const readBytesMax = 256 * 1024 * 1024;

/**
 * Measures how long a stored video is, by the times of its pictures. Only the tables of the file are read, in parts, so that its size costs neither memory nor
 * time; one whose tables are larger than those of any real video is given up.
 * @returns milliseconds; undefined where it has no pictures
 * @throws what the storage or the reader of the format throws, and the signal's reason
 */
export async function measureVideo(
  storage: Pick<MediaStorage, 'open'>,
  media: StoredMedia,
  signal: AbortSignal,
): Promise<number | undefined> {
  let left = readBytesMax;
  const { ALL_FORMATS, CustomSource, Input } = await loadMediabunny();
  const source = new CustomSource({
    getSize: () => media.bytes,
    read: (start, end) => {
      left -= end - start;
      if (left < 0 || end - start > pieceBytesMax) throw new RangeError('the tables of the video are too large to be measured');
      return readPart(storage, media.key, { start, end, signal });
    },
    maxCacheSize: cacheBytes,
    prefetchProfile: 'fileSystem',
    handleUnhandledError: () => {},
  });
  const input = new Input({ source, formats: ALL_FORMATS });
  try {
    const track = await input.getPrimaryVideoTrack();
    signal.throwIfAborted();
    if (track === null) return undefined;
    const seconds = await track.computeDuration();
    signal.throwIfAborted();
    return Math.round(seconds * 1000);
  } finally {
    input.dispose();
  }
}

/** Bytes from `start` up to and not including `end`. */
async function readPart(
  { open }: Pick<MediaStorage, 'open'>,
  key: string,
  { start, end, signal }: { readonly start: number; readonly end: number; readonly signal: AbortSignal },
): Promise<Uint8Array> {
  signal.throwIfAborted();
  const content = await open(key, { start, end: end - 1 }, signal);
  if (content === undefined) throw new Error('the file is not there');
  const part = new Uint8Array(end - start);
  let at = 0;
  for await (const piece of content) {
    if (at + piece.length > part.length) throw new RangeError('the storage gave more than was asked for');
    part.set(piece, at);
    at += piece.length;
  }
  if (at < part.length) throw new RangeError('the file is shorter than it was when it was stored');
  return part;
}

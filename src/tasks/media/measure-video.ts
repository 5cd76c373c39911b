import type { MeasureOptions, MediaMeter } from '../../platform/media/media-meter.ts';
import type { StoredMedia } from '../video-task.ts';
import type { MediaStorage } from './media-storage.ts';

/**
 * Measures a stored video by the times of its frames. Only the tables of the file are read, in parts, so that its size
 * costs neither memory nor time. A file with larger tables than any real video is refused.
 * @returns milliseconds; undefined if it has no frames
 * @throws errors of the storage and of the format's reader, and the signal's reason
 */
export async function measureVideo(
  { storage, meter }: { readonly storage: Pick<MediaStorage, 'open'>; readonly meter: Pick<MediaMeter, 'measurePictures'> },
  media: StoredMedia,
  options: MeasureOptions,
): Promise<number | undefined> {
  const { signal } = options;
  const readAt = (start: number, end: number): Promise<Uint8Array> => readPart(storage, media.key, { start, end, signal });
  const seconds = await meter.measurePictures({ bytes: media.bytes, readAt }, options);
  return seconds === undefined ? undefined : Math.round(seconds * 1000);
}

/** The bytes `[start, end)`. */
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

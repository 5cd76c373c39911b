import { MediaStorageError } from './media/media-storage.ts';
import type { TaskParts } from './task-parts.ts';
import type { StoredMedia, VideoTask } from './video-task.ts';
import { ResultError } from './video-upstreams.ts';
import { untilAborted, withinTime } from './wait.ts';

/** How often it is looked whether a copy stands still, as a part of the time it may. */
const idleLooks = 4;

/**
 * Copies a finished file from its upstream into the storage, piece by piece. It is there whole or not at all.
 * @throws ResultError for what the upstream's side did, MediaStorageError for what the storage did, WorkTimeoutError, and the signal's reason
 */
export async function copyFile(
  parts: TaskParts,
  task: VideoTask,
  copy: { readonly result: string; readonly key: string; readonly signal: AbortSignal },
): Promise<StoredMedia> {
  const { wait, upstreams, storage, settings } = parts;
  const { fileBytesMax: bytesMax, copyIdleMs, copyTotalMs } = settings();
  return await withinTime(wait, { ms: copyTotalMs, signal: copy.signal }, async (total) => {
    const watch = watchPace(parts, copyIdleMs, total);
    try {
      const opened = await untilAborted(watch.signal, upstreams.openResult(task, copy.result, watch.signal));
      const mediaType = mediaTypeOf(opened.mediaType);
      if (opened.bytes !== undefined && opened.bytes > bytesMax) throw tooLarge(bytesMax);
      const content = asVideo(counted(opened.content, opened.bytes, watch.pace));
      const writing = storage.write(copy.key, content, { mediaType, bytesMax, signal: watch.signal });
      const { bytes, sha256 } = await untilAborted(watch.signal, writing);
      return { key: copy.key, mediaType, bytes, sha256 };
    } finally {
      watch.stop();
    }
  });
}

function tooLarge(bytesMax: number): MediaStorageError {
  return new MediaStorageError('too-large', `The file has more than ${bytesMax} bytes.`);
}

/** A video server that has no better word says octet-stream; a page of an error is no video, whatever its status. */
function mediaTypeOf(told: string): string {
  const type = told.split(';', 1)[0]?.trim().toLowerCase() ?? '';
  if (/^(?:video|image|audio)\/[a-z0-9.+-]+$/.test(type)) return type;
  if (/^text\/|json|xml|html/.test(type)) throw new ResultError(`what came is no video but ${type.slice(0, 60)}`, { isGone: false });
  return 'video/mp4';
}

/** Where `ftyp` stands in files of the MP4 family, and how Matroska and WebM begin (EBML). */
const ftypAt = 4;
const headBytes = 8;

/** Whether a file begins like a video. A page of an error, or a file that was cut at its front, is not charged. */
function beginsLikeVideo(head: Uint8Array): boolean {
  const text = Buffer.from(head).toString('latin1');
  return text.startsWith('ftyp', ftypAt) || text.startsWith('\x1a\x45\xdf\xa3');
}

/** The same pieces, once their first bytes have been seen to be those of a video. */
async function* asVideo(content: AsyncIterable<Uint8Array>): AsyncIterable<Uint8Array> {
  let head: Uint8Array | undefined = new Uint8Array(0);
  for await (const piece of content) {
    if (head === undefined) {
      yield piece;
      continue;
    }
    head = Buffer.concat([head, piece]);
    if (head.length < headBytes) continue;
    if (!beginsLikeVideo(head)) throw new ResultError('what came does not begin like a video', { isGone: false });
    yield head;
    head = undefined;
  }
  if (head !== undefined && head.length > 0) throw new ResultError('what came is too short to be a video', { isGone: false });
}

/** What comes, unless it is empty or breaks off before its announced length. */
async function* counted(content: AsyncIterable<Uint8Array>, announced: number | undefined, pace: () => void): AsyncIterable<Uint8Array> {
  let bytes = 0;
  for await (const piece of content) {
    bytes += piece.length;
    pace();
    if (announced !== undefined && bytes > announced) throw new ResultError('the file is longer than announced', { isGone: false });
    yield piece;
    // A storage that is slow to take a piece is no upstream that stands still.
    pace();
  }
  if (bytes === 0) throw new ResultError('the file is empty', { isGone: false });
  if (announced !== undefined && bytes < announced) throw new ResultError('the file broke off before its end', { isGone: false });
}

type PaceWatch = { readonly signal: AbortSignal; readonly pace: () => void; readonly stop: () => void };

/** Aborts when nothing has come for too long. One timer looks now and then: a timer for each piece of a large file would cost more than its bytes. */
function watchPace({ wait, clock }: Pick<TaskParts, 'wait' | 'clock'>, idleMs: number, outer: AbortSignal): PaceWatch {
  const standing = new AbortController();
  const stopped = new AbortController();
  let lastMs = clock.monotonicMs();
  const look = async (): Promise<void> => {
    while (!stopped.signal.aborted && !standing.signal.aborted) {
      await wait(idleMs / idleLooks, stopped.signal);
      if (clock.monotonicMs() - lastMs >= idleMs) standing.abort(new ResultError('the file stood still for too long', { isGone: false }));
    }
  };
  void look();
  return {
    signal: AbortSignal.any([outer, standing.signal]),
    pace: () => (lastMs = clock.monotonicMs()),
    stop: () => {
      stopped.abort();
      // A file that was opened and refused, or that nobody began to store, has a connection that nobody else ends.
      standing.abort(new ResultError('nobody reads on', { isGone: false }));
    },
  };
}

import { MediaStorageError } from './media/media-storage.ts';
import type { TaskParts } from './task-parts.ts';
import type { StoredMedia, VideoTask } from './video-task.ts';
import { ResultError } from './video-upstreams.ts';
import { untilAborted, withinTime } from './wait.ts';

/** Checks for a stalled copy within its idle time. */
const idleLooks = 4;

/**
 * Copies a finished file from its upstream into the storage, piece by piece. The storage gets the whole file or
 * nothing.
 * @throws ResultError for failures of the upstream, MediaStorageError for failures of the storage, WorkTimeoutError,
 * and the signal's reason
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

/** The media type of the file. Some video servers send octet-stream. An error page is not a video, with any status. */
function mediaTypeOf(told: string): string {
  const type = told.split(';', 1)[0]?.trim().toLowerCase() ?? '';
  if (/^(?:video|image|audio)\/[a-z0-9.+-]+$/.test(type)) return type;
  if (/^text\/|json|xml|html/.test(type)) throw new ResultError(`the file is not a video but ${type.slice(0, 60)}`, { isGone: false });
  return 'video/mp4';
}

/** The position of `ftyp` in files of the MP4 family, and the beginning of Matroska and WebM files (EBML). */
const ftypAt = 4;
const headBytes = 8;

/** Whether a file begins like a video. An error page, or a file without its beginning, is not charged. */
function beginsLikeVideo(head: Uint8Array): boolean {
  const text = Buffer.from(head).toString('latin1');
  return text.startsWith('ftyp', ftypAt) || text.startsWith('\x1a\x45\xdf\xa3');
}

/** Passes on the pieces after checking that the first bytes are those of a video. */
async function* asVideo(content: AsyncIterable<Uint8Array>): AsyncIterable<Uint8Array> {
  let head: Uint8Array | undefined = new Uint8Array(0);
  for await (const piece of content) {
    if (head === undefined) {
      yield piece;
      continue;
    }
    head = Buffer.concat([head, piece]);
    if (head.length < headBytes) continue;
    if (!beginsLikeVideo(head)) throw new ResultError('the file does not begin like a video', { isGone: false });
    yield head;
    head = undefined;
  }
  if (head !== undefined && head.length > 0) throw new ResultError('the file is too short to be a video', { isGone: false });
}

/** Passes on the pieces. Fails if the file is empty or shorter or longer than announced. */
async function* counted(content: AsyncIterable<Uint8Array>, announced: number | undefined, pace: () => void): AsyncIterable<Uint8Array> {
  let bytes = 0;
  for await (const piece of content) {
    bytes += piece.length;
    pace();
    if (announced !== undefined && bytes > announced) throw new ResultError('the file is longer than announced', { isGone: false });
    yield piece;
    // Time in which the storage is slow does not count as a stall of the upstream.
    pace();
  }
  if (bytes === 0) throw new ResultError('the file is empty', { isGone: false });
  if (announced !== undefined && bytes < announced) throw new ResultError('the file was truncated', { isGone: false });
}

type PaceWatch = { readonly signal: AbortSignal; readonly pace: () => void; readonly stop: () => void };

/**
 * Aborts a stalled copy. One timer checks periodically, because a timer for each piece of a large file would cost more
 * than the piece.
 */
function watchPace({ wait, clock }: Pick<TaskParts, 'wait' | 'clock'>, idleMs: number, outer: AbortSignal): PaceWatch {
  const standing = new AbortController();
  const stopped = new AbortController();
  let lastMs = clock.monotonicMs();
  const look = async (): Promise<void> => {
    while (!stopped.signal.aborted && !standing.signal.aborted) {
      await wait(idleMs / idleLooks, stopped.signal);
      if (clock.monotonicMs() - lastMs >= idleMs) standing.abort(new ResultError('the file stalled for too long', { isGone: false }));
    }
  };
  void look();
  return {
    signal: AbortSignal.any([outer, standing.signal]),
    pace: () => (lastMs = clock.monotonicMs()),
    stop: () => {
      stopped.abort();
      // The connection of a file that was opened and refused, or never stored, is closed here.
      standing.abort(new ResultError('the copy has ended', { isGone: false }));
    },
  };
}

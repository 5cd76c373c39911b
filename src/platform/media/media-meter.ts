import { isolatedJob } from '../isolation/isolated-job.ts';
import { createJobPool } from '../isolation/job-pool.ts';
import type * as MeasureMediaJob from './measure-media-job.ts';
import type { MediaQuestion } from './measure-media-job.ts';
import type { ReadableFile } from './readable-file.ts';

const measureMediaJob = isolatedJob<typeof MeasureMediaJob>('measure-media', new URL('./measure-media-job.ts', import.meta.url));

/** The owner of the file, and the signal that aborts the wait in the queue and for the result. */
export type MeasureOptions = { readonly tenant: string; readonly signal: AbortSignal };

/**
 * Measures the length of audio and video files in threads, so that a file that makes its reader loop affects only
 * itself.
 */
export type MediaMeter = {
  /** Seconds of audio; undefined if unknown. @throws JobError, and the signal's reason */
  readonly measureSound: (file: ReadableFile, format: MediaQuestion['format'], options: MeasureOptions) => Promise<number | undefined>;
  /**
   * Seconds of video. Only tables are read.
   * @throws JobError, what the file's `readAt` rejects with included, and the signal's reason
   */
  readonly measurePictures: (file: ReadableFile, options: MeasureOptions) => Promise<number | undefined>;
  readonly close: () => Promise<void>;
};

const megabyte = 1024 * 1024;
/** A file of a million tiny frames is not read to its end. */
const soundMsMaxDefault = 5000;
/** Tables are read from a storage that may be slow. */
const picturesMsMaxDefault = 60_000;

const limitsOfSound = { pieceBytesMax: 64 * megabyte, readBytesMax: 2048 * megabyte };
const limitsOfPictures = { pieceBytesMax: 32 * megabyte, readBytesMax: 256 * megabyte };

/** Audio and video have separate threads, so that a slow object store does not delay calls. */
export function createMediaMeter({
  soundMsMax = soundMsMaxDefault,
  picturesMsMax = picturesMsMaxDefault,
}: { readonly soundMsMax?: number; readonly picturesMsMax?: number } = {}): MediaMeter {
  const limits = { memoryMegabytes: 192, outputBytesMax: 1024, waitingMax: 1000, waitingPerTenantMax: 200 };
  const sounds = createJobPool({ ...limits, name: 'sound', threadsMax: 3, timeoutMs: soundMsMax });
  const pictures = createJobPool({ ...limits, name: 'video', threadsMax: 2, timeoutMs: picturesMsMax });
  const read = (file: ReadableFile) => async (piece: { readonly start: number; readonly end: number }) =>
    // A copy: with a view, the whole buffer beneath it would be transferred.
    new Uint8Array(await file.readAt(piece.start, piece.end));
  return {
    measureSound: (file, format, options) =>
      sounds.run(measureMediaJob, { bytes: file.bytes, of: 'sound', format, ...limitsOfSound }, { ...options, answer: read(file) }),
    measurePictures: (file, options) =>
      pictures.run(
        measureMediaJob,
        { bytes: file.bytes, of: 'pictures', format: 'other', ...limitsOfPictures },
        { ...options, answer: read(file) },
      ),
    close: async () => {
      await Promise.all([sounds.close(), pictures.close()]);
    },
  };
}

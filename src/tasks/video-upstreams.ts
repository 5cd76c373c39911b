import type { VideoError } from '../inference/video.ts';
import type { SealedVideoRequest, VideoTask } from './video-task.ts';

/** An upstream's report on a task, in a common form. The gateway translates it from the upstream's protocol. */
export type TaskReport =
  | { readonly status: 'queued' | 'in_progress'; readonly progress?: number }
  /** `result` is the location of the file, for `openResult`. */
  | { readonly status: 'completed'; readonly result: string; readonly durationMs?: number; readonly raw?: unknown }
  | {
      readonly status: 'failed';
      readonly error: VideoError;
      /** Whether the vendor bills it nevertheless. */
      readonly isBilled: boolean;
      readonly durationMs?: number;
      readonly raw?: unknown;
    }
  | { readonly status: 'missing' }
  /** The status is unknown. `isOurs`: because of the gateway or its configuration, so that an operator must act. */
  | { readonly status: 'unclear'; readonly reason: string; readonly isOurs: boolean };

/** A finished file from an upstream. */
export type OpenedResult = { readonly mediaType: string; readonly bytes: number | undefined; readonly content: AsyncIterable<Uint8Array> };

/** A file could not be fetched. `isGone`: its server says that it no longer exists. Otherwise a retry may succeed. */
export class ResultError extends Error {
  readonly isGone: boolean;

  constructor(message: string, options: { readonly isGone: boolean; readonly cause?: unknown }) {
    super(message, options);
    this.name = 'ResultError';
    this.isGone = options.isGone;
  }
}

/** The upstreams that the lifecycle needs. The gateway implements them. */
export type VideoUpstreams = {
  /** Reads the status of a task. Never rejects: a failure gives `unclear`. */
  readonly ask: (task: VideoTask, signal: AbortSignal) => Promise<TaskReport>;
  /**
   * Sends a submission again whose answer was lost, if the protocol of the upstream is idempotent. Undefined if it is
   * not.
   */
  readonly submitAgain: (
    task: VideoTask,
    request: SealedVideoRequest,
    signal: AbortSignal,
  ) => Promise<{ readonly upstreamTaskId: string; readonly reading: TaskReport } | 'unclear' | 'refused' | undefined>;
  /** Opens the finished file. @throws ResultError */
  readonly openResult: (task: VideoTask, result: string, signal: AbortSignal) => Promise<OpenedResult>;
};

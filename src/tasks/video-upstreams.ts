import type { VideoError } from '../inference/video.ts';
import type { SealedVideoRequest, VideoTask } from './video-task.ts';

/** What an upstream said of a task, in words of the lifecycle. The gateway reads it out of the upstream's own protocol. */
export type TaskReading =
  | { readonly status: 'queued' | 'in_progress'; readonly progress?: number }
  /** `result` is for `openResult`: where the file is. */
  | { readonly status: 'completed'; readonly result: string; readonly durationMs?: number; readonly raw?: unknown }
  | {
      readonly status: 'failed';
      readonly error: VideoError;
      /** Whether the vendor bills it all the same. */
      readonly isBilled: boolean;
      readonly durationMs?: number;
      readonly raw?: unknown;
    }
  | { readonly status: 'missing' }
  /** Nothing was learnt. `isOurs`: the fault lies with the gateway or its configuration, so that an operator has to look. */
  | { readonly status: 'unclear'; readonly reason: string; readonly isOurs: boolean };

/** A finished file as it comes from an upstream. */
export type OpenedResult = { readonly mediaType: string; readonly bytes: number | undefined; readonly content: AsyncIterable<Uint8Array> };

/** A file could not be fetched. `gone`: it will never be there again, by the word of its server; otherwise it may be worth another attempt. */
export class ResultError extends Error {
  readonly isGone: boolean;

  constructor(message: string, options: { readonly isGone: boolean; readonly cause?: unknown }) {
    super(message, options);
    this.name = 'ResultError';
    this.isGone = options.isGone;
  }
}

/** What the lifecycle of tasks needs of upstreams. Implemented by the gateway. */
export type VideoUpstreams = {
  /** Asks how a task stands. Never rejects: what goes wrong is `unclear`. */
  readonly ask: (task: VideoTask, signal: AbortSignal) => Promise<TaskReading>;
  /**
   * Sends a submission again whose answer was lost, where the upstream's protocol sees to it that nothing is made twice.
   * Undefined where it does not.
   */
  readonly submitAgain: (
    task: VideoTask,
    request: SealedVideoRequest,
    signal: AbortSignal,
  ) => Promise<{ readonly upstreamTaskId: string; readonly reading: TaskReading } | 'unclear' | 'refused' | undefined>;
  /** Opens the finished file. @throws ResultError */
  readonly openResult: (task: VideoTask, result: string, signal: AbortSignal) => Promise<OpenedResult>;
};

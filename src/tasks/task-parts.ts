import type { MeasureOptions } from '../platform/media/media-meter.ts';
import type { Charge } from '../billing/ledger/call-entry.ts';
import type { Usage } from '../inference/usage.ts';
import type { Clock } from '../platform/clock.ts';
import type { Logger } from '../platform/log.ts';
import type { Sealer } from '../platform/seal/sealer.ts';
import type { MediaStorage } from './media/media-storage.ts';
import type { TaskStore } from './task-store.ts';
import type { StoredMedia, VideoTask } from './video-task.ts';
import type { VideoUpstreams } from './video-upstreams.ts';

/** Waits so many milliseconds, or until the signal aborts. Never rejects. */
export type Wait = (ms: number, signal: AbortSignal) => Promise<void>;

/** What an operator sets. A reload may change it at any time. */
export type TaskSettings = {
  /** How old a task may become before an operator is to look at it. It goes on all the same. */
  readonly deadlineMs: number;
  /** How old it may become before it ends as `upstream_timeout`, and how long its file is tried to be fetched. */
  readonly giveUpMs: number;
  readonly fileBytesMax: number;
  /** How long a task that is over is remembered; one that has its file longer than that, as long as it has it. */
  readonly taskRetentionMs: number;
  /** How long a file may stand still while it is copied, and how long the whole copy may take. */
  readonly copyIdleMs: number;
  readonly copyTotalMs: number;
};

export const defaultTaskSettings: TaskSettings = {
  deadlineMs: 60 * 60_000,
  giveUpMs: 24 * 3_600_000,
  fileBytesMax: 8 * 1024 ** 3,
  taskRetentionMs: 90 * 24 * 3_600_000,
  copyIdleMs: 60_000,
  copyTotalMs: 2 * 3_600_000,
};

/** Told of what happens, for metrics. */
type TaskObserver = {
  /** A task is asked after, so many milliseconds after it was due. */
  readonly onPolled?: (latenessMs: number) => void;
  /** A task is over: `completed`, or the code of its error. */
  readonly onEnded?: (task: VideoTask, end: string) => void;
};

/** What the lifecycle is built of. */
export type VideoTasksOptions = TaskObserver & {
  readonly store: TaskStore;
  readonly upstreams: VideoUpstreams;
  readonly storage: MediaStorage;
  readonly clock: Clock;
  readonly logger: Pick<Logger, 'info' | 'warn' | 'error'>;
  readonly newId: (prefix: string) => string;
  /** From 0 to 1. */
  readonly random: () => number;
  /** Seals requests and results, each under a name of its own. */
  readonly sealer: Sealer;
  readonly settings: () => TaskSettings;
  /** How long a finished file is kept whose request says nothing of it. */
  readonly retentionMs: (task: VideoTask) => number;
  /** Prices what a task used, by the prices that held when it was created. */
  readonly rate: (task: VideoTask, usage: Usage) => RatedVideo;
  /** Seals the address of a delivery. */
  readonly sealUrl: (url: string, deliveryId: string) => Uint8Array<ArrayBuffer>;
  /** Measures how long a stored video is, in milliseconds, for upstreams that do not say. */
  readonly measureMedia?: (media: StoredMedia, options: MeasureOptions) => Promise<number | undefined>;
  /** By default the timers of the process. */
  readonly wait?: Wait;
};

/** The same as the parts of the lifecycle use it. */
/** A charge, and the price book that it is by where that is another than the task was begun under. */
export type RatedVideo = { readonly charge: Charge; readonly priceVersion?: string };

export type TaskParts = VideoTasksOptions & {
  readonly wait: Wait;
  /** This process, among all that work on the same store. */
  readonly owner: string;
  /** Tells those who watch a task that it may have changed. */
  readonly announce: (id: string) => void;
};

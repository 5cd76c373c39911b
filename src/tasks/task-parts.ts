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

/** Waits `ms` milliseconds, or until the signal aborts. Never rejects. */
export type Wait = (ms: number, signal: AbortSignal) => Promise<void>;

/** Settings of the operator. A reload may change them at any time. */
export type TaskSettings = {
  /** The age at which a task raises an alert. It continues. */
  readonly deadlineMs: number;
  /** The age at which a task ends as `upstream_timeout`, and for how long its file is requested. */
  readonly giveUpMs: number;
  readonly fileBytesMax: number;
  /** How long an ended task is stored, and at least as long as its file. */
  readonly taskRetentionMs: number;
  /** How long a copy may stall, and how long it may take in total. */
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

/** Receives events for metrics. */
type TaskObserver = {
  /** A task is polled, with its delay. */
  readonly onPolled?: (latenessMs: number) => void;
  /** A task has ended: `completed`, or the code of its error. */
  readonly onEnded?: (task: VideoTask, end: string) => void;
};

/** Dependencies of the lifecycle. */
export type VideoTasksOptions = TaskObserver & {
  readonly store: TaskStore;
  readonly upstreams: VideoUpstreams;
  readonly storage: MediaStorage;
  readonly clock: Clock;
  readonly logger: Pick<Logger, 'info' | 'warn' | 'error'>;
  readonly newId: (prefix: string) => string;
  /** From 0 to 1. */
  readonly random: () => number;
  /** Seals requests and results, each under its own name. */
  readonly sealer: Sealer;
  readonly settings: () => TaskSettings;
  /** How long a finished file is stored if its request does not say. */
  readonly retentionMs: (task: VideoTask) => number;
  /** Rates the usage of a task, by the prices at its creation. */
  readonly rate: (task: VideoTask, usage: Usage) => RatedVideo;
  /** Seals the address of a delivery. */
  readonly sealUrl: (url: string, deliveryId: string) => Uint8Array<ArrayBuffer>;
  /** Measures a stored video in milliseconds, for upstreams that do not report the length. */
  readonly measureMedia?: (media: StoredMedia, options: MeasureOptions) => Promise<number | undefined>;
  /** Default: the timers of the process. */
  readonly wait?: Wait;
};

/** A charge, and its price book if it differs from that at the beginning of the task. */
export type RatedVideo = { readonly charge: Charge; readonly priceVersion?: string };

export type TaskParts = VideoTasksOptions & {
  readonly wait: Wait;
  /** The id of this process among all that use the same store. */
  readonly owner: string;
  /** Notifies watchers of a task that it may have changed. */
  readonly announce: (id: string) => void;
};

import { hash } from 'node:crypto';
import type { JsonRecord } from '../simulated-vendor.ts';
import type { VideoScript } from './video-script.ts';
import type { VideoShape } from './video-shape.ts';

/** The interface that a job was submitted by. */
type VideoInterface = 'xai-videos' | 'openai-videos' | 'video-generations' | 'gemini-videos' | 'vertex-videos';

/** The properties of a job from its submission on. */
export type VideoOrder = {
  readonly id: string;
  readonly interface: VideoInterface;
  readonly vendor: string;
  readonly model: string;
  /** As it was sent, including a directive. */
  readonly prompt: string;
  /** The lines about the inputs that are drawn into the video. */
  readonly inputs: readonly string[];
  readonly imageCount: number;
  readonly shape: VideoShape;
  /** The bucket of Google Cloud into which the video is written. Absent: the operation has it. */
  readonly bucket?: string;
  readonly idempotencyKey?: string;
  /** Of the body, to distinguish a repeated submission from another one under the same key. */
  readonly bodySha256: string;
  /** Members of the request that its answers repeat. */
  readonly echo?: JsonRecord;
  readonly credential: string;
  readonly submittedAtMs: number;
};

export type VideoJob = VideoOrder & {
  script: VideoScript;
  /** Submissions that were answered with this job: more than one only under one idempotency key. */
  submissions: number;
  polls: number;
  /** Polls with a credential other than the submission's. */
  pollsByOthers: number;
  /** How often the end was reported. */
  endsTold: number;
  /** Downloads that were begun, of a part or of the whole. */
  downloads: number;
  deleted: boolean;
};

/** The state of a job. */
export type VideoStanding =
  | { readonly phase: 'queued' | 'working'; readonly progress: number }
  | { readonly phase: 'done' | 'failed' | 'expired' | 'moderated'; readonly endedAtMs: number };

export type VideoJobs = {
  readonly add: (job: VideoJob) => void;
  readonly get: (id: string) => VideoJob | undefined;
  /** The job that a credential submitted under an idempotency key. */
  readonly findByKey: (from: VideoInterface, credential: string, key: string) => VideoJob | undefined;
  /** All retained jobs, deleted ones too, oldest first. */
  readonly list: () => readonly VideoJob[];
  readonly clear: () => void;
};

const jobsMax = 10_000;
const usualMs = 4000;
const usualLinkMs = 86_400_000;
/** The share of its time that a job waits in the queue. */
const queuedPart = 0.1;

/** Keeps the last 10,000 jobs. */
export function createVideoJobs(): VideoJobs {
  const jobs = new Map<string, VideoJob>();
  const byKey = new Map<string, string>();
  const nameKey = (from: VideoInterface, credential: string, key: string): string => `${from} ${credential} ${key}`;
  return {
    add(job) {
      jobs.set(job.id, job);
      if (job.idempotencyKey !== undefined) byKey.set(nameKey(job.interface, job.credential, job.idempotencyKey), job.id);
      const [oldest] = jobs.size > jobsMax ? jobs.values() : [];
      if (oldest === undefined) return;
      jobs.delete(oldest.id);
      if (oldest.idempotencyKey !== undefined) byKey.delete(nameKey(oldest.interface, oldest.credential, oldest.idempotencyKey));
    },
    get: (id) => jobs.get(id),
    findByKey: (from, credential, key) => jobs.get(byKey.get(nameKey(from, credential, key)) ?? ''),
    list: () => [...jobs.values()],
    clear() {
      jobs.clear();
      byKey.clear();
    },
  };
}

/** Makes a job of an order. It is not stored yet. */
export function createJob(order: VideoOrder, script: VideoScript): VideoJob {
  return { ...order, script, submissions: 1, polls: 0, pollsByOthers: 0, endsTold: 0, downloads: 0, deleted: false };
}

/** The state of a job at a time, by its script alone: no work runs in between. */
export function standingOf(job: VideoJob, nowMs: number): VideoStanding {
  const { ms = usualMs, end = 'done', turn, turnAfter = 1 } = job.script;
  const elapsed = Math.max(0, nowMs - job.submittedAtMs);
  if (end === 'never' || elapsed < ms) {
    const part = ms === 0 ? 1 : elapsed / ms;
    if (part < queuedPart) return { phase: 'queued', progress: 0 };
    return { phase: 'working', progress: Math.min(99, Math.max(1, Math.floor(part * 100))) };
  }
  return { phase: turn !== undefined && job.endsTold >= turnAfter ? turn : end, endedAtMs: job.submittedAtMs + ms };
}

/** When the result expires. */
export function linkEndsAtMs(job: VideoJob): number {
  return job.submittedAtMs + (job.script.ms ?? usualMs) + (job.script.linkMs ?? usualLinkMs);
}

/** Beginning of a credential's digest, which distinguishes credentials without naming them. */
export function digestOf(credential: string): string {
  return hash('sha256', credential).slice(0, 12);
}

/** A job as the control server shows it. */
export function describeJob(job: VideoJob, nowMs: number): JsonRecord {
  const { script, shape, echo: _echo, inputs, ...rest } = job;
  return { ...rest, inputs: [...inputs], script: { ...script }, shape: { ...shape }, standing: { ...standingOf(job, nowMs) } };
}

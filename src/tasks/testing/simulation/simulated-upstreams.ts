import assert from 'node:assert/strict';

import { ResultError, type TaskReport, type VideoUpstreams } from '../../video-upstreams.ts';

/** The life of a video at its upstream, and the upstream's wrong answers about it. */
export type UpstreamScript = {
  readonly queuedMs: number;
  readonly workMs: number;
  readonly end: 'completed' | 'failed' | 'moderated' | 'forgotten' | 'never';
  readonly durationMs: number | undefined;
  readonly tellsProgress: boolean;
  /** The share of wrong answers, from 0 to 1, until some time after its end. */
  readonly lies: number;
  readonly liesForMs: number;
  /** Whether the upstream takes the same submission only once. */
  readonly isIdempotent: boolean;
  /** How many times its file is unavailable: gone, truncated, empty, stalled, or another file. */
  readonly badFiles: number;
  /** Whether the vendor first reports a failure, and later a success. */
  readonly failsFirst: boolean;
};

export type Job = {
  readonly id: string;
  readonly callId: string;
  readonly script: UpstreamScript;
  readonly createdAtMs: number;
  badFiles: number;
};

const bytesPerVideo = 3000;
/** The beginning of files of the MP4 family. */
const videoHead = Buffer.from('\0\0\0\u0018ftypmp42', 'latin1');

/** Upstreams of simulations, which follow their scripts by the clock. */
export class SimulatedUpstreams implements VideoUpstreams {
  readonly jobs = new Map<string, Job>();
  readonly asks = new Map<string, number[]>();
  /** Tasks whose first final report was a failure. */
  readonly failedFirst = new Set<string>();
  readonly #nowMs: () => number;
  readonly #random: () => number;
  readonly #stories: ReadonlyMap<string, UpstreamScript>;

  constructor(parts: {
    readonly nowMs: () => number;
    readonly random: () => number;
    readonly stories: ReadonlyMap<string, UpstreamScript>;
  }) {
    this.#nowMs = parts.nowMs;
    this.#random = parts.random;
    this.#stories = parts.stories;
  }

  /** Accepts a submission. An upstream that is not idempotent makes a second job from a repetition. */
  submit(callId: string): { readonly upstreamTaskId: string; readonly reading: TaskReport } {
    const script = this.#stories.get(callId);
    assert.ok(script);
    const known = [...(this.#byCall.get(callId) ?? [])];
    const id = known.length === 0 || script.isIdempotent ? `job-${callId}` : `job-${callId}-${known.length}`;
    if (!this.jobs.has(id)) {
      this.jobs.set(id, { id, callId, script, createdAtMs: this.#nowMs(), badFiles: script.badFiles });
      this.#byCall.set(callId, [...known, id]);
    }
    return { upstreamTaskId: id, reading: { status: 'queued' } };
  }

  readonly #byCall = new Map<string, readonly string[]>();

  jobsOf(callId: string): readonly string[] {
    return this.#byCall.get(callId) ?? [];
  }

  ask: VideoUpstreams['ask'] = async (task, signal) => {
    const times = this.asks.get(task.id) ?? [];
    times.push(this.#nowMs());
    this.asks.set(task.id, times);
    const job = this.jobs.get(task.upstreamTaskId ?? '');
    if (job === undefined) return { status: 'missing' };
    const { script } = job;
    const ageMs = this.#nowMs() - job.createdAtMs;
    if (this.#random() < script.lies && ageMs < script.queuedMs + script.workMs + script.liesForMs) return await this.#lie(signal);
    return this.#truth(task.id, job, ageMs);
  };

  async #lie(signal: AbortSignal): Promise<TaskReport> {
    switch (Math.floor(this.#random() * 8)) {
      case 0:
        return { status: 'missing' };
      case 1:
        return { status: 'unclear', reason: 'a page of a balancer', isOurs: false };
      case 2:
        return { status: 'unclear', reason: 'the credentials were refused', isOurs: true };
      case 3:
        return { status: 'queued' };
      case 4:
        return { status: 'in_progress', progress: Math.floor(this.#random() * 150) - 20 };
      case 5:
        return { status: 'in_progress', progress: Number.NaN };
      case 6:
        throw new Error('an answer that no decoder was made for');
      default:
        return await new Promise((_, reject) => {
          signal.addEventListener('abort', () => reject(new Error('hung up')), { once: true });
        });
    }
  }

  #truth(taskId: string, { id, script }: Job, ageMs: number): TaskReport {
    const { queuedMs, workMs, end, durationMs, tellsProgress, failsFirst } = script;
    if (ageMs < queuedMs) return { status: 'queued' };
    if (ageMs < queuedMs + workMs || end === 'never') {
      const progress = Math.floor((100 * (ageMs - queuedMs)) / Math.max(1, workMs));
      return tellsProgress ? { status: 'in_progress', progress } : { status: 'in_progress' };
    }
    const length = durationMs === undefined ? {} : { durationMs };
    if (end === 'forgotten') return { status: 'missing' };
    if (end === 'failed' || failsFirst) {
      this.failedFirst.add(taskId);
      return { status: 'failed', error: { code: 'upstream_failed', message: 'It failed.' }, isBilled: false };
    }
    if (end === 'moderated') {
      return { status: 'failed', error: { code: 'content_moderated', message: 'Withheld.' }, isBilled: true, ...length };
    }
    return { status: 'completed', result: `file-of-${id}`, ...length, raw: { cost: 1 } };
  }

  submitAgain: VideoUpstreams['submitAgain'] = async (task, request) => {
    const script = this.#stories.get(task.callId);
    if (script?.isIdempotent !== true) return undefined;
    assert.ok(request.submission, 'a submission that is sent again is stored');
    const lot = this.#random();
    if (lot < 0.1) return 'unclear';
    const taken = this.submit(task.callId);
    if (lot < 0.2) return 'unclear';
    if (lot < 0.25) throw new Error('an answer that no decoder was made for');
    return taken;
  };

  openResult: VideoUpstreams['openResult'] = async (_task, result, signal) => {
    const job = this.jobs.get(result.replace('file-of-', ''));
    assert.ok(job, `an unknown result: ${result}`);
    if (job.badFiles > 0) {
      job.badFiles -= 1;
      return await this.#badFile(signal);
    }
    return { mediaType: 'video/mp4', bytes: bytesPerVideo, content: pieces(3) };
  };

  async #badFile(signal: AbortSignal) {
    switch (Math.floor(this.#random() * 6)) {
      case 0:
        throw new ResultError('404', { isGone: true });
      case 1:
        throw new ResultError('500', { isGone: false });
      case 2:
        return { mediaType: 'video/mp4', bytes: bytesPerVideo, content: pieces(2) };
      case 3:
        return { mediaType: 'video/mp4', bytes: undefined, content: pieces(0) };
      case 4:
        return { mediaType: 'text/html', bytes: 20, content: pieces(1) };
      default:
        return { mediaType: 'video/mp4', bytes: bytesPerVideo, content: standingStill(signal) };
    }
  }
}

async function* pieces(count: number): AsyncIterable<Uint8Array> {
  for (let index = 0; index < count; index++) {
    const piece = new Uint8Array(bytesPerVideo / 3);
    if (index === 0) piece.set(videoHead);
    yield piece;
  }
}

async function* standingStill(signal: AbortSignal): AsyncIterable<Uint8Array> {
  yield videoHead;
  await new Promise((_, reject) => signal.addEventListener('abort', () => reject(new Error('hung up')), { once: true }));
}

import assert from 'node:assert/strict';

import { ResultError, type TaskReading, type VideoUpstreams } from '../../video-upstreams.ts';

/** What becomes of a video at its upstream, and how the upstream lies about it on the way. */
export type Story = {
  readonly queuedMs: number;
  readonly workMs: number;
  readonly end: 'completed' | 'failed' | 'moderated' | 'forgotten' | 'never';
  readonly durationMs: number | undefined;
  readonly tellsProgress: boolean;
  /** How often an answer is one of the lies below, from 0 to 1, until so long after its end. */
  readonly lies: number;
  readonly liesForMs: number;
  /** Whether the upstream takes the same submission only once. */
  readonly isIdempotent: boolean;
  /** How many times its file is not to be had: gone, broken off, empty, standing still, another thing. */
  readonly badFiles: number;
  /** Whether the vendor says that it failed, although it goes on to say later that it is done. */
  readonly failsFirst: boolean;
};

export type Job = { readonly id: string; readonly callId: string; readonly story: Story; readonly createdAtMs: number; badFiles: number };

const bytesPerVideo = 3000;
/** How files of the MP4 family begin. */
const videoHead = Buffer.from('\0\0\0\u0018ftypmp42', 'latin1');

/** Upstreams of simulations: every story is lived through by the clock. */
export class SimulatedUpstreams implements VideoUpstreams {
  readonly jobs = new Map<string, Job>();
  readonly asks = new Map<string, number[]>();
  /** Tasks that were told of a failure before anything else that is final. */
  readonly failedFirst = new Set<string>();
  readonly #nowMs: () => number;
  readonly #random: () => number;
  readonly #stories: ReadonlyMap<string, Story>;

  constructor(parts: { readonly nowMs: () => number; readonly random: () => number; readonly stories: ReadonlyMap<string, Story> }) {
    this.#nowMs = parts.nowMs;
    this.#random = parts.random;
    this.#stories = parts.stories;
  }

  /** Takes a submission. One that takes the same twice makes a second job. */
  submit(callId: string): { readonly upstreamTaskId: string; readonly reading: TaskReading } {
    const story = this.#stories.get(callId);
    assert.ok(story);
    const known = [...(this.#byCall.get(callId) ?? [])];
    const id = known.length === 0 || story.isIdempotent ? `job-${callId}` : `job-${callId}-${known.length}`;
    if (!this.jobs.has(id)) {
      this.jobs.set(id, { id, callId, story, createdAtMs: this.#nowMs(), badFiles: story.badFiles });
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
    const { story } = job;
    const ageMs = this.#nowMs() - job.createdAtMs;
    if (this.#random() < story.lies && ageMs < story.queuedMs + story.workMs + story.liesForMs) return await this.#lie(signal);
    return this.#truth(task.id, job, ageMs);
  };

  async #lie(signal: AbortSignal): Promise<TaskReading> {
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

  #truth(taskId: string, { id, story }: Job, ageMs: number): TaskReading {
    const { queuedMs, workMs, end, durationMs, tellsProgress, failsFirst } = story;
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
    const story = this.#stories.get(task.callId);
    if (story?.isIdempotent !== true) return undefined;
    assert.ok(request.submission, 'a submission that is sent again is there to be sent');
    const lot = this.#random();
    if (lot < 0.1) return 'unclear';
    const taken = this.submit(task.callId);
    if (lot < 0.2) return 'unclear';
    if (lot < 0.25) throw new Error('an answer that no decoder was made for');
    return taken;
  };

  openResult: VideoUpstreams['openResult'] = async (_task, result, signal) => {
    const job = this.jobs.get(result.replace('file-of-', ''));
    assert.ok(job, `a result that nobody gave: ${result}`);
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

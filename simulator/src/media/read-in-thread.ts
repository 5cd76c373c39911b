import { Worker } from 'node:worker_threads';

import type { Transcript } from './audio-transcript.ts';
import type { MediaFacts, MediaOrder, MediaReport } from './media-thread.ts';
import type { VideoFacts } from './read-video.ts';

/** A file that takes longer is unusable. */
const timeoutMsUsual = 3000;
const startMsMax = 20_000;
const idleMs = 5000;
const threadsMax = 4;

type Thread = { readonly worker: Worker; isWarm: boolean; idle?: NodeJS.Timeout };

const idle: Thread[] = [];
const waiting: (() => void)[] = [];
let running = 0;

/** The transcript of a client's recording, as hearRecording returns it. */
export async function hearForeignRecording(bytes: Uint8Array, timeoutMs = timeoutMsUsual): Promise<Transcript | undefined> {
  return (await read({ wanted: 'transcript', bytes: new Uint8Array(bytes) }, timeoutMs)) as Transcript | undefined;
}

/** Length and size of a client's video, as readVideo returns them. */
export async function readForeignVideo(bytes: Uint8Array, timeoutMs = timeoutMsUsual): Promise<VideoFacts | undefined> {
  return (await read({ wanted: 'video', bytes: new Uint8Array(bytes) }, timeoutMs)) as VideoFacts | undefined;
}

async function read(order: MediaOrder, timeoutMs: number): Promise<MediaFacts> {
  if (running >= threadsMax) await new Promise<void>((resolve) => waiting.push(resolve));
  running += 1;
  try {
    return await ask(takeThread(), order, timeoutMs);
  } finally {
    running -= 1;
    waiting.shift()?.();
  }
}

function takeThread(): Thread {
  const kept = idle.pop();
  clearTimeout(kept?.idle);
  if (kept !== undefined) return kept;
  // Messages of a reader about untrusted files are useless, and a client could cause any amount of them.
  const quiet = { stdout: true, stderr: true };
  const worker = new Worker(new URL('./media-thread.ts', import.meta.url), { execArgv: [], name: 'simulated-media', ...quiet });
  worker.stdout.resume();
  worker.stderr.resume();
  // A terminated thread may still fail; its error is ignored.
  worker.on('error', () => {});
  return { worker, isWarm: false };
}

/** Undefined if the reader fails or does not end in time: its thread is then terminated. */
function ask(thread: Thread, order: MediaOrder, timeoutMs: number): Promise<MediaFacts> {
  const { worker } = thread;
  const { promise, resolve } = Promise.withResolvers<MediaFacts>();
  const giveUp = (): void => end(undefined, false);
  let timer = setTimeout(giveUp, thread.isWarm ? timeoutMs : startMsMax);
  const hear = (report: MediaReport): void => {
    if (report !== 'ready') return end(report.facts, true);
    clearTimeout(timer);
    timer = setTimeout(giveUp, timeoutMs);
  };
  const end = (facts: MediaFacts, isUsable: boolean): void => {
    clearTimeout(timer);
    worker.off('message', hear).off('error', giveUp).off('exit', giveUp);
    worker.unref();
    resolve(facts);
    if (isUsable) keep(thread);
    else void worker.terminate();
  };
  worker.ref();
  worker.on('message', hear).on('error', giveUp).on('exit', giveUp);
  worker.postMessage(order, [order.bytes.buffer]);
  return promise;
}

function keep(thread: Thread): void {
  thread.isWarm = true;
  thread.idle = setTimeout(() => {
    idle.splice(idle.indexOf(thread), 1);
    void thread.worker.terminate();
  }, idleMs).unref();
  idle.push(thread);
}

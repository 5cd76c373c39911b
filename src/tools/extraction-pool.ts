import { Worker } from 'node:worker_threads';

import type { ExtractedPage, RawPage } from './extract-page.ts';
import type { ExtractionMessage } from './extraction-worker.ts';

/** Reads pages in threads: what a stranger wrote cannot stop the gateway. */
export type ExtractionPool = {
  /**
   * Reads one page. Undefined for what cannot be read: no text, a page that took too long or too much memory and of which there is no quick reading.
   * Rejects with the signal's reason, or where too many wait.
   */
  readonly extract: (page: RawPage, signal: AbortSignal) => Promise<ExtractedPage | undefined>;
  readonly close: () => Promise<void>;
};

export type ExtractionPoolOptions = {
  readonly threadsMax: number;
  /** For one page, from when it is begun. Beginning the thread is not counted. */
  readonly pageTimeoutMs: number;
  readonly waitingMax: number;
  readonly heapMegabytesMax: number;
};

const defaults: ExtractionPoolOptions = { threadsMax: 2, pageTimeoutMs: 3000, waitingMax: 64, heapMegabytesMax: 256 };

/** A thread may take so long to begin, on a machine that has much else to do. */
const startTimeoutMs = 20_000;

/** A thread of no use for so long is ended. */
const idleMs = 30_000;

type Job = {
  readonly page: RawPage;
  readonly done: (page: ExtractedPage | undefined) => void;
  readonly failed: (reason: unknown) => void;
  draft: ExtractedPage | undefined;
};

type Thread = { readonly worker: Worker; isReady: boolean; job: Job | undefined; timer: NodeJS.Timeout | undefined };

/** Starts no thread before there is a page. The threads keep no process alive. */
export function createExtractionPool(options: Partial<ExtractionPoolOptions> = {}): ExtractionPool {
  const settings = { ...defaults, ...options };
  const threads = new Set<Thread>();
  const waiting: Job[] = [];

  const end = (thread: Thread): Promise<number> => {
    threads.delete(thread);
    settle(thread, ({ done, draft }) => done(draft));
    return thread.worker.terminate();
  };
  const replace = (thread: Thread): void => {
    void end(thread);
    next();
  };
  const limit = (thread: Thread): void => {
    clearTimeout(thread.timer);
    thread.timer = setTimeout(() => replace(thread), thread.isReady ? settings.pageTimeoutMs : startTimeoutMs);
  };
  const start = (): Thread => {
    const thread: Thread = { worker: openWorker(settings.heapMegabytesMax), isReady: false, job: undefined, timer: undefined };
    threads.add(thread);
    thread.worker.on('message', (message: ExtractionMessage) => {
      hear(thread, message);
      if (message.type === 'ready' && thread.job !== undefined) limit(thread);
      if (message.type !== 'read' && message.type !== 'failed') return;
      thread.timer = setTimeout(() => void end(thread), idleMs).unref();
      next();
    });
    // Out of memory, for example. What the page was, its quick reading says.
    thread.worker.on('error', () => replace(thread));
    return thread;
  };
  const next = (): void => {
    const idle = [...threads].find(({ job }) => job === undefined);
    if (waiting.length === 0 || (idle === undefined && threads.size >= settings.threadsMax)) return;
    const thread = idle ?? start();
    thread.job = waiting.shift();
    limit(thread);
    thread.worker.postMessage(thread.job?.page);
  };
  return {
    extract: (page, signal) => enqueue(page, signal, { waiting, threads, waitingMax: settings.waitingMax, next, end }),
    close: async () => {
      for (const { done } of waiting.splice(0)) done(undefined);
      await Promise.all([...threads].map(end));
    },
  };
}

/** Takes the page from a thread, and says what became of it. */
function settle(thread: Thread, finish: (job: Job) => void): void {
  clearTimeout(thread.timer);
  const { job } = thread;
  thread.job = undefined;
  if (job !== undefined) finish(job);
}

function hear(thread: Thread, message: ExtractionMessage): void {
  if (message.type === 'ready') thread.isReady = true;
  else if (message.type === 'draft') {
    if (thread.job !== undefined) thread.job.draft = message.page;
  } else settle(thread, ({ done, draft }) => done(message.type === 'read' ? message.page : draft));
}

function openWorker(heapMegabytesMax: number): Worker {
  const worker = new Worker(new URL('./extraction-worker.ts', import.meta.url), {
    env: {},
    execArgv: [],
    name: 'page-reader',
    resourceLimits: { maxOldGenerationSizeMb: heapMegabytesMax, maxYoungGenerationSizeMb: 32, stackSizeMb: 4 },
    // What libraries say of strange pages is nobody's business.
    stdout: true,
    stderr: true,
  });
  worker.stdout.resume();
  worker.stderr.resume();
  worker.unref();
  return worker;
}

async function enqueue(
  page: RawPage,
  signal: AbortSignal,
  queue: {
    readonly waiting: Job[];
    readonly threads: ReadonlySet<Thread>;
    readonly waitingMax: number;
    readonly next: () => void;
    readonly end: (thread: Thread) => Promise<number>;
  },
): Promise<ExtractedPage | undefined> {
  signal.throwIfAborted();
  if (queue.waiting.length >= queue.waitingMax) throw new Error('too many pages wait to be read');
  const { promise, resolve, reject } = Promise.withResolvers<ExtractedPage | undefined>();
  const job: Job = { page, done: resolve, failed: reject, draft: undefined };
  const giveUp = (): void => {
    reject(signal.reason);
    const place = queue.waiting.indexOf(job);
    if (place >= 0) queue.waiting.splice(place, 1);
    const busy = [...queue.threads].find((thread) => thread.job === job);
    if (busy !== undefined) void queue.end(busy).then(queue.next, queue.next);
  };
  signal.addEventListener('abort', giveUp, { once: true });
  queue.waiting.push(job);
  queue.next();
  return await promise.finally(() => signal.removeEventListener('abort', giveUp));
}

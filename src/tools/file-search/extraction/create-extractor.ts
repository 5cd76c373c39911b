import { Worker } from 'node:worker_threads';

import type { ExtractionReply, ExtractionRequest } from './extraction-protocol.ts';

export type Extractor = {
  /** Reads a file and cuts its text. What goes wrong is in the reply; only closing rejects. The bytes are handed over. */
  readonly extract: (request: ExtractionRequest) => Promise<ExtractionReply>;
  readonly close: () => Promise<void>;
};

export type ExtractionLimits = {
  /** How long one file may take. */
  readonly timeoutMs: number;
  /** Memory of the thread for objects, and again for buffers. */
  readonly memoryMegabytes: number;
  /** How long the thread is kept without work. */
  readonly idleMs: number;
};

const defaultExtractionLimits: ExtractionLimits = { timeoutMs: 60_000, memoryMegabytes: 512, idleMs: 10_000 };

/** How often the memory of buffers is looked at, which the limits of a thread do not cover. */
const watchMs = 50;
const megabyte = 1024 * 1024;

type Running = { readonly worker: Worker; idle: NodeJS.Timeout | undefined };

/** Reads files one at a time in a thread that is ended when one takes too long or too much, and kept for the next otherwise. */
export function createExtractor(limits: ExtractionLimits = defaultExtractionLimits): Extractor {
  let kept: Running | undefined;
  let isClosed = false;
  let last: Promise<unknown> = Promise.resolve();

  const end = async (): Promise<void> => {
    const ending = kept;
    kept = undefined;
    clearTimeout(ending?.idle);
    await ending?.worker.terminate();
  };
  const run = async (request: ExtractionRequest): Promise<ExtractionReply> => {
    if (isClosed) throw new Error('The extractor is closed.');
    kept ??= { worker: startWorker(limits), idle: undefined };
    const { worker } = kept;
    clearTimeout(kept.idle);
    worker.ref();
    const { reply, isUsable } = await ask(worker, request, limits);
    // What is closed has been interrupted: that says nothing about the file.
    if (isClosed) throw new Error('The extractor was closed.');
    worker.unref();
    if (isUsable && kept !== undefined) kept.idle = setTimeout(() => void end(), limits.idleMs).unref();
    else await end();
    return reply;
  };
  return {
    extract: (request) => {
      const next = last.then(() => run(request));
      last = next.catch(() => {
        // Told to whoever asked; the next file is another matter.
      });
      return next;
    },
    close: async () => {
      isClosed = true;
      await end();
    },
  };
}

function startWorker({ memoryMegabytes }: ExtractionLimits): Worker {
  const worker = new Worker(new URL('./extraction-worker.ts', import.meta.url), {
    env: {},
    execArgv: [],
    name: 'extraction',
    resourceLimits: { maxOldGenerationSizeMb: memoryMegabytes, maxYoungGenerationSizeMb: 64, stackSizeMb: 4 },
    // Readers of documents write warnings about what they read.
    stdout: true,
    stderr: true,
  });
  // A thread that is ended may still fail; nobody has to hear of it.
  worker.on('error', () => {});
  return worker;
}

type Asked = { readonly reply: ExtractionReply; readonly isUsable: boolean };

function ask(worker: Worker, request: ExtractionRequest, limits: ExtractionLimits): Promise<Asked> {
  const { promise, resolve } = Promise.withResolvers<Asked>();
  const fail = (message: string): void => resolve({ reply: { error: { code: 'invalid_file', message } }, isUsable: false });
  const onMessage = (reply: ExtractionReply): void => resolve({ reply, isUsable: true });
  const onEnd = (): void => fail('Reading the file took more memory than it may.');
  const timer = setTimeout(() => fail(`Reading the file took longer than ${limits.timeoutMs} ms.`), limits.timeoutMs);
  const watch = setInterval(() => {
    worker.getHeapStatistics().then(
      ({ external_memory: bytes }) => {
        if (bytes > limits.memoryMegabytes * megabyte) onEnd();
      },
      () => {
        // The thread is gone, which its own events tell.
      },
    );
  }, watchMs);
  worker.on('message', onMessage);
  worker.on('error', onEnd);
  worker.on('exit', onEnd);
  worker.postMessage(request, [request.bytes.buffer]);
  return promise.finally(() => {
    clearTimeout(timer);
    clearInterval(watch);
    worker.off('message', onMessage).off('exit', onEnd).off('error', onEnd);
  });
}

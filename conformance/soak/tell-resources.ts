import { renameSync, writeFileSync } from 'node:fs';
import { queryObjects, setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { isMainThread, type Worker } from 'node:worker_threads';

/**
 * Loaded before a program, with the path of a file as its query: at SIGUSR2 its first thread collects its garbage,
 * and writes what is left to the file.
 */
export type ToldResources = {
  /** Bytes of the heap of the first thread. */
  readonly heap: number;
  /** Bytes of the heaps of all other threads, with their garbage. */
  readonly threadHeaps: number;
  /** Bytes outside the heap of the first thread: `external` includes `arrayBuffers`. */
  readonly external: number;
  readonly arrayBuffers: number;
  /** Objects of timers, also of those that let the program end. */
  readonly timers: number;
  /** What keeps the event loop of the first thread alive, by its kind: timers, sockets, servers. */
  readonly active: Readonly<Record<string, number>>;
};

const answerWithinMs = 2000;
const file = decodeURIComponent(new URL(import.meta.url).search.slice(1));
setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as () => void;
const timer = setTimeout(() => {}, 0);
const threads = new Set<Worker>();

if (isMainThread) {
  process.on('worker', (worker) => {
    threads.add(worker);
    worker.once('exit', () => threads.delete(worker));
  });
  process.on('SIGUSR2', () => void write());
}

/** A thread that ends meanwhile holds nothing, and may leave the question without an answer. */
async function heapOf(thread: Worker): Promise<number> {
  const { promise: limit, resolve } = Promise.withResolvers<number>();
  const timer = setTimeout(() => resolve(0), answerWithinMs);
  const heap = thread.getHeapStatistics().then(
    ({ used_heap_size: bytes }) => bytes,
    () => 0,
  );
  const bytes = await Promise.race([heap, limit]);
  clearTimeout(timer);
  return bytes;
}

async function write(): Promise<void> {
  const heaps = await Promise.all([...threads].map(heapOf));
  // Each collection is a turn of its own, so that the watchdog of a program on a busy machine does not end it.
  for (let times = 0; times < 3; times += 1) {
    collect();
    await new Promise((resolve) => setImmediate(resolve));
  }
  const { heapUsed, external, arrayBuffers } = process.memoryUsage();
  const active: Record<string, number> = {};
  for (const kind of process.getActiveResourcesInfo()) active[kind] = (active[kind] ?? 0) + 1;
  const resources: ToldResources = {
    heap: heapUsed,
    threadHeaps: heaps.reduce((sum, heap) => sum + heap, 0),
    external,
    arrayBuffers,
    timers: queryObjects(timer.constructor, { format: 'count' }),
    active,
  };
  writeFileSync(`${file}.new`, JSON.stringify(resources));
  renameSync(`${file}.new`, file);
}

import { renameSync, writeFileSync } from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { queryObjects, setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import threads, { BroadcastChannel, isMainThread, threadName, type WorkerOptions } from 'node:worker_threads';

/**
 * Loaded before a program, with the path of a file as its query: at SIGUSR2 every thread of the program collects its
 * garbage, and the program writes what is left to the file.
 */
export type ToldResources = {
  /** Bytes of the heap of the first thread. */
  readonly heap: number;
  /** Bytes of the heaps of the other threads, by their names. A thread that is busy for seconds is not in it. */
  readonly threadHeaps: Readonly<Record<string, number>>;
  /** Bytes outside the heap of the first thread: `external` includes `arrayBuffers`. */
  readonly external: number;
  readonly arrayBuffers: number;
  /** Objects of timers, also of those that let the program end. */
  readonly timers: number;
  /** What keeps the event loop of the first thread alive, by its kind: timers, sockets, servers. */
  readonly active: Readonly<Record<string, number>>;
};

type Told = { readonly name: string; readonly heap: number };

const answerWithinMs = 2000;
/**
 * A collection blocks the event loop. Then all periodic work is due in one turn and asks the store, each with limits of
 * time. Those timers end with the answers.
 */
const settleMs = 1000;
const file = decodeURIComponent(new URL(import.meta.url).search.slice(1));
setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as () => void;
const timer = setTimeout(() => {}, 0);
const [questions, answers] = [new BroadcastChannel('soak-questions'), new BroadcastChannel('soak-answers')];

if (isMainThread) {
  watchThreads();
  let told: Told[] = [];
  // The type of its messages is not known.
  answers.onmessage = ({ data }: { data: unknown }) => void told.push(data as Told);
  process.on('SIGUSR2', () => {
    told = [];
    questions.postMessage('tell');
    setTimeout(() => void write(told), answerWithinMs);
  });
} else {
  const answer = async (): Promise<void> => {
    const { heapUsed } = await measureHeap();
    answers.postMessage({ name: threadName ?? '', heap: heapUsed } satisfies Told);
  };
  questions.onmessage = () => void answer();
}
// A thread or program that has nothing else to do may end. The types of the runtime lack the member.
for (const channel of [questions, answers] as unknown as readonly { readonly unref: () => void }[]) channel.unref();

/** Loads this module into all later threads too, which programs start without preloaded modules. */
function watchThreads(): void {
  const Plain = threads.Worker;
  threads.Worker = class extends Plain {
    constructor(source: string | URL, options: WorkerOptions = {}) {
      super(source, { ...options, execArgv: [...(options.execArgv ?? process.execArgv), '--import', import.meta.url] });
    }
  };
  syncBuiltinESMExports();
}

async function measureHeap(): Promise<NodeJS.MemoryUsage> {
  // Each collection is a turn of its own, so that the watchdog of a program on a busy machine does not end it.
  for (let times = 0; times < 3; times += 1) {
    collect();
    await new Promise((resolve) => setImmediate(resolve));
  }
  return process.memoryUsage();
}

async function write(told: readonly Told[]): Promise<void> {
  const { heapUsed, external, arrayBuffers } = await measureHeap();
  const threadHeaps: Record<string, number> = {};
  for (const { name, heap } of told) threadHeaps[name] = (threadHeaps[name] ?? 0) + heap;
  await new Promise((resolve) => setTimeout(resolve, settleMs));
  const active: Record<string, number> = {};
  for (const kind of process.getActiveResourcesInfo()) active[kind] = (active[kind] ?? 0) + 1;
  const resources: ToldResources = {
    heap: heapUsed,
    threadHeaps,
    external,
    arrayBuffers,
    timers: queryObjects(timer.constructor, { format: 'count' }),
    active,
  };
  writeFileSync(`${file}.new`, JSON.stringify(resources));
  renameSync(`${file}.new`, file);
}

import { readFileSync } from 'node:fs';
import { url as inspectorUrl } from 'node:inspector';
import { Worker } from 'node:worker_threads';

import { threadEnvironment } from '../thread-environment.ts';

/** How the watchdog and the event loop share what they know: see `watchdog-thread.ts`. */
export type WatchdogOrder = {
  readonly shared: SharedArrayBuffer;
  readonly limitMs: number;
  readonly tickMs: number;
  /** Where each end of a process is recorded; absent where nothing is. */
  readonly recordPath: string | undefined;
  /** Nothing is written to standard error. */
  readonly isSilent: boolean;
};

/** Places of 32-bit numbers in the shared memory. */
export const watchdogPlaces = { beats: 0, silentMs: 1, longestSilentMs: 2 } as const;

export type WatchdogFigures = {
  /** For how long the event loop has not turned now, and at most since the start. */
  readonly silentMs: number;
  readonly longestSilentMs: number;
  /** Processes of this data directory that were ended for it. */
  readonly restarts: number;
};

export type LoopWatchdog = { readonly figures: () => WatchdogFigures; readonly stop: () => Promise<void> };

export type LoopWatchdogOptions = {
  /** For how long the event loop may stand still; 0 switches the watchdog off. */
  readonly limitMs: number;
  readonly recordPath?: string;
  readonly isSilent?: boolean;
};

/** The event loop says as often that it turns. */
const tickMsMax = 250;
/** What the thread needs is little; more means that something is wrong with it. */
const memoryMegabytes = 32;

let running: LoopWatchdog | undefined;

/** What the watchdog of this process knows; undefined where none runs. */
export function readWatchdogFigures(): WatchdogFigures | undefined {
  return running?.figures();
}

/**
 * Starts the watchdog of this process: a thread that ends it (SIGKILL, which the journal survives) when the event loop has not turned for `limitMs`, after it has written to
 * the log where the loop stood. A process that was stopped or a machine that slept does not count: then the thread stood still too. With a debugger attached
 * there is none, because then a loop stands still for other reasons.
 */
export function startLoopWatchdog(options: LoopWatchdogOptions): LoopWatchdog | undefined {
  const { limitMs, recordPath, isSilent = false } = options;
  if (limitMs <= 0 || inspectorUrl() !== undefined || running !== undefined) return running;
  const shared = new SharedArrayBuffer(12);
  const places = new Int32Array(shared);
  const tickMs = Math.max(1, Math.min(tickMsMax, Math.floor(limitMs / 8)));
  const order: WatchdogOrder = { shared, limitMs, tickMs, recordPath, isSilent };
  const worker = new Worker(new URL('./watchdog-thread.ts', import.meta.url), {
    workerData: order,
    env: threadEnvironment(),
    execArgv: [],
    name: 'watchdog',
    resourceLimits: { maxOldGenerationSizeMb: memoryMegabytes, maxYoungGenerationSizeMb: 4, stackSizeMb: 1 },
  });
  worker.unref();
  // Without it the process is what it was before there was one.
  worker.on('error', () => {});
  const beating = setInterval(() => void Atomics.add(places, watchdogPlaces.beats, 1), tickMs).unref();
  const restarts = countRecords(recordPath);
  const watchdog: LoopWatchdog = {
    figures: () => ({
      silentMs: Atomics.load(places, watchdogPlaces.silentMs),
      longestSilentMs: Atomics.load(places, watchdogPlaces.longestSilentMs),
      restarts,
    }),
    stop: async () => {
      clearInterval(beating);
      if (running === watchdog) running = undefined;
      await worker.terminate();
    },
  };
  running = watchdog;
  return watchdog;
}

function countRecords(recordPath: string | undefined): number {
  if (recordPath === undefined) return 0;
  try {
    return readFileSync(recordPath, 'utf8')
      .split('\n')
      .filter((line) => line !== '').length;
  } catch {
    // There was none, which is how it should be.
    return 0;
  }
}

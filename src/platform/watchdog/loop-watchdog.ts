import { readFileSync } from 'node:fs';
import { url as inspectorUrl } from 'node:inspector';
import { Worker } from 'node:worker_threads';

import { threadEnvironment } from '../thread-environment.ts';

/** What the watchdog's thread receives at its start: see `watchdog-thread.ts`. */
export type WatchdogOrder = {
  readonly shared: SharedArrayBuffer;
  readonly limitMs: number;
  readonly tickMs: number;
  /** The file that records each termination; undefined: none. */
  readonly recordPath: string | undefined;
  /** Whether nothing is written to standard error. */
  readonly isSilent: boolean;
};

/** Positions of 32-bit numbers in the shared memory. */
export const watchdogPlaces = { beats: 0, silentMs: 1, longestSilentMs: 2 } as const;

export type WatchdogFigures = {
  /** How long the event loop has been blocked now, and the longest time since the start. */
  readonly silentMs: number;
  readonly longestSilentMs: number;
  /** Processes of this data directory that the watchdog has terminated. */
  readonly restarts: number;
};

export type LoopWatchdog = { readonly figures: () => WatchdogFigures; readonly stop: () => Promise<void> };

export type LoopWatchdogOptions = {
  /** How long the event loop may be blocked; 0 disables the watchdog. */
  readonly limitMs: number;
  readonly recordPath?: string;
  readonly isSilent?: boolean;
};

/** The longest time between two heartbeats of the event loop. */
const tickMsMax = 250;
/** The thread needs little memory; more means that it has a bug. */
const memoryMegabytes = 32;

let running: LoopWatchdog | undefined;

/** The figures of this process's watchdog; undefined if none runs. */
export function readWatchdogFigures(): WatchdogFigures | undefined {
  return running?.figures();
}

/**
 * Starts the watchdog of this process: a thread that terminates the process when the event loop was blocked for
 * `limitMs`. It uses SIGKILL, which the journal survives, and first logs the position of the loop. A stopped process or
 * a sleeping machine does not count, because the thread is stopped too. With a debugger attached no watchdog starts,
 * because breakpoints block the loop.
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
  // The process also works without the watchdog.
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
    // No process was terminated, the normal case.
    return 0;
  }
}

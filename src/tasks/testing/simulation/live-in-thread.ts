import { isMainThread, parentPort, workerData } from 'node:worker_threads';

import { cutAnywhere } from './cut-anywhere.ts';
import { liveThrough } from './live-through.ts';
import type { CrashPoint } from './simulated-process.ts';

/** Simulations to run: worlds of `count` tasks each, or one task with a failure at each of its calls. */
export type SimulationRuns = { readonly seeds: readonly number[]; readonly count: number } | { readonly crashPoint: CrashPoint };

// Runs in its own thread, because the test runner tracks every promise of its thread, and a simulation has hundreds per
// task.
if (!isMainThread) {
  const runs = workerData as SimulationRuns;
  if ('crashPoint' in runs) {
    for (const isIdempotent of [true, false])
      parentPort?.postMessage(new Map([['points', await cutAnywhere(runs.crashPoint, isIdempotent)]]));
  } else for (const seed of runs.seeds) parentPort?.postMessage(await liveThrough(seed, runs.count));
}

import { isMainThread, parentPort, workerData } from 'node:worker_threads';

import { cutAnywhere } from './cut-anywhere.ts';
import { liveThrough } from './live-through.ts';
import type { Mishap } from './simulated-process.ts';

/** What is lived through: worlds of so many tasks each, or one task that meets a mishap at each of its calls. */
export type Lives = { readonly seeds: readonly number[]; readonly count: number } | { readonly mishap: Mishap };

// In a thread of its own, because a test runner follows every promise of its thread, and a simulation has hundreds of them for each task.
if (!isMainThread) {
  const lives = workerData as Lives;
  if ('mishap' in lives) {
    for (const isIdempotent of [true, false]) parentPort?.postMessage(new Map([['points', await cutAnywhere(lives.mishap, isIdempotent)]]));
  } else for (const seed of lives.seeds) parentPort?.postMessage(await liveThrough(seed, lives.count));
}

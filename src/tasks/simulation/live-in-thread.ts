import { isMainThread, parentPort, workerData } from 'node:worker_threads';

import { liveThrough } from './live-through.ts';

/** Worlds to live through, and the tasks of each. */
export type LivedWorlds = { readonly seeds: readonly number[]; readonly count: number };

// In a thread of its own, because a test runner follows every promise of its thread, and a simulation has hundreds of them for each task.
if (!isMainThread) {
  const { seeds, count } = workerData as LivedWorlds;
  for (const seed of seeds) parentPort?.postMessage(await liveThrough(seed, count));
}

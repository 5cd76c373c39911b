import { once } from 'node:events';
import type { TestContext } from 'node:test';
import { Worker } from 'node:worker_threads';

import type { SimulatedWorlds } from '../../src/billing/testing/simulation/simulate-worlds.ts';

/** Worlds on the real store, with videos. */
export const storeProgram = new URL('./simulation/live-in-thread.ts', import.meta.url);

/** Runs worlds in a thread of their own. Resolves with their events; an error in the thread rejects. */
export async function liveThrough(
  program: URL,
  workerData: SimulatedWorlds,
  context: TestContext,
): Promise<Readonly<Record<string, number>>> {
  const thread = new Worker(program, { workerData });
  try {
    const [counts] = (await once(thread, 'message')) as readonly Readonly<Record<string, number>>[];
    context.diagnostic(JSON.stringify(counts));
    return counts ?? {};
  } finally {
    await thread.terminate();
  }
}

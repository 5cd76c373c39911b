import { once } from 'node:events';
import type { TestContext } from 'node:test';
import { Worker } from 'node:worker_threads';

import type { SimulatedWorlds } from '../../src/billing/testing/simulation/simulate-worlds.ts';

/** SimulatedWorlds on the product's own store, with videos. */
export const storeProgram = new URL('./simulation/live-in-thread.ts', import.meta.url);

/** Lives through worlds in a thread of their own. Resolves with what happened in them; what goes wrong in the thread is its error, which rejects. */
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

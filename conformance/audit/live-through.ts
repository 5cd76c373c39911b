import { once } from 'node:events';
import type { TestContext } from 'node:test';
import { Worker } from 'node:worker_threads';

import type { Worlds } from '../../src/billing/testing/simulation/thread-of-worlds.ts';

/** Worlds on the product's own store, with videos. */
export const storeProgram = new URL('./simulation/live-in-thread.ts', import.meta.url);

/** Lives through worlds in a thread of their own. Resolves with what happened in them; what goes wrong in the thread is its error, which rejects. */
export async function liveThrough(program: URL, workerData: Worlds, context: TestContext): Promise<Readonly<Record<string, number>>> {
  const thread = new Worker(program, { workerData });
  try {
    const [counts] = (await once(thread, 'message')) as readonly Readonly<Record<string, number>>[];
    context.diagnostic(JSON.stringify(counts));
    return counts ?? {};
  } finally {
    await thread.terminate();
  }
}

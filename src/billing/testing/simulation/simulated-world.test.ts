import { once } from 'node:events';
import { test } from 'node:test';
import { Worker } from 'node:worker_threads';

import type { SimulatedWorlds } from './simulate-worlds.ts';

/** The short form of conformance/audit/simulation.deep.test.ts, which simulates many more calls. */
test('kills, power losses, outages and clock jumps leave the books exact', { timeout: 170_000 }, async (context) => {
  const workerData: SimulatedWorlds = { seeds: [20_261_122], calls: 20_000 };
  const thread = new Worker(new URL('./live-in-thread.ts', import.meta.url), { workerData });
  try {
    // An error in the thread rejects here.
    const [counts] = (await once(thread, 'message')) as readonly unknown[];
    context.diagnostic(JSON.stringify(counts));
  } finally {
    await thread.terminate();
  }
});

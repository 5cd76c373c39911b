import { once } from 'node:events';
import { describe, test } from 'node:test';
import { Worker } from 'node:worker_threads';

import type { Worlds } from '../../src/billing/simulation/live-in-thread.ts';

const firstSeed = Number(process.env['WEIR_SIMULATION_SEED'] ?? 20_261_122);
const worlds = Number(process.env['WEIR_SIMULATION_WORLDS'] ?? 20);
const calls = Number(process.env['WEIR_SIMULATION_CALLS'] ?? 50_000);
const worldsPerThread = 5;
/** Far more than the worlds of a thread need: the machine may be busy. */
const timeoutMs = 400_000;
const program = new URL('../../src/billing/simulation/live-in-thread.ts', import.meta.url);

describe(`M1 M2 M3 M4 M5 M6 M7 M9 M13 M15 M16: ${worlds * calls} simulated calls over journals, shippers, credit desks and one store`, () => {
  const seeds = Array.from({ length: worlds }, (_, world) => firstSeed + world);
  for (let from = 0; from < worlds; from += worldsPerThread) {
    const workerData: Worlds = { seeds: seeds.slice(from, from + worldsPerThread), calls };
    test(
      `kills, power losses, outages and clock jumps leave the books exact (seeds ${workerData.seeds.join(', ')})`,
      {
        timeout: timeoutMs,
      },
      async (context) => {
        const thread = new Worker(program, { workerData });
        try {
          // What goes wrong in the thread is its error, which rejects.
          const [counts] = (await once(thread, 'message')) as readonly unknown[];
          context.diagnostic(JSON.stringify(counts));
        } finally {
          await thread.terminate();
        }
      },
    );
  }
});

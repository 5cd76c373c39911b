import assert from 'node:assert/strict';
import { describe, test } from 'node:test';

import type { SimulatedWorlds } from '../../src/billing/testing/simulation/simulate-worlds.ts';
import { usualOrLong } from '../support/scale.ts';
import { liveThrough, storeProgram } from './live-through.ts';

const firstSeed = Number(process.env['WEIR_SIMULATION_SEED'] ?? 20_261_122);
const worlds = Number(process.env['WEIR_SIMULATION_WORLDS'] ?? usualOrLong(4, 20));
const calls = Number(process.env['WEIR_SIMULATION_CALLS'] ?? 49_000);
/** A world on the real store costs several times as much per call. */
const storeWorlds = Math.min(worlds, 4);
const storeCalls = Number(process.env['WEIR_SIMULATION_STORE_CALLS'] ?? 5000);
const worldsPerThread = Math.ceil(worlds / 4);
/** Far more than the worlds of a thread need, because the machine may be busy. */
const timeoutMs = 400_000;
const modelProgram = new URL('../../src/billing/testing/simulation/live-in-thread.ts', import.meta.url);
const seeds = Array.from({ length: worlds }, (_, world) => firstSeed + world);

describe(`M1 M2 M3 M4 M5 M6 M7 M9 M13 M15 M16: ${worlds * calls} simulated calls over journals, shippers, credit desks and one store`, () => {
  for (let from = 0; from < worlds; from += worldsPerThread) {
    const workerData: SimulatedWorlds = { seeds: seeds.slice(from, from + worldsPerThread), calls };
    test(
      `kills, power losses, outages and clock jumps leave the books exact (seeds ${workerData.seeds.join(', ')})`,
      { timeout: timeoutMs },
      async (context) => void (await liveThrough(modelProgram, workerData, context)),
    );
  }
});

describe(`M1 M2 M4 M5 M6 M7 M15: ${storeWorlds * storeCalls} simulated calls, and videos, on the real store`, () => {
  const workerData: SimulatedWorlds = { seeds: seeds.slice(0, storeWorlds), calls: storeCalls };
  test(
    `a video's hold outlives its processes and is settled once with its task, late or never; late usage counts for the hour of its acceptance (seeds ${workerData.seeds.join(', ')})`,
    { timeout: timeoutMs },
    async (context) => {
      const counts = await liveThrough(storeProgram, workerData, context);
      for (const name of ['videosCompleted', 'videosVoided', 'videosWithheld', 'videosRefused', 'rowsLate'])
        // A single world that reproduces a failure need not have every event.
        assert.ok(storeWorlds < 4 || (counts[name] ?? 0) > 0, `${name}: ${counts[name]}`);
    },
  );
});

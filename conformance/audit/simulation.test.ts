import assert from 'node:assert/strict';
import { test } from 'node:test';

import { liveThrough, storeProgram } from './live-through.ts';

/** Far more than the world needs, because the machine may be busy. */
const timeoutMs = 200_000;
const seed = Number(process.env['WEIR_SIMULATION_SEED'] ?? 20_261_122);
const calls = 10_000;

/** The short form of simulation.deep.test.ts; that of its worlds without a store is beside the code. */
test(
  `M1 M2 M4 M5 M6 M7 M15: ${calls} simulated calls, and videos, on the real store leave the books exact (seed ${seed})`,
  { timeout: timeoutMs },
  async (context) => {
    const counts = await liveThrough(storeProgram, { seeds: [seed], calls }, context);
    for (const name of ['kills', 'videosCompleted', 'videosVoided']) assert.ok((counts[name] ?? 0) > 0, `${name}: ${counts[name]}`);
  },
);

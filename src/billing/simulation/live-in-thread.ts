import { mock } from 'node:test';
import { isMainThread, parentPort, workerData } from 'node:worker_threads';

import { auditBooks } from './audit-books.ts';
import { SimulatedBooks } from './simulated-books.ts';
import { SimulatedWorld } from './simulated-world.ts';

/** Worlds that are lived through one after the other, and the calls of each. */
export type Worlds = { readonly seeds: readonly number[]; readonly calls: number };

/** What happened in a world, for those who look at the output of a test. */
async function live(seed: number, calls: number): Promise<Readonly<Record<string, number>>> {
  const books = new SimulatedBooks();
  const world = new SimulatedWorld(seed, books);
  try {
    await world.live(calls);
    const atRest = books.atRest();
    await auditBooks(world, atRest);
    return { ...world.counts, rowsShippedAgain: atRest.repeated };
  } catch (error) {
    throw new Error(
      `WEIR_SIMULATION_SEED=${seed} WEIR_SIMULATION_WORLDS=1 WEIR_SIMULATION_CALLS=${calls} shows it again: ${String(error)}`,
      {
        cause: error,
      },
    );
  } finally {
    await world.close();
  }
}

// In a thread of its own: its time is mocked, and a test runner follows every promise of its thread.
if (!isMainThread) {
  const { seeds, calls } = workerData as Worlds;
  mock.timers.enable({ apis: ['setTimeout'] });
  const sums: Record<string, number> = {};
  for (const seed of seeds) for (const [name, count] of Object.entries(await live(seed, calls))) sums[name] = (sums[name] ?? 0) + count;
  parentPort?.postMessage(sums);
}

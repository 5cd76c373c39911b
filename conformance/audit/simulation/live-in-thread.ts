import { mock } from 'node:test';
import { isMainThread, parentPort, workerData } from 'node:worker_threads';

import { auditBooks } from '../../../src/billing/simulation/audit-books.ts';
import type { Worlds } from '../../../src/billing/simulation/live-in-thread.ts';
import { SimulatedWorld } from '../../../src/billing/simulation/simulated-world.ts';
import { StoreBooks } from './store-books.ts';
import { VideoTrade } from './video-trade.ts';

/** A world whose processes share the product's own store and also make videos. Resolves with what happened in it. */
async function live(seed: number, calls: number): Promise<Readonly<Record<string, number>>> {
  const books: StoreBooks = new StoreBooks(() => world.clock);
  const world: SimulatedWorld = new SimulatedWorld(seed, books);
  const trade = new VideoTrade(world, books, seed + 1);
  try {
    await world.live(calls, trade);
    const atRest = await books.atRest();
    await auditBooks(world, atRest, await trade.expectations());
    return { ...world.counts, ...trade.counts, rowsShippedAgain: atRest.repeated, rowsLate: books.late };
  } catch (error) {
    throw new Error(
      `WEIR_SIMULATION_SEED=${seed} WEIR_SIMULATION_WORLDS=1 WEIR_SIMULATION_STORE_CALLS=${calls} shows it again: ${String(error)}`,
      {
        cause: error,
      },
    );
  } finally {
    await world.close();
    books.close();
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

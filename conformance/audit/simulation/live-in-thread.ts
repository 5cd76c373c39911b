import { auditBooks } from '../../../src/billing/testing/simulation/audit-books.ts';
import { SimulatedWorld } from '../../../src/billing/testing/simulation/simulated-world.ts';
import { simulateWorlds } from '../../../src/billing/testing/simulation/simulate-worlds.ts';
import { StoreBooks } from './store-books.ts';
import { VideoTrade } from './video-trade.ts';

/** A world whose processes share the real store and also make videos. Resolves with its events. */
async function live(seed: number, calls: number): Promise<Readonly<Record<string, number>>> {
  const books: StoreBooks = new StoreBooks(() => world.clock);
  const world: SimulatedWorld = new SimulatedWorld(seed, books);
  const trade = new VideoTrade(world, books, seed + 1);
  try {
    await world.live(calls, trade);
    const atRest = await books.atRest();
    await auditBooks(world, atRest, await trade.expectations());
    return { ...world.counts, ...trade.counts, rowsShippedAgain: atRest.repeated, rowsLate: books.late };
  } finally {
    await world.close();
    books.close();
  }
}

await simulateWorlds(live, 'WEIR_SIMULATION_STORE_CALLS');

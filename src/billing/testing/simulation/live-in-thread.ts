import { auditBooks } from './audit-books.ts';
import { SimulatedBooks } from './simulated-books.ts';
import { SimulatedWorld } from './simulated-world.ts';
import { simulateWorlds } from './simulate-worlds.ts';

/** Returns the counts of a world, which appear in the output of a test. */
async function live(seed: number, calls: number): Promise<Readonly<Record<string, number>>> {
  const books = new SimulatedBooks();
  const world = new SimulatedWorld(seed, books);
  try {
    await world.live(calls);
    const atRest = books.atRest();
    await auditBooks(world, atRest);
    return { ...world.counts, rowsShippedAgain: atRest.repeated };
  } finally {
    await world.close();
  }
}

await simulateWorlds(live, 'WEIR_SIMULATION_CALLS');

import { mock } from 'node:test';
import { isMainThread, parentPort, workerData } from 'node:worker_threads';

/** The seeds of worlds that are simulated one after the other, and the calls of each. */
export type SimulatedWorlds = { readonly seeds: readonly number[]; readonly calls: number };

/**
 * Simulates the worlds of this thread, and reports the sums of their counts. A thread of its own is needed, because its
 * time is mocked and a test runner follows every promise of its thread.
 * @param live simulates one world
 * @param setting the variable for the number of calls in a world: an error says how to repeat the world with it
 */
export async function simulateWorlds(
  live: (seed: number, calls: number) => Promise<Readonly<Record<string, number>>>,
  setting: string,
): Promise<void> {
  if (isMainThread) return;
  const { seeds, calls } = workerData as SimulatedWorlds;
  mock.timers.enable({ apis: ['setTimeout'] });
  const sums: Record<string, number> = {};
  for (const seed of seeds) {
    const counts = await live(seed, calls).catch((cause: unknown) => {
      const again = `WEIR_SIMULATION_SEED=${seed} WEIR_SIMULATION_WORLDS=1 ${setting}=${calls} repeats it`;
      throw new Error(`${again}: ${String(cause)}`, { cause });
    });
    for (const [name, count] of Object.entries(counts)) sums[name] = (sums[name] ?? 0) + count;
  }
  parentPort?.postMessage(sums);
}

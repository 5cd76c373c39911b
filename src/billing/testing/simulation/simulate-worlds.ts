import { mock } from 'node:test';
import { isMainThread, parentPort, workerData } from 'node:worker_threads';

/** SimulatedWorlds that are lived through one after the other, and the calls of each. */
export type SimulatedWorlds = { readonly seeds: readonly number[]; readonly calls: number };

/**
 * Lives through the worlds that this thread was begun for, and tells what happened in all of them together. In a thread of their own: its time is mocked, and a test runner
 * follows every promise of its thread.
 * @param live lives through one world
 * @param setting the variable that says how many calls the world has: with it an error says how the world is shown again
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
      const again = `WEIR_SIMULATION_SEED=${seed} WEIR_SIMULATION_WORLDS=1 ${setting}=${calls} shows it again`;
      throw new Error(`${again}: ${String(cause)}`, { cause });
    });
    for (const [name, count] of Object.entries(counts)) sums[name] = (sums[name] ?? 0) + count;
  }
  parentPort?.postMessage(sums);
}

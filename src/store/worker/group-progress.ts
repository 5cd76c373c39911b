import type { TaskProgress, TaskStore } from '../../tasks/task-store.ts';
import { StoreError } from '../store-error.ts';

type Waiting = { readonly progress: TaskProgress; readonly settled: PromiseWithResolvers<boolean> };

/** The most reports of one transaction, so that later ones do not wait long. */
const groupMax = 256;

/**
 * Writes the reports of polls in groups: reports that arrive while a group is being written form the next one. A
 * thousand open tasks are a hundred polls a second, and a commit for each would slow down the ledger.
 * @param send writes a group in one transaction, all or nothing
 */
export function groupProgress(send: (group: readonly TaskProgress[]) => Promise<readonly boolean[]>): TaskStore['recordProgress'] {
  let waiting: Waiting[] = [];
  let running = false;

  async function write(group: readonly Waiting[]): Promise<void> {
    try {
      const outcomes = await send(group.map(({ progress }) => progress));
      for (const [index, { settled }] of group.entries()) settled.resolve(outcomes[index] ?? false);
    } catch (error) {
      // A report that cannot be stored must not fail the others.
      if (group.length > 1 && error instanceof StoreError && error.kind === 'constraint') for (const each of group) await write([each]);
      else for (const { settled } of group) settled.reject(error);
    }
  }

  async function run(): Promise<void> {
    running = true;
    // Reports of the same turn of the event loop join the first group.
    await Promise.resolve();
    while (waiting.length > 0) {
      const group = waiting.slice(0, groupMax);
      waiting = waiting.slice(groupMax);
      await write(group);
    }
    running = false;
  }

  return (progress) => {
    const settled = Promise.withResolvers<boolean>();
    waiting.push({ progress, settled });
    if (!running) void run();
    return settled.promise;
  };
}

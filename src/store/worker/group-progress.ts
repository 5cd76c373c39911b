import type { TaskProgress, TaskStore } from '../../tasks/task-store.ts';
import { StoreError } from '../store-error.ts';

type Waiting = { readonly progress: TaskProgress; readonly settled: PromiseWithResolvers<boolean> };

/** What one transaction takes, so that what comes behind it does not wait long. */
const groupMax = 256;

/**
 * Hands over what polls have found, what comes while a group is on its way together as the next: a thousand open tasks are a hundred polls a second, and a commit for
 * each would keep the disk from the books.
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
      // One that cannot be kept must not take the others with it.
      if (group.length > 1 && error instanceof StoreError && error.kind === 'constraint') for (const each of group) await write([each]);
      else for (const { settled } of group) settled.reject(error);
    }
  }

  async function run(): Promise<void> {
    running = true;
    // What is recorded within the same turn goes with the first.
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

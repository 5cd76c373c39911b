import assert from 'node:assert/strict';
import { once } from 'node:events';
import { test } from 'node:test';
import { Worker } from 'node:worker_threads';

import type { SimulationRuns } from './testing/simulation/live-in-thread.ts';

/** Number of simulated worlds; `npm run test:faults -- --long` simulates many more. */
const worlds = Number(process.env['WEIR_SIMULATED_WORLDS'] ?? 2);
const tasksPerWorld = 550;

/** The number of tasks by their end. Rejects with the failed assertion of the thread. */
async function live(runs: SimulationRuns): Promise<ReadonlyMap<string, number>> {
  const ends = new Map<string, number>();
  const thread = new Worker(new URL('./testing/simulation/live-in-thread.ts', import.meta.url), { workerData: runs });
  thread.on('message', (lived: ReadonlyMap<string, number>) => {
    for (const [what, count] of lived) ends.set(what, (ends.get(what) ?? 0) + count);
  });
  await once(thread, 'exit');
  return ends;
}

test('despite lies, kills and store failures each task ends once, is charged correctly once, and is called back once', async (context) => {
  const seeds = Array.from({ length: worlds }, (_, index) => index + 1);
  const ends = await live({ seeds, count: tasksPerWorld });
  const total = [...ends].filter(([what]) => what !== 'kills').reduce((sum, [, count]) => sum + count, 0);
  context.diagnostic(`${total} tasks: ${JSON.stringify(Object.fromEntries(ends))}`);
  assert.ok(total >= worlds * 450, `${total} tasks`);
  for (const end of [
    'completed',
    'content_moderated',
    'upstream_failed',
    'upstream_timeout',
    'task_lost',
    'submission_lost',
    'refused',
    'kills',
  ]) {
    assert.ok((ends.get(end) ?? 0) > worlds, `${end} hardly occurred`);
  }
});

for (const crashPoint of ['killed-before', 'killed-after', 'failed-before', 'failed-after'] as const) {
  test(`a process that is ${crashPoint} at any call leaves a task that another process ends, with and without an idempotent upstream`, async () => {
    const lived = await live({ crashPoint });
    assert.ok((lived.get('points') ?? 0) > 20);
  });
}

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { test } from 'node:test';
import { Worker } from 'node:worker_threads';

import type { Lives } from './testing/simulation/live-in-thread.ts';

/** Worlds that are lived through with the tests; `npm run test:faults -- --long` lives through many more. */
const worlds = Number(process.env['WEIR_SIMULATED_WORLDS'] ?? 2);
const tasksPerWorld = 550;

/** What became of everything. Rejects with the assertion that did not hold in the thread. */
async function live(lives: Lives): Promise<ReadonlyMap<string, number>> {
  const ends = new Map<string, number>();
  const thread = new Worker(new URL('./testing/simulation/live-in-thread.ts', import.meta.url), { workerData: lives });
  thread.on('message', (lived: ReadonlyMap<string, number>) => {
    for (const [what, count] of lived) ends.set(what, (ends.get(what) ?? 0) + count);
  });
  await once(thread, 'exit');
  return ends;
}

test('tasks through lies, kills and failing stores: each ends once, is charged the truth once, and called back once', async (context) => {
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
    assert.ok((ends.get(end) ?? 0) > worlds, `${end} was hardly tried`);
  }
});

for (const mishap of ['killed-before', 'killed-after', 'failed-before', 'failed-after'] as const) {
  test(`a process that is ${mishap} at any call leaves a task that another ends, whether or not its upstream is idempotent`, async () => {
    const lived = await live({ mishap });
    assert.ok((lived.get('points') ?? 0) > 20);
  });
}

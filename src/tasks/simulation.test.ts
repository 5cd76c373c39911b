import assert from 'node:assert/strict';
import { once } from 'node:events';
import { test } from 'node:test';
import { Worker } from 'node:worker_threads';

import type { LivedWorlds } from './simulation/live-in-thread.ts';
import { checkDeliveries, checkFiles, checkTask } from './simulation/live-through.ts';
import type { Story } from './simulation/simulated-upstreams.ts';
import { plainStory, SimulatedWorld } from './simulation/simulated-world.ts';

test('ten thousand tasks through lies, kills and failing stores: each ends once, is charged the truth once, and called back once', async (context) => {
  const ends = new Map<string, number>();
  const worlds: LivedWorlds = { seeds: [1, 2, 3, 4, 5, 6, 7, 8, 9, 10], count: 1140 };
  const thread = new Worker(new URL('simulation/live-in-thread.ts', import.meta.url), { workerData: worlds });
  thread.on('message', (lived: ReadonlyMap<string, number>) => {
    for (const [what, count] of lived) ends.set(what, (ends.get(what) ?? 0) + count);
  });
  // Rejects with the assertion that did not hold in the thread.
  await once(thread, 'exit', { signal: AbortSignal.timeout(55_000) });
  context.diagnostic(JSON.stringify(Object.fromEntries(ends)));
  const total = [...ends].filter(([what]) => what !== 'kills').reduce((sum, [, count]) => sum + count, 0);
  assert.ok(total >= 10_000, `${total} tasks`);
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
    assert.ok((ends.get(end) ?? 0) > 20, `${end} was hardly tried`);
  }
});

/** A short life, so that there are few points at which it can be cut. */
const shortStory: Story = { ...plainStory, queuedMs: 500, workMs: 1000, badFiles: 1 };

const phasesIn = (world: SimulatedWorld): readonly string[] => [...world.store.rows.values()].map(({ task }) => task.phase);
const isEverythingOver = (world: SimulatedWorld): boolean => phasesIn(world).every((phase) => phase === 'completed' || phase === 'failed');

for (const mishap of ['killed-before', 'killed-after', 'failed-before', 'failed-after'] as const) {
  for (const isIdempotent of [true, false]) {
    test(`a process that is ${mishap} at any call leaves a task that another ends (idempotent upstream: ${isIdempotent})`, async () => {
      const points = await countCalls(isIdempotent);
      assert.ok(points > 10, `${points} calls`);
      for (let point = 0; point < points; point++) {
        const world = new SimulatedWorld(point);
        let calls = 0;
        world.mishap = () => (calls++ === point ? mishap : 'none');
        const first = world.startProcess();
        const answered = world.submit(first, world.plan({ ...shortStory, isIdempotent })).then((task) => task !== undefined);
        await world.time.pass(5000);
        world.startProcess();
        for (let looks = 0; looks < 60 && (looks < 10 || !isEverythingOver(world)); looks++) await world.time.pass(5000);
        for (const { task } of world.store.rows.values()) {
          const end = checkTask(world, task);
          assert.ok(end === 'completed' || (end === 'submission_lost' && !isIdempotent), `${end} at call ${point}`);
        }
        // Without a task there is no video, and the client was told so.
        if (world.store.rows.size === 0) assert.deepEqual([world.upstreams.jobs.size, first.isAlive && (await answered)], [0, false]);
        checkDeliveries(world);
        await checkFiles(world);
        world.time.clear();
      }
    });
  }
}

/** Calls that leave both processes from a submission until its video is stored. */
async function countCalls(isIdempotent: boolean): Promise<number> {
  const world = new SimulatedWorld(0);
  let calls = 0;
  world.mishap = () => {
    calls += 1;
    return 'none';
  };
  void world.submit(world.startProcess(), world.plan({ ...shortStory, isIdempotent }));
  await world.time.pass(5000);
  world.startProcess();
  for (let looks = 0; looks < 60 && !phasesIn(world).includes('completed'); looks++) await world.time.pass(1000);
  assert.deepEqual(phasesIn(world), ['completed']);
  world.time.clear();
  return calls;
}

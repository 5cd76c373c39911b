import assert from 'node:assert/strict';
import { test } from 'node:test';

import { plainScript, SimulatedWorld } from './testing/simulation/simulated-world.ts';
import type { VideoTasks } from './create-video-tasks.ts';

/** Records what a watcher of a task sees, and when. */
function follow(world: SimulatedWorld, tasks: VideoTasks, id: string, signal = new AbortController().signal) {
  const seen: { readonly phase: string; readonly progress: number; readonly atMs: number }[] = [];
  const watching = async (): Promise<void> => {
    for await (const { phase, progress } of tasks.watch('alice', id, signal)) seen.push({ phase, progress, atMs: world.time.nowMs() });
  };
  return { seen, over: watching() };
}

test('a watcher sees the task, each change and the end; in its process at once, elsewhere within a second', async () => {
  const world = new SimulatedWorld(1);
  const [here, elsewhere] = [world.startProcess(), world.startProcess()];
  const submitted = world.submit(here, world.plan(plainScript));
  const task = await submitted;
  assert.ok(task);
  // Only one of the two processes the task, so that all changes are made there.
  const both = [follow(world, here.tasks, task.id), follow(world, elsewhere.tasks, task.id)];
  await world.time.pass(60_000);
  await Promise.all(both.map(({ over }) => over));
  for (const { seen } of both) {
    assert.equal(seen[0]?.phase, 'queued');
    assert.equal(seen.at(-1)?.phase, 'completed');
    assert.ok(seen.length > 5);
    assert.ok(seen.every(({ progress }, index) => progress >= (seen[index - 1]?.progress ?? 0)));
  }
  const ended = world.store.rows.get(task.id)?.task.endedAtMs ?? 0;
  const noticed = both.map(({ seen }) => (seen.at(-1)?.atMs ?? 0) - ended).toSorted((one, other) => one - other);
  assert.equal(noticed[0], 0);
  assert.ok((noticed[1] ?? 0) <= 1000);
  const again = follow(world, elsewhere.tasks, task.id);
  await again.over;
  assert.deepEqual(
    again.seen.map(({ phase }) => phase),
    ['completed'],
  );
  world.time.clear();
});

test('a watcher of an unknown task or of another user’s sees nothing, and a watcher that leaves is removed', async () => {
  const world = new SimulatedWorld(2);
  const { tasks } = world.startProcess();
  const task = await world.submit({ tasks, call: (work: () => Promise<unknown>) => work() } as never, world.plan(plainScript));
  assert.ok(task);
  for (const [user, id] of [
    ['bob', task.id],
    ['alice', 'task_unknown'],
  ] as const) {
    const seen = [];
    for await (const shown of tasks.watch(user, id, new AbortController().signal)) seen.push(shown);
    assert.deepEqual(seen, []);
  }
  const leaving = new AbortController();
  const { seen, over } = follow(world, tasks, task.id, leaving.signal);
  await world.time.pass(100);
  leaving.abort();
  await over;
  assert.equal(seen.length, 1);
  world.time.clear();
});

test('an outage of the store ends no watch', async () => {
  const world = new SimulatedWorld(3);
  const process = world.startProcess();
  const task = await world.submit(process, world.plan(plainScript));
  assert.ok(task);
  const { seen, over } = follow(world, process.tasks, task.id);
  await world.time.pass(5000);
  world.crashPoint = () => 'failed-before';
  await world.time.pass(40_000);
  world.crashPoint = () => 'none';
  await world.time.pass(60_000);
  await over;
  assert.equal(seen.at(-1)?.phase, 'completed');
  world.time.clear();
});

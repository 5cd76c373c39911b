import assert from 'node:assert/strict';

import { checkDeliveries, checkFiles, checkTask } from './live-through.ts';
import type { Mishap } from './simulated-process.ts';
import type { Story } from './simulated-upstreams.ts';
import { plainStory, SimulatedWorld } from './simulated-world.ts';

/** A short life, so that there are few points at which it can be cut. */
const shortStory: Story = { ...plainStory, queuedMs: 500, workMs: 1000, badFiles: 1 };

const phasesIn = (world: SimulatedWorld): readonly string[] => [...world.store.rows.values()].map(({ task }) => task.phase);
const isEverythingOver = (world: SimulatedWorld): boolean => phasesIn(world).every((phase) => phase === 'completed' || phase === 'failed');

/** Lives the same task once for each call that leaves its process, which then meets the mishap; a second process goes on. Returns the number of calls. */
export async function cutAnywhere(mishap: Mishap, isIdempotent: boolean): Promise<number> {
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
  return points;
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

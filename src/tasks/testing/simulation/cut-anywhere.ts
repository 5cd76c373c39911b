import assert from 'node:assert/strict';

import { checkDeliveries, checkFiles, checkTask } from './live-through.ts';
import type { CrashPoint } from './simulated-process.ts';
import type { UpstreamScript } from './simulated-upstreams.ts';
import { plainScript, SimulatedWorld } from './simulated-world.ts';

/** A short script, so that it has few crash points. */
const shortScript: UpstreamScript = { ...plainScript, queuedMs: 500, workMs: 1000, badFiles: 1 };

const phasesIn = (world: SimulatedWorld): readonly string[] => [...world.store.rows.values()].map(({ task }) => task.phase);
const isEverythingOver = (world: SimulatedWorld): boolean => phasesIn(world).every((phase) => phase === 'completed' || phase === 'failed');

/**
 * Runs the same task once for each outgoing call of its process. The process crashes at that call, before or after it
 * as `crashPoint` says, and a second process continues. Returns the number of calls.
 */
export async function cutAnywhere(crashPoint: CrashPoint, isIdempotent: boolean): Promise<number> {
  const points = await countCalls(isIdempotent);
  assert.ok(points > 10, `${points} calls`);
  for (let point = 0; point < points; point++) {
    const world = new SimulatedWorld(point);
    let calls = 0;
    world.crashPoint = () => (calls++ === point ? crashPoint : 'none');
    const first = world.startProcess();
    const answered = world.submit(first, world.plan({ ...shortScript, isIdempotent })).then((task) => task !== undefined);
    await world.time.pass(5000);
    world.startProcess();
    for (let looks = 0; looks < 60 && (looks < 10 || !isEverythingOver(world)); looks++) await world.time.pass(5000);
    for (const { task } of world.store.rows.values()) {
      const end = checkTask(world, task);
      assert.ok(end === 'completed' || (end === 'submission_lost' && !isIdempotent), `${end} at call ${point}`);
    }
    // Without a task there is no video, and the client got an error.
    if (world.store.rows.size === 0) assert.deepEqual([world.upstreams.jobs.size, first.isAlive && (await answered)], [0, false]);
    checkDeliveries(world);
    await checkFiles(world);
    world.time.clear();
  }
  return points;
}

/** Outgoing calls of both processes from a submission until its video is stored. */
async function countCalls(isIdempotent: boolean): Promise<number> {
  const world = new SimulatedWorld(0);
  let calls = 0;
  world.crashPoint = () => {
    calls += 1;
    return 'none';
  };
  void world.submit(world.startProcess(), world.plan({ ...shortScript, isIdempotent }));
  await world.time.pass(5000);
  world.startProcess();
  for (let looks = 0; looks < 60 && !phasesIn(world).includes('completed'); looks++) await world.time.pass(1000);
  assert.deepEqual(phasesIn(world), ['completed']);
  world.time.clear();
  return calls;
}

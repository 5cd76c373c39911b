import assert from 'node:assert/strict';
import { test } from 'node:test';

import { silentLogger } from '../platform/log.ts';
import { createFakeTaskStore } from './testing/fake-task-store.ts';
import { sweepOrphans, sweepTasks } from './sweep-media.ts';
import { defaultTaskSettings } from './task-parts.ts';
import { plainScript, SimulatedWorld } from './testing/simulation/simulated-world.ts';

const dayMs = 24 * 3_600_000;

async function storeOne(world: SimulatedWorld, retentionMs = dayMs) {
  const process = world.startProcess({ retentionMs: () => retentionMs });
  const task = await world.submit(process, world.plan(plainScript));
  assert.ok(task);
  await world.time.pass(60_000);
  assert.equal(world.storage.files.size, 1);
  return { process, task };
}

test('an expired file is deleted, and its task stays', async () => {
  const world = new SimulatedWorld(1);
  const { process, task } = await storeOne(world, 3_600_000);
  await world.time.pass(3_400_000);
  assert.equal(world.storage.files.size, 1);
  await world.time.pass(300_000);
  assert.equal(world.storage.files.size, 0);
  const found = await process.tasks.find('alice', task.id);
  assert.deepEqual([found?.phase, found?.media, found?.chargedNanoUsd], ['completed', undefined, 6000n]);
  world.time.clear();
});

/** Sweeps abandoned files `ms` milliseconds later. */
async function sweepIn(world: SimulatedWorld, ms: number): Promise<number> {
  const { store, storage, time } = world;
  const clock = { nowMs: () => time.nowMs() + ms, monotonicMs: time.monotonicMs };
  return await sweepOrphans({ store, storage, clock, logger: silentLogger }, new AbortController().signal);
}

test('only files without a task are deleted, after a day', async () => {
  const world = new SimulatedWorld(2);
  const { task } = await storeOne(world, 30 * dayMs);
  world.storage.files.set('media_orphan', { bytes: 5, atMs: world.time.nowMs() });
  assert.equal(await sweepIn(world, dayMs / 2), 0);
  assert.equal(world.storage.files.size, 2);
  assert.equal(await sweepIn(world, dayMs * 1.1), 1);
  assert.deepEqual([...world.storage.files.keys()], [world.store.rows.get(task.id)?.task.media?.key]);
  world.time.clear();
});

test('a file whose deletion failed is deleted later', async () => {
  const world = new SimulatedWorld(3);
  const { storage } = world;
  const remove = storage.remove;
  storage.remove = () => Promise.reject(new Error('read-only'));
  await storeOne(world, 600_000);
  await world.time.pass(1_200_000);
  assert.equal(await sweepIn(world, dayMs * 1.1), 0);
  assert.equal(storage.files.size, 1);
  storage.remove = remove;
  assert.equal(await sweepIn(world, dayMs * 1.1), 1);
  assert.equal(storage.files.size, 0);
  world.time.clear();
});

test('deleting a task deletes its file; an open task is not deleted, and another user’s is not found', async () => {
  const world = new SimulatedWorld(4);
  const { process, task } = await storeOne(world);
  const open = await world.submit(process, world.plan(plainScript));
  const { tasks } = process;
  assert.deepEqual(
    [
      await tasks.delete('alice', open?.id ?? ''),
      await tasks.delete('bob', task.id),
      await tasks.delete('alice', task.id),
      await tasks.delete('alice', task.id),
    ],
    ['open', 'unknown', 'deleted', 'unknown'],
  );
  assert.equal(world.storage.files.size, 0);
  assert.equal(world.store.ledger.size, 1);
  world.time.clear();
});

test('any number of tasks are deleted at the configured time after their end', async () => {
  const asked: { readonly endedBeforeMs: number; readonly limit: number }[] = [];
  const counts = [100, 100, 7];
  const store = {
    ...createFakeTaskStore(),
    sweepTasks: async (sweep: { readonly endedBeforeMs: number; readonly limit: number }) => {
      asked.push(sweep);
      return counts.shift() ?? 0;
    },
  };
  const settings = () => ({ ...defaultTaskSettings, taskRetentionMs: 5 * dayMs });
  const clock = { nowMs: () => 100 * dayMs, monotonicMs: () => 0 };
  assert.equal(await sweepTasks({ store, clock, settings }, new AbortController().signal), 207);
  assert.deepEqual(asked, Array(3).fill({ endedBeforeMs: 95 * dayMs, limit: 100 }));
  assert.equal(await sweepTasks({ store, clock, settings }, AbortSignal.abort()), 0);
});

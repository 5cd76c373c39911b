import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';

import { openSqliteStore } from '../../../src/store/sqlite/open-sqlite-store.ts';
import type { VideoTask } from '../../../src/tasks/video-task.ts';
import { measureBest } from '../../support/measure-best.ts';
import { startMs } from '../suite-start.ts';
import { createDelivery, createTask, endOf, mediaOf, progressOf, type TaskStores } from './task-fixtures.ts';

/** The full measurement has 100,000 ended tasks; an ordinary run of the suite uses fewer. */
const over = process.env['WEIR_MEASURE'] === undefined ? 2000 : 100_000;
const openTasks = 1000;
const perStep = 50;

const median = (values: readonly number[]): number => values.toSorted((left, right) => left - right)[Math.floor(values.length / 2)] ?? 0;

async function time(work: () => Promise<unknown>): Promise<number> {
  const start = performance.now();
  await work();
  return performance.now() - start;
}

async function addTasks(store: TaskStores, count: number, changes: (index: number) => Partial<VideoTask>): Promise<void> {
  for (let from = 0; from < count; from += 500) {
    const indexes = Array.from({ length: Math.min(500, count - from) }, (_, index) => from + index);
    const lease = { owner: 'submitter', untilMs: startMs };
    await Promise.all(indexes.map((index) => store.insertTask(createTask(`id-${index}`, changes(index)), lease)));
  }
}

/** Steps of a poller that polls every task in turn, with separate answers. */
async function measureSteps(
  store: TaskStores,
  steps: number,
  fromMs: number,
): Promise<{ readonly claim: number; readonly record: number }> {
  const claims: number[] = [];
  const records: number[] = [];
  for (let step = 0; step < steps; step += 1) {
    const nowMs = fromMs + step * 500;
    let claimed: readonly VideoTask[] = [];
    claims.push(
      await time(async () => (claimed = await store.claimTasks({ owner: 'me', nowMs, leaseUntilMs: nowMs + 30_000, limit: perStep }))),
    );
    assert.equal(claimed.length, perStep);
    const record = async (task: VideoTask): Promise<void> =>
      assert.equal(
        await store.recordProgress(progressOf(task, 'me', { phase: 'in_progress', progress: step, nowMs, nextPollAtMs: nowMs + 10_000 })),
        true,
      );
    records.push(await time(() => Promise.all(claimed.map(record))));
  }
  return { claim: median(claims), record: median(records) };
}

test('polling a thousand open tasks every ten seconds takes a small part of the store’s time, whatever else it contains', async (context) => {
  const directory = await mkdtemp(join(tmpdir(), 'weir-task-cost-'));
  context.after(() => rm(directory, { recursive: true, force: true }));
  const store = await openSqliteStore({ path: join(directory, 'weir.sqlite') });
  context.after(() => store.close());
  await addTasks(store, openTasks, (index) => ({
    id: `open-${index}`,
    phase: 'queued',
    upstreamTaskId: `up-${index}`,
    userName: `user-${index % 20}`,
  }));
  const alone = await measureSteps(store, 20, startMs);
  await addTasks(store, over, (index) => ({
    id: `over-${index}`,
    phase: 'completed',
    userName: `user-${index % 20}`,
    media: mediaOf(`${index}`),
    expiresAtMs: startMs + 1e9,
  }));
  const total = (step: typeof alone): number => step.claim + step.record;
  const hasGrown = (step: typeof alone): boolean => total(step) >= 3 * total(alone) + 20;
  let rounds = 0;
  const among = await measureBest(
    () => measureSteps(store, 20, startMs + 10_000 * (rounds += 1)),
    (step) => !hasGrown(step),
  );
  context.diagnostic(`a step of ${perStep}: ${JSON.stringify(alone)} ms; among ${over} ended ones: ${JSON.stringify(among)} ms`);
  assert.ok(!hasGrown(among), 'a step grew with the ended tasks');
  // Twenty steps make a round of ten seconds.
  assert.ok((openTasks / perStep) * total(among) < 5000, 'a round takes half of its available time');

  const ends: number[] = [];
  const queries: number[] = [];
  for (let index = 0; index < 40; index += 1) {
    const task = createTask(`open-${index}`, { userName: `user-${index % 20}` });
    const deliveries = [createDelivery(`d-${index}`)];
    ends.push(await time(async () => assert.equal(await store.endTask(endOf(task, { media: mediaOf(`end-${index}`), deliveries })), true)));
    queries.push(await time(() => Promise.all([store.heldFor(task.userName), store.mediaBytes(task), store.countTasks(startMs)])));
  }
  context.diagnostic(`an end: ${median(ends)} ms; the queries of a new task: ${median(queries)} ms`);
  assert.ok(median(queries) < 50);
});

import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';

import fc from 'fast-check';

import { openDatabase } from '../../../src/store/sqlite/open-database.ts';
import { openSqliteStore } from '../../../src/store/sqlite/open-sqlite-store.ts';
import { createFakeTaskStore } from '../../../src/tasks/testing/fake-task-store.ts';
import type { VideoTask } from '../../../src/tasks/video-task.ts';
import { startMs } from '../suite-start.ts';
import { createDelivery, createTask, endOf, entryOf, mediaOf, progressOf, type TaskStores } from './task-fixtures.ts';
import { changeAt } from '../../../src/audit/testing/test-change.ts';
import { usualOrLong } from '../../support/scale.ts';

/** An operation on a store. Its results are compared. */
type Step = (store: TaskStores, tasks: readonly VideoTask[]) => Promise<unknown>;

const at = fc.integer({ min: 0, max: 40 }).map((offset) => startMs + offset);
const owner = fc.constantFrom('me', 'me', 'me', 'you');
const userName = fc.constantFrom('ann', 'bob');
const which = fc.constantFrom(0, 0, 0, 1, 2, 3);
const limit = fc.integer({ min: 1, max: 3 });
const maybe = <Value>(value: fc.Arbitrary<Value>) => fc.option(value, { nil: undefined });

/**
 * Before all tasks or after them: an ended task may be forgotten, and then a clock that goes back makes a difference.
 */
const until = fc.constantFrom(startMs, startMs + 100);

/** The task of a step. */
const on =
  (index: number, step: (store: TaskStores, task: VideoTask) => Promise<unknown>): Step =>
  (store, tasks) =>
    step(store, tasks[index] ?? assert.fail());

const submissions: readonly fc.Arbitrary<Step>[] = [
  fc
    .tuple(which, owner, at, maybe(fc.record({ key: fc.constantFrom('k', 'l'), bodyHash: fc.constantFrom('x', 'y'), untilMs: until })))
    .map(([index, name, untilMs, key]) =>
      on(index, (store, task) =>
        // Engines describe a reserved id with messages of their own.
        store.insertTask(task, { owner: name, untilMs }, key === undefined ? undefined : { keyId: 'key-1', ...key }).catch(() => 'taken'),
      ),
    ),
  fc
    .tuple(which, owner, fc.constantFrom('queued', 'in_progress'), fc.nat(120), at)
    .map(([index, name, phase, progress, nextPollAtMs]) =>
      on(index, (store, { id }) =>
        store.acceptTask({ id, owner: name, upstreamTaskId: `up-${id}`, phase, progress, nowMs: startMs, nextPollAtMs }),
      ),
    ),
  fc
    .tuple(which, owner)
    .map(([index, name]) => on(index, (store, task) => store.refuseTask({ id: task.id, owner: name, entry: entryOf(task) }))),
];

const polls: readonly fc.Arbitrary<Step>[] = [
  fc.tuple(owner, at, at, limit, maybe(fc.nat(3))).map(
    ([name, nowMs, leaseUntilMs, count, storingMax]): Step =>
      (store) =>
        store.claimTasks({ owner: name, nowMs, leaseUntilMs, limit: count, ...(storingMax === undefined ? {} : { storingMax }) }),
  ),
  fc
    .tuple(which, owner, at)
    .map(([index, name, leaseUntilMs]) => on(index, (store, { id }) => store.renewTask({ id, owner: name, leaseUntilMs }))),
  fc
    .tuple(which, owner, fc.constantFrom('queued', 'in_progress', 'storing'), fc.nat(120), at, maybe(at))
    .map(([index, name, phase, progress, nextPollAtMs, since]) =>
      on(index, (store, task) => {
        const alert = since === undefined ? undefined : { sinceMs: since, reason: 'x' };
        return store.recordProgress(progressOf(task, name, { phase, progress, nextPollAtMs, missingSinceMs: since, alert }));
      }),
    ),
  fc.tuple(which, maybe(owner), fc.boolean(), maybe(at), fc.nat(2)).map(([index, name, isCompleted, expiresAtMs, delivery]) =>
    on(index, (store, task) =>
      store.endTask(
        endOf(task, {
          ...(name === undefined ? {} : { owner: name }),
          ...(expiresAtMs === undefined ? {} : { expiresAtMs }),
          ...(isCompleted ? { media: mediaOf(task.id) } : { phase: 'failed', error: { code: 'upstream_failed', message: 'x' } }),
          deliveries: [createDelivery(`d${delivery}`)],
        }),
      ),
    ),
  ),
];

const others: readonly fc.Arbitrary<Step>[] = [
  fc.tuple(which, userName).map(([index, name]) => on(index, (store, { id }) => store.deleteTask({ userName: name, id }))),
  fc.tuple(at, limit).map(
    ([nowMs, count]): Step =>
      (store) =>
        store.expireMedia({ nowMs, limit: count }),
  ),
  // One at a time: tasks that ended at the same moment have no order. At the start no task has ended yet, so times are
  // later ones.
  at.map((nowMs): Step => async (store) => {
    let forgotten = 0;
    while ((await store.sweepTasks({ endedBeforeMs: nowMs + 60_001, limit: 2 })) === 2) forgotten += 2;
    return forgotten;
  }),
  at.map(
    (nowMs): Step =>
      (store) =>
        store.countTasks(nowMs),
  ),
  userName.map(
    (name): Step =>
      (store) =>
        Promise.all([store.heldFor(name), store.mediaBytes({ userName: name })]),
  ),
  fc.tuple(owner, at, at, limit).map(
    ([name, nowMs, leaseUntilMs, count]): Step =>
      (store) =>
        store.claimDeliveries({ owner: name, nowMs, leaseUntilMs, limit: count }),
  ),
  fc.tuple(fc.nat(2), owner, fc.constantFrom('waiting', 'delivered', 'given-up'), fc.nat(9), at).map(
    ([index, name, status, attempts, nextAttemptAtMs]): Step =>
      (store) =>
        store.recordAttempt({ id: `d${index}`, owner: name, status, attempts, nextAttemptAtMs }),
  ),
  fc.tuple(fc.nat(2), userName, at).map(
    ([index, name, nowMs]): Step =>
      (store) =>
        store.redeliver({ userName: name, id: `d${index}`, change: changeAt(nowMs) }),
  ),
  fc.tuple(at, limit).map(
    ([beforeMs, count]): Step =>
      (store) =>
        store.sweepDeliveries({ beforeMs, limit: count }),
  ),
];

async function look(store: TaskStores, tasks: readonly VideoTask[]): Promise<unknown> {
  return await Promise.all([
    store.listTasks({ userName: 'ann', limit: 9, order: 'asc' }),
    store.listTasks({ userName: 'bob', limit: 9, order: 'desc' }),
    store.listDeliveries({ userName: 'ann', limit: 9 }),
    ...tasks.map(({ callId }) => store.findEntry(callId)),
  ]);
}

test('the store in memory and the engine return the same, for any operations', async (context) => {
  const directory = await mkdtemp(join(tmpdir(), 'weir-both-'));
  context.after(() => rm(directory, { recursive: true, force: true }));
  const path = join(directory, 'weir.sqlite');
  const engine = await openSqliteStore({ path });
  context.after(() => engine.close());
  const database = openDatabase(path, { readOnly: false, busyTimeoutMs: 5000 });
  context.after(() => database.close());
  const steps = fc.array(fc.oneof(...submissions, ...polls, ...submissions, ...polls, ...others), {
    minLength: 5,
    maxLength: 40,
    size: 'max',
  });
  await fc.assert(
    fc.asyncProperty(steps, async (drawn) => {
      for (const table of ['video_idempotency', 'video_requests', 'video_tasks', 'callback_deliveries'])
        database.run(`delete from ${table}`);
      const fake = createFakeTaskStore();
      const tasks = ['ann', 'ann', 'bob', 'ann'].map((name, index) =>
        createTask(`t${index}`, { userName: name, nextPollAtMs: startMs + index, createdAtMs: startMs + 10 * (index % 2) }),
      );
      for (const store of [engine, fake])
        for (const task of tasks.slice(0, 2)) await store.insertTask({ ...task, phase: 'queued' }, { owner: 'me', untilMs: startMs });
      for (const step of drawn) assert.deepEqual(await step(engine, tasks), await step(fake, tasks));
      assert.deepEqual(await look(engine, tasks), await look(fake, tasks));
    }),
    { numRuns: usualOrLong(50, 150) },
  );
});

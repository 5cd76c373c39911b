import assert from 'node:assert/strict';
import { test } from 'node:test';

import type { TaskEnd } from '../../../src/tasks/task-store.ts';
import type { VideoTask } from '../../../src/tasks/video-task.ts';
import { startMs } from '../suite-start.ts';
import {
  addOpenTask,
  claimIds,
  createDelivery,
  createTask,
  endOf,
  entryOf,
  mediaOf,
  type OpenTasks,
  second,
  type TaskStores,
} from './task-fixtures.ts';

/** The behaviour of every store when a task ends: once, and completely or not at all. */
export function endSuite(open: OpenTasks): void {
  const find = { userName: 'ann', id: 'a' };
  const deliveriesOf = (store: TaskStores) => store.listDeliveries({ userName: 'ann', limit: 100 });

  test('the end, the charge and the callbacks are written together, and the lease is released', async (context) => {
    const { store } = await open(context);
    const task = await addOpenTask(store, 'a', { progress: 40 });
    await claimIds(store, 'me', startMs);
    const ending = {
      durationMs: 5041.666_666_7,
      endedAtMs: startMs + 60 * second,
      expiresAtMs: startMs + 90 * second,
      media: mediaOf('a'),
    };
    const entry = entryOf(task, { pricingParameters: { resolution: '720p', mode: 'image' } });
    assert.equal(
      await store.endTask(endOf(task, { owner: 'me', entry, ...ending, deliveries: [createDelivery('d1'), createDelivery('d2')] })),
      true,
    );
    const ended: VideoTask = { ...task, ...ending, phase: 'completed', progress: 100, chargedNanoUsd: 350_000_000n };
    assert.deepEqual(await store.findTask(find), ended);
    assert.deepEqual(await store.findEntry(task.callId), entry, 'with its pricing parameters');
    const waiting = { status: 'waiting', attempts: 0, nextAttemptAtMs: startMs };
    assert.deepEqual(await deliveriesOf(store), [
      { ...createDelivery('d2'), ...waiting },
      { ...createDelivery('d1'), ...waiting },
    ]);
  });

  test('a failed task costs what its row says, keeps its progress, and has its error', async (context) => {
    const { store } = await open(context);
    const task = await addOpenTask(store, 'a', { progress: 40 });
    const error = { code: 'upstream_failed', message: 'it broke \u0000 \ud800 模型 "' } as const;
    const entry = entryOf(task, { end: 'failed', charge: { amountNanoUsd: 0n, lines: [] } });
    assert.equal(await store.endTask(endOf(task, { phase: 'failed', error, entry })), true);
    const ended = { ...task, phase: 'failed', error, chargedNanoUsd: 0n, endedAtMs: task.createdAtMs + 60 * second };
    assert.deepEqual(await store.findTask(find), ended);
  });

  const unbooked = createTask('other');
  const ends: readonly (readonly [string, Partial<TaskEnd>])[] = [
    ['the same again', {}],
    ['a failure after a success', { phase: 'failed', error: { code: 'upstream_timeout', message: 'late' } }],
    ['another amount', { entry: entryOf(unbooked) }],
  ];
  for (const [name, changes] of ends) {
    test(`a task ends once: ${name}`, async (context) => {
      const { store } = await open(context);
      const task = await addOpenTask(store, 'a');
      assert.equal(await store.endTask(endOf(task, { media: mediaOf('a'), deliveries: [createDelivery('d1')] })), true);
      const ended = await store.findTask(find);
      const [delivery] = await store.claimDeliveries({ owner: 'me', nowMs: startMs, leaseUntilMs: startMs + second, limit: 9 });
      assert.equal(await store.endTask(endOf(task, { deliveries: [createDelivery('d1'), createDelivery('d3')], ...changes })), false);
      assert.deepEqual(await store.findTask(find), ended);
      assert.deepEqual(await deliveriesOf(store), [delivery]);
      assert.equal(await store.findEntry(unbooked.callId), undefined);
    });
  }

  test('if several in two processes end a task simultaneously, one succeeds, and the callbacks are queued once', async (context) => {
    const { store, another } = await open(context);
    const stores = [store, await another()];
    for (let round = 0; round < 8; round += 1) {
      const task = await addOpenTask(store, `r${round}`);
      const outcomes = await Promise.all(
        [0, 1, 2, 3].map((index) => {
          const amountNanoUsd = BigInt(index + 1);
          const entry = entryOf(task, { charge: { amountNanoUsd, lines: [] } });
          const deliveries = [createDelivery(`d${round}-${index}`, { subject: task.id })];
          return (stores[index % 2] ?? store).endTask(endOf(task, { entry, deliveries, phase: index < 2 ? 'completed' : 'failed' }));
        }),
      );
      assert.equal(outcomes.filter(Boolean).length, 1);
      const winner = outcomes.indexOf(true);
      const ended = await store.findTask({ userName: 'ann', id: task.id });
      assert.equal(ended?.chargedNanoUsd, BigInt(winner + 1));
      assert.equal((await store.findEntry(task.callId))?.charge.amountNanoUsd, BigInt(winner + 1));
      const queued = await store.listDeliveries({ userName: 'ann', subject: task.id, limit: 9 });
      assert.deepEqual(
        queued.map(({ id }) => id),
        [`d${round}-${winner}`],
      );
    }
  });

  test('an existing ledger row stays, and is the cost of the task', async (context) => {
    const { store } = await open(context);
    const task = await addOpenTask(store, 'a');
    const booked = entryOf(task, { charge: { amountNanoUsd: 7n, lines: [] } });
    assert.equal(await store.appendEntries([booked]), 1);
    assert.equal(await store.endTask(endOf(task, { deliveries: [createDelivery('d1')] })), true);
    assert.deepEqual(await store.findEntry(task.callId), booked);
    assert.equal((await store.findTask(find))?.chargedNanoUsd, 7n);
    assert.equal((await deliveriesOf(store)).length, 1);
    assert.equal(await store.appendEntries([entryOf(task)]), 0);
  });

  test('a queued callback is not queued again by the end', async (context) => {
    const { store } = await open(context);
    const task = await addOpenTask(store, 'a');
    await store.insertDeliveries([createDelivery('d1', { payload: 'first' })]);
    assert.equal(await store.endTask(endOf(task, { deliveries: [createDelivery('d1', { payload: 'second' })] })), true);
    assert.deepEqual(
      (await deliveriesOf(store)).map(({ payload }) => payload),
      ['first'],
    );
  });

  test('an end of a missing task, or of one that another works on, changes nothing', async (context) => {
    const { store } = await open(context);
    const task = await addOpenTask(store, 'a');
    await claimIds(store, 'me', startMs);
    const deliveries = [createDelivery('d1')];
    assert.equal(await store.endTask(endOf(task, { id: 'b', deliveries })), false);
    assert.equal(await store.endTask(endOf(task, { owner: 'another', deliveries })), false);
    assert.deepEqual(await store.findTask(find), task);
    assert.deepEqual(await deliveriesOf(store), []);
    assert.equal(await store.findEntry(task.callId), undefined);
    assert.equal(await store.endTask(endOf(task, { owner: 'me', deliveries })), true);
  });

  test('amounts beyond 2^53 are exact, held and charged', async (context) => {
    const { store } = await open(context);
    const amount = 2n ** 60n + 1n;
    const tasks = [];
    for (const id of ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h', 'i']) tasks.push(await addOpenTask(store, id, { heldNanoUsd: amount }));
    await addOpenTask(store, 'z', { userName: 'bob', heldNanoUsd: 1n });
    assert.equal(await store.heldFor('ann'), amount * 9n, 'also if the sum exceeds 64 bits');
    const [task = assert.fail()] = tasks;
    await store.endTask(endOf(task, { entry: entryOf(task, { charge: { amountNanoUsd: amount, lines: [] } }) }));
    const ended = await store.findTask(find);
    assert.deepEqual([ended?.heldNanoUsd, ended?.chargedNanoUsd], [amount, amount]);
    assert.equal((await store.findEntry(task.callId))?.charge.amountNanoUsd, amount);
    assert.equal(await store.heldFor('ann'), amount * 8n, 'an ended task holds nothing');
    assert.equal(await store.heldFor('nobody'), 0n);
  });
}

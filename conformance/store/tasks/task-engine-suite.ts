import assert from 'node:assert/strict';
import { test } from 'node:test';

import { createEntry } from '../call-entries.ts';
import type { StoreUnderTest } from '../store-under-test.ts';
import { startMs, startSeconds } from '../suite-start.ts';
import {
  addEndedTask,
  addOpenTask,
  claimIds,
  createDelivery,
  createTask,
  endOf,
  entryOf,
  mediaOf,
  progressOf,
  second,
} from './task-fixtures.ts';

/** The behaviour of databases for tasks: the books beside them, the state after a restart, and values out of range. */
export function taskEngineSuite(open: () => Promise<StoreUnderTest>): void {
  const day = { startSeconds, endSeconds: startSeconds + 86_400 };
  const query = { ...day, buckets: [day], userName: 'ann', rowsMax: 10 };

  test('an end adds its row to the statistics once, as if it had been appended', async (context) => {
    const engine = await open();
    context.after(engine.close);
    const store = engine.store();
    const task = await addOpenTask(store, 'a');
    assert.equal(await store.endTask(endOf(task)), true);
    assert.equal(await store.endTask(endOf(task)), false);
    const [row, ...rest] = await store.queryStatistics(query);
    assert.deepEqual(rest, []);
    assert.deepEqual([row?.callCount, row?.amountNanoUsd, row?.useTimeMs, row?.tokenName], [1, 350_000_000n, 120, 'ci']);
    const other = await addOpenTask(store, 'b', { userName: 'bob' });
    await store.appendEntries([entryOf(other)]);
    await store.endTask(endOf(other, { entry: entryOf(other, { charge: { amountNanoUsd: 1n, lines: [] } }) }));
    const [ofBob] = await store.queryStatistics({ ...query, userName: 'bob' });
    assert.deepEqual([ofBob?.callCount, ofBob?.amountNanoUsd], [1, 350_000_000n]);
    const refused = createTask('c', { userName: 'cid' });
    await store.insertTask(refused, { owner: 'me', untilMs: startMs });
    const entry = entryOf(refused, { end: 'failed', charge: { amountNanoUsd: 0n, lines: [] } });
    assert.equal(await store.refuseTask({ id: 'c', owner: 'me', entry }), true);
    assert.deepEqual(await store.queryStatistics({ ...query, userName: 'cid' }), [], 'a failed task is not counted');
  });

  test('an end whose row cannot be booked changes nothing, and the task can still end', async (context) => {
    const engine = await open();
    context.after(engine.close);
    const store = engine.store();
    const task = await addOpenTask(store, 'a');
    const deliveries = [createDelivery('d1')];
    const huge = 2n ** 62n;
    await store.appendEntries([
      createEntry('full', { acceptedAtMs: startMs, userName: 'ann', requestedModel: 'm', charge: { amountNanoUsd: huge, lines: [] } }),
    ]);
    const entries = [
      entryOf(task, { charge: { amountNanoUsd: 2n ** 63n, lines: [] } }),
      entryOf(task, { usage: { outputVideoMs: 0.5, outputTokens: 1.5 } }),
      entryOf(task, { durationMs: Number.NaN }),
      entryOf(task, { requestedModel: 'm', charge: { amountNanoUsd: huge, lines: [] } }),
    ];
    for (const entry of entries) {
      const end = store.endTask(endOf(task, { entry, media: mediaOf('a'), deliveries }));
      await assert.rejects(end, { kind: 'entry-out-of-range', callIds: [task.callId] });
      assert.deepEqual(await store.findTask({ userName: 'ann', id: 'a' }), task);
      assert.deepEqual(await store.listDeliveries({ userName: 'ann', limit: 9 }), []);
      assert.equal(await store.findEntry(task.callId), undefined);
    }
    await assert.rejects(store.endTask(endOf(task, { endedAtMs: Number.NaN, deliveries })), { kind: 'constraint' });
    assert.equal(await store.findEntry(task.callId), undefined, 'a row that was booked before the failure is removed with it');
    assert.equal((await store.queryStatistics(query)).length, 1);
    assert.equal(await store.endTask(endOf(task, { deliveries })), true);
  });

  test('everything exists after the database was closed and opened again', async (context) => {
    const engine = await open();
    context.after(engine.close);
    const open1 = await addOpenTask(engine.store(), 'open');
    const ended = await addEndedTask(engine.store(), 'ended', {}, { media: mediaOf('ended'), deliveries: [createDelivery('d1')] });
    const idempotency = { keyId: 'key-1', key: 'once', bodyHash: 'hash', untilMs: startMs + second };
    const intent = createTask('intent');
    await engine.store().insertTask(intent, { owner: 'me', untilMs: startMs + second }, idempotency);
    await claimIds(engine.store(), 'me', startMs, 1);
    const secrets = { userName: 'ann', current: Uint8Array.from([1]), previous: { sealed: Uint8Array.from([2]), untilMs: 3 } };
    await engine.store().putCallbackSecrets(secrets);
    const list = () => engine.store().listTasks({ userName: 'ann', limit: 9, order: 'asc' });
    const before = await list();
    assert.equal(before.length, 3);
    await engine.reopen();
    const store = engine.store();
    assert.deepEqual(await list(), before);
    assert.deepEqual(await store.findEntry(ended.callId), entryOf(ended), 'with its pricing parameters');
    assert.deepEqual(await store.findCallbackSecrets('ann'), secrets);
    assert.equal((await store.claimDeliveries({ owner: 'me', nowMs: startMs, leaseUntilMs: startMs + 1, limit: 9 })).length, 1);
    assert.deepEqual(await store.insertTask(createTask('b'), { owner: 'me', untilMs: startMs }, idempotency), {
      type: 'existing',
      task: intent,
    });
    assert.equal(await store.recordProgress(progressOf(open1, 'me', { phase: 'in_progress' })), true, 'leases, too');
  });

  test('numbers that no row can store are refused at once and delay no other; a fraction of a millisecond is accepted', async (context) => {
    const engine = await open();
    context.after(engine.close);
    const store = engine.store();
    const tasks = [
      await addOpenTask(store, 'a', { nextPollAtMs: startMs - 0.4, createdAtMs: startMs + 0.5 }),
      await addOpenTask(store, 'b'),
    ];
    assert.deepEqual(await claimIds(store, 'me', startMs), ['a', 'b']);
    for (const bad of [{ nextPollAtMs: Number.NaN }, { createdAtMs: Infinity }, { heldNanoUsd: 2n ** 63n }, { progress: 101 }]) {
      const insert = store.insertTask(createTask('bad', bad), { owner: 'me', untilMs: startMs });
      await assert.rejects(insert, { kind: 'constraint' });
    }
    assert.equal(await store.findTask({ userName: 'ann', id: 'bad' }), undefined);
    const recorded = tasks.map((task, index) =>
      store.recordProgress(progressOf(task, 'me', { progress: index === 0 ? Number.NaN : 12.9, nextPollAtMs: startMs + 0.5 })),
    );
    const [first, next] = await Promise.allSettled(recorded);
    assert.deepEqual(
      [first?.status, next],
      ['rejected', { status: 'fulfilled', value: true }],
      'other writes of the same transaction are stored',
    );
    assert.equal((await store.findTask({ userName: 'ann', id: 'b' }))?.progress, 12);
  });

  test('no part of a request remains in the tables after its task was deleted, swept or refused', async (context) => {
    const engine = await open();
    context.after(engine.close);
    const store = engine.store();
    const idempotency = { keyId: 'key-1', key: 'once', bodyHash: 'hash', untilMs: startMs + second };
    const [ended, swept, refused] = [createTask('ended'), createTask('swept'), createTask('refused')];
    await store.insertTask(swept, { owner: 'me', untilMs: startMs }, { ...idempotency, key: 'swept' });
    await store.endTask(endOf(swept, { endedAtMs: startMs }));
    assert.equal(await store.sweepTasks({ endedBeforeMs: startMs + 1, limit: 9 }), 1);
    await store.insertTask(ended, { owner: 'me', untilMs: startMs }, idempotency);
    await store.insertTask(refused, { owner: 'me', untilMs: startMs }, { ...idempotency, key: 'other' });
    await store.endTask(endOf(ended));
    assert.equal((await store.deleteTask({ userName: 'ann', id: 'ended' })).type, 'deleted');
    assert.equal(await store.refuseTask({ id: 'refused', owner: 'me', entry: entryOf(refused) }), true);
    await store.expireMedia({ nowMs: startMs, limit: 9 });
    // The check refuses the count of a table that still has a row.
    for (const table of ['video_tasks', 'video_requests', 'video_idempotency'])
      await engine.tamper(`create table empty_${table} (n bigint check (n = 0)); insert into empty_${table} select count(*) from ${table}`);
  });
}

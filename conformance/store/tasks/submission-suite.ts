import assert from 'node:assert/strict';
import { test } from 'node:test';

import { startMs } from '../suite-start.ts';
import { addEndedTask, claimIds, createTask, endOf, entryOf, type OpenTasks, second } from './task-fixtures.ts';

const lease = { owner: 'me', untilMs: startMs + 30 * second };
const hour = 3600 * second;

/** The behaviour of every store for a task before the upstream has it. */
export function submissionSuite(open: OpenTasks): void {
  const idempotency = { keyId: 'key-1', key: 'once', bodyHash: 'hash-a', untilMs: startMs + 24 * hour };
  const accepted = {
    upstreamTaskId: 'up-1',
    phase: 'queued',
    progress: 5,
    nowMs: startMs + second,
    nextPollAtMs: startMs + 2 * second,
  } as const;

  test('an intent is found before the upstream has it, is read as written, and is changed only by its owner', async (context) => {
    const { store } = await open(context);
    const task = createTask('a', { remixedFrom: 'b', heldUsage: { outputVideoMs: 8700, inputImages: 0 } });
    await store.insertTask(task, lease);
    assert.deepEqual(await store.findTask({ userName: 'ann', id: 'a' }), task);
    assert.equal(await store.acceptTask({ id: 'a', owner: 'another', ...accepted }), false);
    assert.equal(await store.acceptTask({ id: 'unheard-of', owner: 'me', ...accepted }), false);
    assert.deepEqual(await store.findTask({ userName: 'ann', id: 'a' }), task, 'a refused operation changes nothing');
    assert.equal(await store.acceptTask({ id: 'a', owner: 'me', ...accepted }), true);
    const { nowMs: lastPollAtMs, ...rest } = accepted;
    assert.deepEqual(await store.findTask({ userName: 'ann', id: 'a' }), { ...task, ...rest, lastPollAtMs });
    assert.equal(await store.acceptTask({ id: 'a', owner: 'me', ...accepted }), false, 'it is no longer being submitted');
    assert.equal(await store.renewTask({ id: 'a', owner: 'me', leaseUntilMs: startMs + hour }), false, 'the lease was released');
  });

  test('the sealed data for a second submission is replaced once the upstream has the task', async (context) => {
    const { store } = await open(context);
    await store.insertTask(createTask('a', { sealed: new Uint8Array(100_000).fill(7) }), lease);
    const sealed = Uint8Array.from([1, 2, 3]);
    assert.equal(await store.acceptTask({ id: 'a', owner: 'another', ...accepted, sealed }), false);
    assert.equal((await store.findTask({ userName: 'ann', id: 'a' }))?.sealed.length, 100_000);
    assert.equal(await store.acceptTask({ id: 'a', owner: 'me', ...accepted, sealed }), true);
    assert.deepEqual(await store.findTask({ userName: 'ann', id: 'a' }).then((task) => task?.sealed), sealed);
  });

  test('a crash between intent and record: the intent is claimed when its lease has expired, and a late answer is void once it has ended', async (context) => {
    const { store } = await open(context);
    const task = createTask('a');
    await store.insertTask(task, lease);
    assert.deepEqual(await claimIds(store, 'poller', lease.untilMs - 1), []);
    assert.deepEqual(await claimIds(store, 'poller', lease.untilMs), ['a']);
    assert.equal(await store.acceptTask({ id: 'a', owner: 'me', ...accepted }), false, 'the lease is lost');
    const error = { code: 'submission_lost', message: 'lost' } as const;
    assert.equal(await store.endTask(endOf(task, { owner: 'poller', phase: 'failed', error })), true);
    assert.equal(await store.acceptTask({ id: 'a', owner: 'poller', ...accepted }), false);
    assert.equal(await store.refuseTask({ id: 'a', owner: 'poller', entry: entryOf(task) }), false);
    assert.equal((await store.findTask({ userName: 'ann', id: 'a' }))?.phase, 'failed');
  });

  test('a refused intent is deleted with its key, and its ledger row exists once', async (context) => {
    const { store } = await open(context);
    const task = createTask('a');
    const entry = entryOf(task, { end: 'failed', errorCode: 'upstream_rejected', charge: { amountNanoUsd: 0n, lines: [] } });
    await store.insertTask(task, lease, idempotency);
    assert.equal(await store.refuseTask({ id: 'a', owner: 'another', entry }), false);
    assert.equal(await store.findEntry(task.callId), undefined);
    assert.equal(await store.refuseTask({ id: 'a', owner: 'me', entry }), true);
    assert.equal(await store.refuseTask({ id: 'a', owner: 'me', entry }), false);
    assert.deepEqual(await store.findEntry(task.callId), entry);
    assert.equal(await store.findTask({ userName: 'ann', id: 'a' }), undefined);
    assert.deepEqual(await store.insertTask(createTask('b'), lease, { ...idempotency, bodyHash: 'other' }), { type: 'inserted' });
  });

  test('a task that the upstream has cannot be refused any more', async (context) => {
    const { store } = await open(context);
    const task = createTask('a');
    await store.insertTask(task, lease);
    await store.acceptTask({ id: 'a', owner: 'me', ...accepted });
    assert.equal(await store.refuseTask({ id: 'a', owner: 'me', entry: entryOf(task) }), false);
    assert.equal(await store.findEntry(task.callId), undefined);
    const leased = createTask('b', { phase: 'in_progress' });
    await store.insertTask(leased, lease);
    assert.equal(await store.refuseTask({ id: 'b', owner: 'me', entry: entryOf(leased) }), false, 'also by the holder of the lease');
    assert.equal(await store.acceptTask({ id: 'b', owner: 'me', ...accepted }), false);
    assert.deepEqual(await store.findTask({ userName: 'ann', id: 'b' }), leased);
  });

  test('the same request under the same key finds the task in its current state, another one conflicts, and other keys are free', async (context) => {
    const { store } = await open(context);
    const task = createTask('a');
    assert.deepEqual(await store.insertTask(task, lease, idempotency), { type: 'inserted' });
    assert.deepEqual(await store.insertTask(createTask('b'), lease, idempotency), { type: 'existing', task });
    assert.deepEqual(await store.insertTask(createTask('b'), lease, { ...idempotency, bodyHash: 'hash-b' }), { type: 'conflict' });
    assert.equal(await store.findTask({ userName: 'ann', id: 'b' }), undefined);
    for (const [id, other] of [
      ['c', { ...idempotency, keyId: 'key-2' }],
      ['d', { ...idempotency, key: 'Once' }],
      ['e', { ...idempotency, key: '' }],
    ] as const)
      assert.deepEqual(await store.insertTask(createTask(id), lease, other), { type: 'inserted' }, id);
    await store.endTask(endOf(task));
    const again = await store.insertTask(createTask('f'), lease, idempotency);
    assert.equal(again.type === 'existing' && again.task.phase, 'completed');
  });

  test('a key expires at its time, and that of a deleted task is free', async (context) => {
    const { store } = await open(context);
    const insert = (id: string, createdAtMs: number, bodyHash = 'hash-a') =>
      store.insertTask(createTask(id, { createdAtMs }), lease, { ...idempotency, bodyHash, untilMs: createdAtMs + hour });
    assert.equal((await insert('a', startMs)).type, 'inserted');
    assert.equal((await insert('b', startMs + hour - 1)).type, 'existing');
    assert.equal((await insert('b', startMs + hour, 'hash-b')).type, 'inserted');
    assert.equal((await insert('c', startMs + 2 * hour - 1, 'hash-b')).type, 'existing');
    await addEndedTask(store, 'd', { userName: 'bob' });
    await store.endTask(endOf(createTask('b')));
    assert.equal((await store.deleteTask({ userName: 'ann', id: 'b' })).type, 'deleted');
    assert.equal((await insert('e', startMs + hour + 1)).type, 'inserted');
  });

  test('many expired keys do not obstruct one that is used again', async (context) => {
    const { store } = await open(context);
    const insert = async (id: string, index: number, createdAtMs: number, bodyHash: string) => {
      const key = { ...idempotency, key: `key ${index}`, bodyHash, untilMs: createdAtMs + hour };
      return (await store.insertTask(createTask(id, { createdAtMs }), lease, key)).type;
    };
    const indexes = Array.from({ length: 20 }, (_, index) => index);
    for (const index of indexes) assert.equal(await insert(`a${index}`, index, startMs + index, 'hash-a'), 'inserted');
    const overAtMs = startMs + 19 + hour;
    for (const index of indexes.toReversed()) assert.equal(await insert(`b${index}`, index, overAtMs, 'hash-b'), 'inserted');
    for (const index of indexes) assert.equal(await insert(`c${index}`, index, overAtMs, 'hash-b'), 'existing');
  });

  test('the same request twice, simultaneously from two processes, makes one task', async (context) => {
    const { store, another } = await open(context);
    const stores = [store, await another()];
    for (let round = 0; round < 10; round += 1) {
      const key = { ...idempotency, key: `race ${round}` };
      const ids = [0, 1, 2, 3].map((index) => `r${round}-${index}`);
      const outcomes = await Promise.all(ids.map((id, index) => (stores[index % 2] ?? store).insertTask(createTask(id), lease, key)));
      const inserted = ids.filter((_, index) => outcomes[index]?.type === 'inserted');
      assert.equal(inserted.length, 1);
      for (const outcome of outcomes)
        if (outcome.type !== 'inserted') assert.equal(outcome.type === 'existing' && outcome.task.id, inserted[0]);
      const found = await Promise.all(ids.map((id) => store.findTask({ userName: 'ann', id })));
      assert.equal(found.filter((task) => task !== undefined).length, 1);
    }
  });

  test('an id that is in use is refused, and nothing of the second request is stored', async (context) => {
    const { store } = await open(context);
    const task = createTask('a');
    await store.insertTask(task, lease);
    await assert.rejects(store.insertTask(createTask('a', { userName: 'bob' }), lease, idempotency));
    assert.deepEqual(await store.findTask({ userName: 'ann', id: 'a' }), task);
    assert.deepEqual(await store.insertTask(createTask('b'), lease, idempotency), { type: 'inserted' });
  });
}

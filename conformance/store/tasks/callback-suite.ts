import assert from 'node:assert/strict';
import { test } from 'node:test';

import { hostileNames } from '../hostile-names.ts';
import { startMs } from '../suite-start.ts';
import { createDelivery, type OpenTasks, second, type TaskStores } from './task-fixtures.ts';
import { changeAt } from '../../../src/audit/testing/test-change.ts';

const claim = async (store: TaskStores, owner: string, nowMs: number, limit = 100): Promise<readonly string[]> =>
  (await store.claimDeliveries({ owner, nowMs, leaseUntilMs: nowMs + 30 * second, limit })).map(({ id }) => id);

const failed = (id: string, owner: string, nextAttemptAtMs: number) =>
  ({ id, owner, status: 'waiting', attempts: 1, nextAttemptAtMs, lastStatus: 500, lastProblem: 'status 500' }) as const;
const delivered = (id: string, owner: string, deliveredAtMs: number) =>
  ({ id, owner, status: 'delivered', attempts: 2, nextAttemptAtMs: deliveredAtMs, lastStatus: 204, deliveredAtMs }) as const;
const givenUp = (id: string, owner: string, nextAttemptAtMs: number) =>
  ({ id, owner, status: 'given-up', attempts: 9, nextAttemptAtMs, lastProblem: 'no answer' }) as const;

/** The behaviour of every store for callbacks and their secrets. */
export function callbackSuite(open: OpenTasks): void {
  const waiting = { status: 'waiting', attempts: 0, nextAttemptAtMs: startMs } as const;

  test('a delivery is read byte by byte as written, once even if inserted again, by its user alone', async (context) => {
    const { store } = await open(context);
    const odd = hostileNames.map((text, index) =>
      createDelivery(`odd ${index} ${text}`, { payload: JSON.stringify(text), subject: text, eventType: text }),
    );
    await store.insertDeliveries([...odd, createDelivery('d1', { userName: 'bob' })]);
    await store.insertDeliveries([]);
    await store.insertDeliveries([createDelivery('d1', { userName: 'ann', payload: 'other' })]);
    for (const delivery of odd) {
      const found = await store.listDeliveries({ userName: 'ann', subject: delivery.subject, limit: 9 });
      assert.deepEqual(found, [{ ...delivery, ...waiting }]);
    }
    assert.deepEqual(await store.listDeliveries({ userName: 'bob', limit: 9 }), [
      { ...createDelivery('d1', { userName: 'bob' }), ...waiting },
    ]);
    for (const userName of ['cid', 'Bob', '%', '']) assert.deepEqual(await store.listDeliveries({ userName, limit: 9 }), []);
  });

  test('deliveries are listed newest first, up to the limit', async (context) => {
    const { store } = await open(context);
    const ids = ['a', 'b', 'c', 'd'];
    await store.insertDeliveries(
      ids.map((id, index) => createDelivery(id, { createdAtMs: startMs + Math.floor(index / 2), subject: `s${index % 2}` })),
    );
    const list = async (page: { readonly subject?: string; readonly limit: number }) =>
      (await store.listDeliveries({ userName: 'ann', ...page })).map(({ id }) => id);
    assert.deepEqual(await list({ limit: 9 }), ['d', 'c', 'b', 'a']);
    assert.deepEqual(await list({ limit: 3 }), ['d', 'c', 'b']);
    assert.deepEqual(await list({ limit: 9, subject: 's0' }), ['c', 'a']);
    assert.deepEqual(await list({ limit: 9, subject: 's9' }), []);
  });

  test('a due delivery is claimed once, the one that has waited longest first, and again when the lease has expired', async (context) => {
    const { store, another } = await open(context);
    const other = await another();
    const ids = Array.from({ length: 40 }, (_, index) => `d${String(index).padStart(2, '0')}`);
    await store.insertDeliveries(ids.map((id, index) => createDelivery(id, { createdAtMs: startMs + index })));
    assert.deepEqual(await claim(store, 'me', startMs - 1), []);
    assert.deepEqual(await claim(store, 'me', startMs + 1, 9), ['d00', 'd01']);
    const claims = await Promise.all(
      Array.from({ length: 8 }, (_, index) => claim(index % 2 === 0 ? store : other, `owner ${index}`, startMs + 100, 6)),
    );
    assert.deepEqual(claims.flat().toSorted(), ids.slice(2));
    assert.deepEqual(await claim(other, 'late', startMs + 1 + 30 * second, 2), ['d00', 'd01']);
    assert.equal(await store.recordAttempt(delivered('d00', 'me', startMs + 9)), false, 'the lease is lost');
    assert.equal(await store.recordAttempt(delivered('d00', 'late', startMs + 9)), true);
    assert.equal(await store.recordAttempt(delivered('d00', 'late', startMs + 9)), false, 'it was released');
    assert.equal(await store.recordAttempt(delivered('unheard-of', 'me', startMs + 9)), false);
  });

  test('a failed attempt is retried at its time, a delivered one never, and the result is recorded', async (context) => {
    const { store } = await open(context);
    await store.insertDeliveries([createDelivery('d1')]);
    await claim(store, 'me', startMs);
    assert.equal(await store.recordAttempt(failed('d1', 'me', startMs + 5 * second)), true);
    assert.deepEqual(await claim(store, 'me', startMs + 5 * second - 1), []);
    const [again] = await store.claimDeliveries({ owner: 'me', nowMs: startMs + 5 * second, leaseUntilMs: startMs + 9 * second, limit: 1 });
    const reported = { status: 'waiting', attempts: 1, nextAttemptAtMs: startMs + 5 * second, lastStatus: 500, lastProblem: 'status 500' };
    assert.deepEqual(again, { ...createDelivery('d1'), ...reported });
    const { id: _id, owner: _owner, ...outcome } = delivered('d1', 'me', startMs + 6 * second);
    assert.equal(await store.recordAttempt(delivered('d1', 'me', startMs + 6 * second)), true);
    assert.deepEqual(await store.listDeliveries({ userName: 'ann', limit: 1 }), [{ ...createDelivery('d1'), ...outcome }]);
    assert.deepEqual(await claim(store, 'me', startMs + 1e9), []);
  });

  test('a delivery is sent again from the start, by its user alone, also during an attempt', async (context) => {
    const { store } = await open(context);
    await store.insertDeliveries([createDelivery('d1')]);
    const again = { userName: 'ann', id: 'd1', change: changeAt(startMs + 50 * second) };
    const { atMs } = again.change;
    await claim(store, 'me', startMs);
    await store.recordAttempt(givenUp('d1', 'me', startMs + second));
    assert.equal(await store.redeliver({ ...again, userName: 'bob' }), false);
    assert.equal(await store.redeliver({ ...again, id: 'd2' }), false);
    assert.equal(await store.redeliver(again), true);
    const fresh = { ...createDelivery('d1'), ...waiting, nextAttemptAtMs: atMs };
    assert.deepEqual(await store.listDeliveries({ userName: 'ann', limit: 1 }), [fresh]);
    assert.deepEqual(await claim(store, 'me', atMs), ['d1']);
    assert.equal(await store.redeliver({ ...again, change: changeAt(atMs + 1) }), true);
    assert.equal(await store.recordAttempt(delivered('d1', 'me', atMs + 2)), false, 'the running attempt is not the new one');
    assert.deepEqual(await claim(store, 'another', atMs + 1), ['d1']);
  });

  test('a sweep deletes deliveries that ended long ago, up to its limit, and never waiting ones', async (context) => {
    const { store } = await open(context);
    const ids = Array.from({ length: 6 }, (_, index) => `d${index}`);
    await store.insertDeliveries([...ids, 'waits', 'again'].map((id) => createDelivery(id)));
    await claim(store, 'me', startMs);
    for (const [index, id] of ids.entries())
      await store.recordAttempt(index % 2 === 0 ? delivered(id, 'me', startMs + 1000 * index) : givenUp(id, 'me', startMs + 1000 * index));
    await store.recordAttempt(failed('waits', 'me', startMs + 1));
    await store.recordAttempt(givenUp('again', 'me', startMs + 1));
    await store.redeliver({ userName: 'ann', id: 'again', change: changeAt(startMs + 2) });
    assert.equal(await store.sweepDeliveries({ beforeMs: startMs, limit: 10 }), 0);
    assert.equal(await store.sweepDeliveries({ beforeMs: startMs + 3000, limit: 2 }), 2);
    assert.equal(await store.sweepDeliveries({ beforeMs: startMs + 3000, limit: 2 }), 1);
    assert.equal(await store.sweepDeliveries({ beforeMs: startMs + 3000, limit: 2 }), 0);
    assert.equal(await store.sweepDeliveries({ beforeMs: startMs + 1e12, limit: 100 }), 3);
    const left = await store.listDeliveries({ userName: 'ann', limit: 9 });
    assert.deepEqual(left.map(({ id }) => id).toSorted(), ['again', 'waits']);
  });

  test('a delivery that was abandoned without a time is not over before its attempt was due', async (context) => {
    const { store } = await open(context);
    await store.insertDeliveries([createDelivery('d1')]);
    await claim(store, 'me', startMs);
    await store.recordAttempt(givenUp('d1', 'me', 0));
    assert.equal(await store.sweepDeliveries({ beforeMs: startMs, limit: 9 }), 0);
    assert.equal(await store.sweepDeliveries({ beforeMs: startMs + 1, limit: 9 }), 1);
  });

  test('secrets are set, rotated and found by their user', async (context) => {
    const { store, another } = await open(context);
    const other = await another();
    const [first, next] = [Uint8Array.from([0, 255]), Uint8Array.from([7])];
    for (const userName of ['ann', ...hostileNames]) {
      assert.equal(await store.findCallbackSecrets(userName), undefined);
      await store.putCallbackSecrets({ userName, current: first });
      assert.deepEqual(await store.findCallbackSecrets(userName), { userName, current: first });
      const rotated = { userName, current: next, previous: { sealed: first, untilMs: startMs } };
      await store.putCallbackSecrets(rotated);
      assert.deepEqual(await other.findCallbackSecrets(userName), rotated);
      await store.putCallbackSecrets({ userName, current: next });
      assert.deepEqual(await store.findCallbackSecrets(userName), { userName, current: next }, 'the one before is gone');
    }
    assert.equal(await store.findCallbackSecrets('bob'), undefined);
  });
}

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';

import { FairScheduler } from './fair-scheduler.ts';

const never = new AbortController().signal;
const settle = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

describe('fair scheduler', () => {
  test('tenants take turns, even if one of them has many requests', async () => {
    const scheduler = new FairScheduler({ atOnceMax: 1, atOncePerTenantMax: 1, waitingMax: 100, waitingPerTenantMax: 100 });
    const order: string[] = [];
    const enter = async (tenant: string): Promise<void> => {
      const leave = await scheduler.enter(tenant, never);
      order.push(tenant);
      await settle();
      leave?.();
    };
    await Promise.all(['a', 'a', 'a', 'a', 'b', 'b', 'c'].map(enter));
    assert.deepEqual(order, ['a', 'b', 'c', 'a', 'b', 'a', 'a']);
    assert.deepEqual([scheduler.atOnce, scheduler.waiting], [0, 0]);
  });

  test('a tenant at its limit is skipped, and a free slot stays free', async () => {
    const scheduler = new FairScheduler({ atOnceMax: 2, atOncePerTenantMax: 1, waitingMax: 100, waitingPerTenantMax: 100 });
    const leave = await scheduler.enter('a', never);
    const second = scheduler.enter('a', never);
    const other = await scheduler.enter('b', never);
    assert.deepEqual([scheduler.atOnce, scheduler.waiting], [2, 1]);
    other?.();
    await settle();
    assert.deepEqual([scheduler.atOnce, scheduler.waiting], [1, 1]);
    leave?.();
    leave?.();
    (await second)?.();
    assert.deepEqual([scheduler.atOnce, scheduler.waiting], [0, 0]);
  });

  test('an aborted request leaves the queue', async () => {
    const scheduler = new FairScheduler({ atOnceMax: 1, atOncePerTenantMax: 1, waitingMax: 2, waitingPerTenantMax: 1 });
    const leave = await scheduler.enter('a', never);
    const leaving = new AbortController();
    const waiting = scheduler.enter('a', leaving.signal);
    assert.equal(await scheduler.enter('a', never), undefined);
    leaving.abort(new Error('left'));
    await assert.rejects(waiting, /left/);
    assert.equal(scheduler.waiting, 0);
    const next = scheduler.enter('b', never);
    leave?.();
    assert.equal(typeof (await next), 'function');
  });
});

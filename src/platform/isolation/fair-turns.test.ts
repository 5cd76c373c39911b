import assert from 'node:assert/strict';
import { describe, test } from 'node:test';

import { FairTurns } from './fair-turns.ts';

const never = new AbortController().signal;
const settle = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

describe('fair turns', () => {
  test('tenants take turns, however much one of them asks for', async () => {
    const turns = new FairTurns({ atOnceMax: 1, atOncePerTenantMax: 1, waitingMax: 100, waitingPerTenantMax: 100 });
    const order: string[] = [];
    const enter = async (tenant: string): Promise<void> => {
      const leave = await turns.enter(tenant, never);
      order.push(tenant);
      await settle();
      leave?.();
    };
    await Promise.all(['a', 'a', 'a', 'a', 'b', 'b', 'c'].map(enter));
    assert.deepEqual(order, ['a', 'b', 'c', 'a', 'b', 'a', 'a']);
    assert.deepEqual([turns.atOnce, turns.waiting], [0, 0]);
  });

  test('a tenant at its limit is passed over, and a turn that is free stays free', async () => {
    const turns = new FairTurns({ atOnceMax: 2, atOncePerTenantMax: 1, waitingMax: 100, waitingPerTenantMax: 100 });
    const leave = await turns.enter('a', never);
    const second = turns.enter('a', never);
    const other = await turns.enter('b', never);
    assert.deepEqual([turns.atOnce, turns.waiting], [2, 1]);
    other?.();
    await settle();
    assert.deepEqual([turns.atOnce, turns.waiting], [1, 1]);
    leave?.();
    leave?.();
    (await second)?.();
    assert.deepEqual([turns.atOnce, turns.waiting], [0, 0]);
  });

  test('whoever gives up leaves the queue', async () => {
    const turns = new FairTurns({ atOnceMax: 1, atOncePerTenantMax: 1, waitingMax: 2, waitingPerTenantMax: 1 });
    const leave = await turns.enter('a', never);
    const leaving = new AbortController();
    const waiting = turns.enter('a', leaving.signal);
    assert.equal(await turns.enter('a', never), undefined);
    leaving.abort(new Error('left'));
    await assert.rejects(waiting, /left/);
    assert.equal(turns.waiting, 0);
    const next = turns.enter('b', never);
    leave?.();
    assert.equal(typeof (await next), 'function');
  });
});

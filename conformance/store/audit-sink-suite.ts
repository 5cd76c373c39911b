import assert from 'node:assert/strict';
import { test } from 'node:test';

import { changeAt } from '../../src/audit/testing/test-change.ts';
import { type StoreUnderTest, useEngine } from './store-under-test.ts';

/** The contract of every store for the positions of audit sinks. */
export function auditSinkSuite(open: () => Promise<StoreUnderTest>): void {
  const engine = useEngine(open);

  test('a sink is leased while it is behind, by one process until the lease ends, and its position is kept', async () => {
    const store = engine().store();
    const claim = (owner: string, nowMs: number) => store.claimAuditSink({ name: 'siem', owner, nowMs, leaseUntilMs: nowMs + 100 });
    await store.ensureUser({ id: 'sink-user', name: 'sink-user', createdAtMs: 1 }, changeAt(1));
    const { sequence } = await store.auditHead();
    assert.equal(await claim('a', 1000), 0);
    assert.equal(await claim('b', 1050), undefined);
    assert.equal(await claim('b', 1100), 0);
    assert.equal(await store.advanceAuditSink({ name: 'siem', owner: 'a', sequence }), false);
    assert.equal(await store.advanceAuditSink({ name: 'siem', owner: 'b', sequence }), true);
    assert.equal(await claim('a', 5000), undefined);
    await store.ensureUser({ id: 'sink-user-2', name: 'sink-user-2', createdAtMs: 2 }, changeAt(2));
    assert.equal(await claim('a', 5000), sequence);
  });
}

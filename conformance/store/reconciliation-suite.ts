import assert from 'node:assert/strict';
import { test } from 'node:test';

import { changeAt } from '../../src/audit/testing/test-change.ts';
import { reconciliationsKeptMs, type StoredReconciliation } from '../../src/billing/reconciliation/reconciliation-store.ts';
import { type StoreUnderTest, useEngine } from './store-under-test.ts';

const createdAtMs = 1_800_000_000_000;
const stored = (id: string, more: Partial<StoredReconciliation> = {}): StoredReconciliation => ({
  id,
  createdAtMs,
  actor: 'person:fin',
  vendor: 'openai',
  kind: 'usage',
  timeZone: 'UTC',
  startMs: 100,
  endMs: 200,
  tolerance: '0.5',
  prices: 'in_force',
  file: { name: 'export "of" ü.json', bytes: 12, sha256: 'ab' },
  ...more,
});

/** The contract of every store for reconciliations. */
export function reconciliationSuite(open: () => Promise<StoreUnderTest>): void {
  const engine = useEngine(open);

  test('a reconciliation is kept with its account, gets its result, and is found by vendor and time', async () => {
    const store = engine().store();
    const account = JSON.stringify({ text: '\0 \ud800 "x"' });
    await store.insertReconciliation(stored('rec_1'), account);
    await store.insertReconciliation(stored('rec_2', { upstream: 'second', startMs: 200, endMs: 300 }), '{}');
    await store.insertReconciliation(stored('rec_3', { vendor: 'google', kind: 'costs', createdAtMs: createdAtMs + 1 }), '{}');
    assert.deepEqual(await store.findReconciliation('rec_1'), stored('rec_1'));
    assert.deepEqual(await store.readReconciliation('rec_1'), { account });
    assert.equal(await store.findReconciliation('rec_9'), undefined);
    const list = async (query: object) => (await store.queryReconciliations({ limit: 10, ...query })).map(({ id }) => id);
    assert.deepEqual(await list({}), ['rec_3', 'rec_2', 'rec_1']);
    assert.deepEqual(await list({ after: { createdAtMs, id: 'rec_2' } }), ['rec_1']);
    assert.deepEqual(await list({ vendor: 'openai', upstream: 'second' }), ['rec_2']);
    assert.deepEqual(await list({ vendor: 'openai', fromMs: 199, toMs: 200 }), ['rec_1']);
    assert.deepEqual(await list({ fromMs: 200, toMs: 201 }), ['rec_2']);
    await store.setReconciliationOperation('rec_1', 'op_1');
    const summary = { compared: 3, differing: 2, over: 1, listNanoUsd: '-12' };
    await store.finishReconciliation('rec_1', { result: '{"a":1}', summary, endedAtMs: 900 });
    assert.deepEqual(await store.findReconciliation('rec_1'), { ...stored('rec_1'), operationId: 'op_1', summary, endedAtMs: 900 });
    assert.deepEqual(await store.readReconciliation('rec_1'), { account, result: '{"a":1}' });
    await store.dropReconciliation('rec_1');
    await store.dropReconciliation('rec_2');
    assert.deepEqual(await list({}), ['rec_3', 'rec_1'], 'one with a result stays');
  });

  test('a note and an acceptance are changed apart, once for each version, and are in the audit log', async () => {
    const store = engine().store();
    await store.insertReconciliation(stored('rec_4', { vendor: 'anthropic' }), '{}');
    const change = { ...changeAt(50), actor: 'person:fin' };
    assert.equal(await store.changeReconciliation('rec_4', { note: 'the vendor rounds', accepted: true }, change), true);
    assert.equal(await store.changeReconciliation('rec_4', { accepted: true }, { ...change, atMs: 60 }), true);
    const accepted = await store.findReconciliation('rec_4');
    assert.deepEqual([accepted?.note, accepted?.accepted], ['the vendor rounds', { atMs: 50, by: 'person:fin' }]);
    await assert.rejects(store.changeReconciliation('rec_4', { note: null }, { ...change, expectedVersion: 0 }), {
      kind: 'version-mismatch',
    });
    await store.changeReconciliation('rec_4', { note: null, accepted: false }, change);
    const open = await store.findReconciliation('rec_4');
    assert.deepEqual([open?.note, open?.accepted], [undefined, undefined]);
    assert.equal(await store.changeReconciliation('rec_9', { note: 'x' }, change), false);
    const rows = await store.listAudit({ subject: 'reconciliation:rec_4', limit: 5 });
    assert.deepEqual([rows.length, rows[2]?.after], [3, JSON.stringify({ note: 'the vendor rounds', accepted: true })]);
  });

  test('old reconciliations are deleted when another one is made', async () => {
    const store = engine().store();
    await store.insertReconciliation(stored('rec_old', { createdAtMs: createdAtMs - reconciliationsKeptMs }), '{}');
    await store.insertReconciliation(stored('rec_new'), '{}');
    assert.ok((await store.findReconciliation('rec_old')) !== undefined, 'its last day is not over');
    await store.insertReconciliation(stored('rec_newer', { createdAtMs: createdAtMs + 1 }), '{}');
    assert.equal(await store.findReconciliation('rec_old'), undefined);
  });
}

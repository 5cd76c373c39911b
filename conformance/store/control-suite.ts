import assert from 'node:assert/strict';
import { test } from 'node:test';

import { findOverride, type NodeDescription, type NodeReport } from '../../src/control/nodes/node-state.ts';
import { type StoreUnderTest, useEngine } from './store-under-test.ts';

const change = (atMs: number) => ({ actor: 'person:ann', via: 'api', atMs }) as const;
const report = { program: 'gateway', host: '\0\ud800', targets: [] } as unknown as NodeReport;
const description: NodeDescription = { upstreams: [], models: [], config: [] };

/** The contract of every store for the state of gateways and the orders of operators. */
export function controlSuite(open: () => Promise<StoreUnderTest>): void {
  const engine = useEngine(open);

  test('a gateway is listed after its description, keeps it in later reports, and is gone after its end', async () => {
    const store = engine().store();
    await store.putNodeState({ nodeId: 'a/0', atMs: 10, report });
    assert.deepEqual(await store.listNodeStates(0), []);
    await store.putNodeState({ nodeId: 'a/0', atMs: 11, report, description });
    await store.putNodeState({ nodeId: 'a/0', atMs: 20, report });
    await store.putNodeState({ nodeId: 'b/0', atMs: 15, report, description });
    assert.deepEqual(await store.listNodeStates(16), [{ nodeId: 'a/0', atMs: 20, report, description }]);
    assert.deepEqual(await store.listControlReports(16), [{ nodeId: 'a/0', atMs: 20, report }]);
    await store.removeNodeState('a/0', 0);
    assert.deepEqual(
      (await store.listNodeStates(0)).map(({ nodeId }) => nodeId),
      ['b/0'],
    );
    await store.removeNodeState('other', 16);
    assert.deepEqual(await store.listNodeStates(0), []);
  });

  test('an order about a target holds until its end, for every process, and is audited', async () => {
    const store = engine().store();
    const another = await engine().openAnother();
    const order = { targetId: 'openai/\0gpt', reason: 'slow', actor: 'person:ann', setAtMs: 100, untilMs: 200 };
    const stored = { ...order, targetId: 'openai/\ufffdgpt' };
    await store.putOverride(order, change(100));
    assert.deepEqual((await another.readControl(199)).overrides, [stored]);
    assert.deepEqual((await another.readControl(200)).overrides, []);
    await store.putOverride({ ...order, untilMs: 300 }, change(110));
    assert.deepEqual(await another.listOverrides(250), [{ ...stored, untilMs: 300 }]);
    await assert.rejects(store.removeOverride(order.targetId, { ...change(120), expectedVersion: 1 }), { kind: 'version-mismatch' });
    assert.equal(await store.removeOverride(order.targetId, change(120)), true);
    assert.equal(await store.removeOverride(order.targetId, change(121)), false);
    const audit = await store.listAudit({ subject: `target:${stored.targetId}`, limit: 9 });
    assert.deepEqual(
      audit.map(({ action }) => action),
      ['targets.put_back', 'targets.take_out', 'targets.take_out'],
    );
  });

  test('orders to reload are numbered, also if many come at once, and the time of watching only grows', async () => {
    const store = engine().store();
    const another = await engine().openAnother();
    const numbers = await Promise.all([store, another, store, another].map((each) => each.orderReload(change(1))));
    assert.deepEqual(
      numbers.toSorted((a, b) => a - b),
      [1, 2, 3, 4],
    );
    await store.watchNodes(500);
    await another.watchNodes(400);
    const { reloads, watchedUntilMs } = await store.readControl(0);
    assert.deepEqual([reloads, watchedUntilMs], [4, 500]);
  });

  test('questions about limits are numbered, also if many come at once, and listed for half a minute', async () => {
    const store = engine().store();
    const another = await engine().openAnother();
    assert.deepEqual([await store.listLimitQuestions(), (await store.readControl(0)).limitQuestions], [[], 0]);
    const organization = { scope: 'organization', id: '' } as const;
    const user = { scope: 'user', id: 'u' } as const;
    const asked = [store, another, store, another].map((each, index) =>
      each.askLimitUse([{ scope: 'key', id: `k${index}` }, user, organization], 1000),
    );
    assert.deepEqual(
      (await Promise.all(asked)).toSorted((a, b) => a - b),
      [1, 2, 3, 4],
    );
    assert.equal((await another.readControl(0)).limitQuestions, 4);
    assert.equal((await another.listLimitQuestions()).length, 6);
    assert.equal(await store.askLimitUse([user], 31_000), 5);
    assert.equal((await store.listLimitQuestions()).length, 6);
    assert.equal(await store.askLimitUse([{ scope: 'model', id: 'a\0b' }], 31_001), 6);
    assert.deepEqual(await another.listLimitQuestions(), [{ scope: 'model', id: 'a\ufffdb' }, user]);
  });

  test('an order is for a model of a credential, all models of it, or all credentials of an upstream', () => {
    const subject = { upstreamId: 'openai', credentialId: 'openai#2~0a1b2c', upstreamModel: 'gpt-5' };
    const isOut = (targetId: string, untilMs = 9): boolean =>
      findOverride([{ targetId, untilMs, reason: '', actor: '', setAtMs: 0 }], subject, 5) !== undefined;
    for (const id of ['openai#2/gpt-5', 'openai#2/*', 'openai/gpt-5', 'openai/*']) assert.ok(isOut(id), id);
    for (const id of ['openai#1/gpt-5', 'openai#2/gpt-5-mini', 'open/*', '*']) assert.ok(!isOut(id), id);
    assert.ok(!isOut('openai/*', 5));
  });
}

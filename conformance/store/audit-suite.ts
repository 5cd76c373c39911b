import assert from 'node:assert/strict';
import { test } from 'node:test';

import { verifyAudit } from '../../src/audit/verify-audit.ts';
import { changeAt } from '../../src/audit/testing/test-change.ts';
import type { Store } from '../../src/store/store.ts';
import { type StoreUnderTest, useEngine } from './store-under-test.ts';

const newest = async (store: Store, count: number) => (await store.listAudit({ limit: count })).toReversed();

/** The contract of every store for the audit log. */
export function auditSuite(open: () => Promise<StoreUnderTest>): void {
  const engine = useEngine(open);

  async function createKey(label: string): Promise<string> {
    const store = engine().store();
    const user = await store.ensureUser({ id: `user-${label}`, name: label, createdAtMs: 1 }, changeAt(1));
    const id = `key-${label}`;
    const names = { userId: user.id, userName: user.name, name: 'ci', hint: 'abcd', createdAtMs: 2, strictTranslation: false };
    assert.equal(await store.insertApiKey({ id, ...names, hash: `secret-hash-${label}` }, changeAt(2)), true);
    return id;
  }

  test('the life of a key is in the log, with what it was before and after, and without its hash', async () => {
    const store = engine().store();
    const id = await createKey('life');
    await store.setApiKeyDisabled(id, 3, { ...changeAt(3), note: 'lost', address: '10.0.0.1', requestId: 'req_1' });
    await store.changeApiKeyLimits(id, { requestsPerMinute: 60 }, changeAt(4));
    await store.deleteApiKey(id, changeAt(5));
    const rows = await newest(store, 5);
    assert.deepEqual(
      rows.map(({ action, subject }) => `${action} ${subject}`),
      ['users.create user:life', `keys.create key:${id}`, `keys.disable key:${id}`, `keys.update key:${id}`, `keys.delete key:${id}`],
    );
    const [, created, disabled, limited, deleted] = rows;
    assert.equal(created?.before, undefined);
    assert.equal(disabled?.before, created?.after);
    assert.deepEqual([disabled?.note, disabled?.address, disabled?.requestId], ['lost', '10.0.0.1', 'req_1']);
    assert.match(limited?.after ?? '', /"requestsPerMinute":60/);
    assert.equal(deleted?.after, undefined);
    assert.doesNotMatch(JSON.stringify(rows), /secret-hash/);
  });

  test('a change that changes nothing adds no row', async () => {
    const store = engine().store();
    const id = await createKey('same');
    const before = await store.auditHead();
    assert.equal(await store.setApiKeyStrictTranslation(id, false, changeAt(3)), true);
    assert.equal(await store.deleteApiKey('no-such-key', changeAt(3)), false);
    await store.ensureUser({ id: 'another', name: 'same', createdAtMs: 9 }, changeAt(9));
    assert.deepEqual(await store.auditHead(), before);
  });

  test('money, prices and callback secrets leave a row each', async () => {
    const store = engine().store();
    await createKey('payer');
    const owner = { level: 'user', userName: 'payer' } as const;
    const posting = { transactionId: 'top_up:1', kind: 'top_up', owner, amountNanoUsd: 5n, against: 'deposits' } as const;
    const posted = { ...posting, postedAtMs: 10, actor: 'ann', note: 'invoice 7' };
    assert.equal((await store.postTransaction(posted, changeAt(10))).status, 'posted');
    assert.equal((await store.postTransaction(posted, changeAt(11))).status, 'known');
    await store.putCallbackSecrets({ userName: 'payer', current: Buffer.from('sealed'), change: changeAt(12) });
    const [topUp, secret] = await newest(store, 2);
    assert.deepEqual([topUp?.action, topUp?.subject, topUp?.note], ['credits.top_up', 'user:payer', 'invoice 7']);
    assert.match(topUp?.after ?? '', /"balanceNanoUsd":"5"/);
    assert.equal(secret?.action, 'callback_secrets.rotate');
  });

  test('changes of several processes at once make one unbroken chain', async () => {
    const stores = [engine().store(), await engine().openAnother()];
    const before = await engine().store().auditHead();
    await Promise.all(
      Array.from({ length: 40 }, async (_, index) => {
        const name = `racer-${index}`;
        await (stores[index % 2] ?? assert.fail()).ensureUser({ id: name, name, createdAtMs: index }, changeAt(index));
      }),
    );
    const verdict = await verifyAudit(engine().store());
    assert.equal(verdict.brokenAt, undefined);
    assert.equal(verdict.rows, before.sequence + 40);
  });

  test('rows are listed by actor, way, action, subject and time, page after page', async () => {
    const store = engine().store();
    await store.ensureUser({ id: 'listed', name: 'listed', createdAtMs: 1 }, { actor: 'person:ann', via: 'api', atMs: 500 });
    const [row] = await store.listAudit({ actor: 'person:ann', limit: 10 });
    assert.equal(row?.subject, 'user:listed');
    assert.deepEqual(await store.listAudit({ subject: 'user:listed', action: 'users.create', via: 'api', limit: 10 }), [row]);
    assert.deepEqual(await store.listAudit({ actor: 'person:ann', fromMs: 500, toMs: 501, limit: 10 }), [row]);
    assert.deepEqual(await store.listAudit({ actor: 'person:ann', fromMs: 501, limit: 10 }), []);
    assert.deepEqual(await store.listAudit({ actor: 'person:ann', before: row?.sequence ?? 0, limit: 10 }), []);
  });

  test('a database shell cannot change or delete rows, and what it adds breaks the chain', async () => {
    const { tamper, store } = engine();
    await assert.rejects(tamper("update audit_log set actor = 'nobody'"));
    await assert.rejects(tamper('delete from audit_log'));
    const { sequence } = await store().auditHead();
    await tamper(
      `insert into audit_log (sequence, at_ms, actor, via, action, subject, hash) values (${sequence + 1}, 1, 'x', 'cli', 'x', 'x', 'x')`,
    );
    await tamper(`update audit_head set sequence = ${sequence + 1}, hash = 'x'`);
    assert.equal((await verifyAudit(store())).brokenAt, sequence + 1);
  });
}

import assert from 'node:assert/strict';
import { test } from 'node:test';

import type { KeySession } from '../../src/accounts/people/keys/key-session.ts';
import { changeAt } from '../../src/audit/testing/test-change.ts';
import { type StoreUnderTest, useEngine } from './store-under-test.ts';

/** The contract of every store for sessions that an API key or a billing token has opened. */
export function keySessionSuite(open: () => Promise<StoreUnderTest>): void {
  const engine = useEngine(open);
  /** Tests share a database: each has sessions of a holder of its own. */
  const session = (label: string, changes: Partial<KeySession> = {}): KeySession & { readonly tokenHash: string } => ({
    id: `kse_${label}`,
    way: 'api_key',
    holderId: 'found',
    secretHash: 'secret-hash',
    holderVersion: 3,
    createdAtMs: 100,
    expiresAtMs: 10_000,
    tokenHash: `token-${label}`,
    ...changes,
  });
  const stored = ({ tokenHash: _token, ...kept }: KeySession & { readonly tokenHash: string }): KeySession => kept;

  test('a session is found by the hash of its token in every process, with what it was opened with, and no other way', async () => {
    const store = engine().store();
    const full = session('a', { address: '2001:db8::1', userAgent: 'Zebra/1 (😀; "x\'--)' });
    const plain = session('b', { way: 'billing_token', holderVersion: 0 });
    await store.openKeySession(full, changeAt(100));
    await store.openKeySession(plain, changeAt(101));
    const another = await engine().openAnother();
    assert.deepEqual(await another.findKeySession('token-a'), stored(full));
    assert.deepEqual(await another.findKeySession('token-b'), stored(plain));
    for (const wrong of ['token-c', 'secret-hash', 'kse_a', '']) assert.equal(await another.findKeySession(wrong), undefined);
    await assert.rejects(store.openKeySession({ ...session('c'), tokenHash: 'token-a' }, changeAt(102)), { kind: 'constraint' });
    assert.deepEqual(await store.findKeySession('token-a'), stored(full));
  });

  test('an end is of one session, or of all of a key but not of a token with the same id; each is in the audit log without hashes', async () => {
    const store = engine().store();
    const holderId = 'ending';
    for (const label of ['e1', 'e2', 'e3']) await store.openKeySession(session(label, { holderId }), changeAt(100));
    await store.openKeySession(session('token', { way: 'billing_token', holderId }), changeAt(100));
    const end = { way: 'api_key', holderId } as const;
    assert.equal(await store.endKeySessions({ ...end, sessionId: 'kse_e1' }, changeAt(200)), 1);
    assert.equal(await store.endKeySessions({ ...end, sessionId: 'kse_e1' }, changeAt(201)), 0);
    assert.equal(await store.endKeySessions({ ...end, holderId: 'other' }, changeAt(202)), 0);
    assert.equal(await store.endKeySessions(end, changeAt(203)), 2);
    assert.equal(await store.findKeySession('token-e2'), undefined);
    assert.ok(await store.findKeySession('token-token'));
    const rows = await store.listAudit({ subject: 'key_session:ending', limit: 20 });
    assert.deepEqual(
      rows.map(({ action }) => action),
      ['sessions.end', 'sessions.end', ...['e1', 'e2', 'e3', 'token'].map(() => 'sessions.create')],
    );
    assert.doesNotMatch(JSON.stringify(rows), /secret-hash|token-e/);
    assert.equal(await store.subjectVersion('key:ending'), 0, 'the version of the key is not that of its sessions');
  });

  test('an expired session goes with the next one, and of more than 50 sessions of a key the oldest go', async () => {
    const store = engine().store();
    const holderId = 'many';
    await store.openKeySession(session('old', { holderId, expiresAtMs: 500 }), changeAt(100));
    await store.openKeySession(session('other', { holderId: 'another', createdAtMs: 1 }), changeAt(100));
    for (let count = 0; count < 51; count += 1) {
      const label = `s${String(count).padStart(2, '0')}`;
      await store.openKeySession(session(label, { holderId, createdAtMs: 1000 + count }), changeAt(1000 + count));
    }
    assert.equal(await store.findKeySession('token-old'), undefined);
    assert.equal(await store.findKeySession('token-s00'), undefined);
    assert.ok(await store.findKeySession('token-s01'));
    assert.ok(await store.findKeySession('token-s50'));
    assert.ok(await store.findKeySession('token-other'), 'a session of another key stays');
    assert.equal(await store.endKeySessions({ way: 'api_key', holderId }, changeAt(2000)), 50);
  });
}

import assert from 'node:assert/strict';
import { test } from 'node:test';

import { changeAt } from '../../src/audit/testing/test-change.ts';
import type { Store } from '../../src/store/store.ts';
import { type StoreUnderTest, useEngine } from './store-under-test.ts';

/** The contract of every store for keys of the playground, which end with their session. */
export function playgroundKeySuite(open: () => Promise<StoreUnderTest>): void {
  const engine = useEngine(open);
  const store = (): Store => engine().store();

  async function signIn(label: string): Promise<string> {
    const id = `per_${label}`;
    const person = { id, name: `Player ${label}`, role: 'viewer', users: [], createdAtMs: 5 } as const;
    if ((await store().findPerson({ id })) === undefined) await store().insertPerson(person, changeAt(5));
    const times = { createdAtMs: 100, signedInAtMs: 100, tokenSinceMs: 100, usedAtMs: 100, expiresAtMs: 10_000 };
    const session = { id: `ses_${label}_${Math.random()}`, way: 'link', ...times } as const;
    const opening = { session, tokenHash: session.id, by: { personId: id }, idleBeforeMs: 0 };
    await store().openSession(opening, { via: 'api', atMs: 100 });
    return session.id;
  }
  async function addKey(sessionId: string, keyId: string, expiresAtMs = 5000, keysMax = 3): Promise<boolean> {
    const user = await store().ensureUser({ id: 'pu1', name: 'player', createdAtMs: 1 }, changeAt(1));
    const key = { id: keyId, userId: user.id, userName: user.name, name: keyId, hint: 'x', createdAtMs: 1, strictTranslation: false };
    await store().insertApiKey({ ...key, hash: `hash ${keyId}` }, changeAt(1));
    return await store().insertPlaygroundKey({ keyId, sessionId, createdAtMs: 200, expiresAtMs, sealed: Buffer.from(keyId) }, keysMax);
  }
  const listed = async (sessionId: string, nowMs = 300) => (await store().listPlaygroundKeys(sessionId, nowMs)).map(({ keyId }) => keyId);
  const opens = async (keyId: string): Promise<boolean> => (await store().findApiKeyByHash(`hash ${keyId}`)) !== undefined;

  test('a session has its keys with their sealed secrets, up to the most, and none after its end', async () => {
    const [first, second] = [await signIn('a'), await signIn('a')];
    for (const [session, keyId] of [
      [first, 'pk1'],
      [first, 'pk2'],
      [second, 'pk3'],
    ] as const)
      assert.equal(await addKey(session, keyId, 5000, 2), true);
    assert.equal(await addKey(first, 'pk4', 5000, 2), false, 'it has the most');
    assert.equal(await addKey('ses_none', 'pk5'), false, 'no such session');
    const [key] = await store().listPlaygroundKeys(second, 300);
    assert.deepEqual([key?.userName, key?.name, Buffer.from(key?.sealed ?? []).toString()], ['player', 'pk3', 'pk3']);
    assert.deepEqual(await listed(first, 5000), [], 'an expired key is not listed');
    const version = await store().keysVersion();
    await store().endSessions({ personId: 'per_a', sessionId: first }, changeAt(400));
    assert.deepEqual([await opens('pk1'), await opens('pk2'), await opens('pk3')], [false, false, true]);
    assert.ok((await store().keysVersion()) > version, 'gateways notice it');
    assert.equal((await store().listAudit({ subject: 'key:pk1', limit: 1 }))[0]?.action, 'keys.delete');
    assert.equal(await store().endPlaygroundKey({ keyId: 'pk3', sessionId: first }, changeAt(500)), false);
    assert.equal(await store().endPlaygroundKey({ keyId: 'pk3', sessionId: second }, changeAt(500)), true);
    assert.equal(await opens('pk3'), false);
  });

  test('a person who is disabled, has a new role or password, or is deleted loses its keys; others keep theirs', async () => {
    const ways: Readonly<Record<string, (id: string) => Promise<unknown>>> = {
      pdisabled: (id) => store().changePerson({ id }, { disabled: true }, changeAt(600)),
      prole: (id) => store().changePerson({ id }, { role: 'finance' }, changeAt(600)),
      ppassword: (id) => store().setPasswordHash({ personId: id, hash: 'h' }, changeAt(600)),
      pdeleted: (id) => store().deletePerson({ id }, changeAt(600)),
    };
    await addKey(await signIn('other'), 'pother');
    for (const [label, end] of Object.entries(ways)) {
      assert.equal(await addKey(await signIn(label), label), true);
      await end(`per_${label}`);
      assert.deepEqual([await opens(label), await opens('pother')], [false, true], label);
    }
  });

  test('a sweep ends keys that have expired, and those of sessions that are over', async () => {
    const [busy, idle] = [await signIn('busy'), await signIn('idle')];
    await store().noteSessionUse({ sessionId: busy, usedAtMs: 900 });
    await addKey(busy, 'sw1', 5000);
    await addKey(busy, 'sw2', 950);
    await addKey(idle, 'sw3', 5000);
    await store().sweepPlaygroundKeys(500, changeAt(1000));
    assert.deepEqual([await opens('sw1'), await opens('sw2'), await opens('sw3')], [true, false, false]);
    assert.equal(await store().sweepPlaygroundKeys(500, changeAt(1001)), 0);
  });
}

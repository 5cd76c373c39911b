import assert from 'node:assert/strict';
import { test } from 'node:test';

import { changeAt } from '../../src/audit/testing/test-change.ts';
import { type StoreUnderTest, useEngine } from './store-under-test.ts';

const object = (name: string, userId: string, fromMs: number) => ({
  place: 'folder:1',
  name,
  userId,
  user: `name-of-${userId}`,
  fromMs,
  toMs: fromMs + 10,
  records: 2,
  bytes: 300,
  nowMs: fromMs + 20,
});
const page = { place: 'folder:1', beforeMs: undefined, limit: 10 };

/** The contract of every store for recorded content: choices of keys and teams, objects, and erasure. */
export function contentSuite(open: () => Promise<StoreUnderTest>): void {
  const engine = useEngine(open);

  test('an erasure covers objects and later notes of calls before its moment, of this user only, and is audited', async () => {
    const store = engine().store();
    const user = await store.ensureUser({ id: 'cu1', name: 'content-user', createdAtMs: 1 }, changeAt(1));
    for (const [name, userId, fromMs] of [
      ['a', user.id, 100],
      ['b', user.id, 200],
      ['c', 'other', 100],
    ] as const) {
      assert.equal(await store.noteObject(object(name, userId, fromMs)), true);
      assert.equal(await store.confirmObject({ place: 'folder:1', name }), true);
    }
    assert.equal(await store.eraseContent({ userName: 'nobody', beforeMs: 150 }, changeAt(400)), undefined);
    const erasure = await store.eraseContent({ userName: 'content-user', beforeMs: 150 }, changeAt(400));
    assert.deepEqual(erasure, { userId: user.id, user: 'content-user', beforeMs: 150, orderedAtMs: 400, objectsLeft: 1 });
    assert.deepEqual(await store.listRemovableObjects(page), ['a']);
    assert.deepEqual(await store.listRemovableObjects({ ...page, place: 'folder:2' }), []);
    // An object that was being written when the order came is deleted by its writer.
    assert.equal(await store.confirmObject({ place: 'folder:1', name: 'a' }), false);
    assert.equal(await store.noteObject(object('a', user.id, 200)), false);
    assert.equal(await store.noteObject(object('d', user.id, 149)), false);
    assert.equal(await store.noteObject(object('e', user.id, 150)), true);
    await store.forgetObjects({ place: 'folder:1', names: ['a'] });
    // An earlier moment does not take back a later one.
    await store.eraseContent({ userName: 'content-user', beforeMs: 120 }, changeAt(500));
    const [listed] = await store.listErasures();
    assert.deepEqual([listed?.beforeMs, listed?.orderedAtMs, listed?.objectsLeft], [150, 500, 0]);
    const [row] = await store.listAudit({ action: 'content.erase', limit: 1 });
    assert.deepEqual([row?.subject, row?.sequence !== undefined], ['content:content-user', true]);
  });

  test('a batch that is sent again notes its objects again, and old objects are listed for deletion', async () => {
    const store = engine().store();
    const key = { place: 'folder:9', name: 'x' };
    const noted = { ...object('x', 'again', 100), place: 'folder:9' };
    assert.equal(await store.noteObject(noted), true);
    assert.equal(await store.noteObject({ ...noted, bytes: 400 }), true);
    assert.equal(await store.confirmObject(key), true);
    assert.deepEqual(await store.listRemovableObjects({ place: 'folder:9', beforeMs: 110, limit: 10 }), []);
    assert.deepEqual(await store.listRemovableObjects({ place: 'folder:9', beforeMs: 111, limit: 10 }), ['x']);
    await store.forgetObjects({ place: 'folder:9', names: ['x'] });
    assert.equal(await store.confirmObject(key), false);
  });

  test('keys and teams carry their choice, and a change is in the audit log', async () => {
    const store = engine().store();
    const user = await store.ensureUser({ id: 'cu2', name: 'content-chooser', createdAtMs: 1 }, changeAt(1));
    const key = { id: 'ck2', userId: user.id, userName: user.name, name: 'k', hint: 'abcd', createdAtMs: 1, strictTranslation: false };
    await store.insertApiKey({ ...key, hash: 'content-hash', content: 'masked' }, changeAt(1));
    await store.insertTeam({ id: 'ct2', name: 'content-choosers', createdAtMs: 1 }, changeAt(1));
    await store.setUserTeam(user.name, 'content-choosers', changeAt(2));
    const version = await store.keysVersion();
    assert.equal(await store.changeTeam('content-choosers', { content: 'full' }, changeAt(3)), true);
    assert.equal(await store.changeTeam('no-such-team', { content: 'full' }, changeAt(3)), false);
    const found = await store.findApiKeyByHash('content-hash');
    assert.deepEqual([found?.content, found?.team?.content], ['masked', 'full']);
    assert.ok((await store.keysVersion()) > version);
    await store.editApiKey(key.id, { content: null }, changeAt(4));
    await store.changeTeam('content-choosers', { content: null }, changeAt(5));
    const after = await store.findApiKeyByHash('content-hash');
    assert.deepEqual([after?.content, after?.team?.content], [undefined, undefined]);
    const [row] = await store.listAudit({ subject: 'team:content-choosers', limit: 1 });
    assert.match(row?.before ?? '', /"content":"full"/);
  });

  test('a capture takes as many calls as ordered, of calls that began in time, within the bytes of all captures', async () => {
    const store = engine().store();
    const user = await store.ensureUser({ id: 'cu3', name: 'capture-user', createdAtMs: 1 }, changeAt(1));
    const key = { id: 'ck3', userId: user.id, userName: user.name, name: 'k', hint: 'abcd', createdAtMs: 1, strictTranslation: false };
    const order = { keyId: key.id, keyName: key.name, userName: user.name, taken: 0, createdAtMs: 1000, untilMs: 2000, createdBy: 'ann' };
    assert.equal(await store.insertCapture({ ...order, id: 'cap0', calls: 2 }, changeAt(1000)), false, 'there is no such key');
    await store.insertApiKey({ ...key, hash: 'capture-hash' }, changeAt(1));
    assert.equal(await store.insertCapture({ ...order, id: 'cap1', calls: 2 }, changeAt(1000)), true);
    assert.equal(await store.insertCapture({ ...order, id: 'cap2', calls: 2 }, changeAt(1001)), false, 'one is open');
    assert.deepEqual(
      (await store.openCaptures(1500)).map(({ id }) => id),
      ['cap1'],
    );
    assert.deepEqual(await store.openCaptures(2000), []);
    const keep = (callId: string, atMs: number, allBytesMax = 1000) =>
      store.keepWires({
        callId,
        captureId: 'cap1',
        atMs,
        nowMs: 1500,
        expiresAtMs: 9000,
        allBytesMax,
        sealed: Buffer.from(`sealed ${callId}`),
      });
    assert.equal(await keep('late', 2000), 'over');
    assert.equal(await keep('large', 1500, 5), 'full');
    assert.equal(await keep('one', 1500), 'kept');
    assert.equal(await keep('two', 1999), 'kept');
    assert.equal(await keep('three', 1500), 'over');
    assert.deepEqual(await store.openCaptures(1500), []);
    const find = (callId: string, users: 'all' | readonly string[], nowMs = 8999) => store.findWires({ callId, users, nowMs });
    assert.equal(Buffer.from((await find('one', ['capture-user']))?.sealed ?? []).toString(), 'sealed one');
    assert.equal(await find('one', ['somebody']), undefined);
    assert.equal(await find('one', []), undefined);
    assert.equal(await find('one', 'all', 9000), undefined, 'a day is over');
    const [listed] = await store.listCaptures({ users: ['capture-user'], nowMs: 3000 });
    assert.deepEqual([listed?.taken, listed?.kept.map(({ callId }) => callId)], [2, ['two', 'one']]);
    assert.deepEqual(await store.listCaptures({ users: [], nowMs: 3000 }), []);
    await store.sweepCaptures(9000);
    assert.deepEqual((await store.listCaptures({ users: 'all', nowMs: 3000 }))[0]?.kept, []);
    await store.sweepCaptures(2000 + 24 * 3_600_000);
    assert.deepEqual(await store.listCaptures({ users: 'all', nowMs: 3000 }), []);
  });

  test('a deleted capture has no calls, takes none, and both are in the audit log', async () => {
    const store = engine().store();
    const user = await store.ensureUser({ id: 'cu4', name: 'capture-ender', createdAtMs: 1 }, changeAt(1));
    const key = { id: 'ck4', userId: user.id, userName: user.name, name: 'k', hint: 'abcd', createdAtMs: 1, strictTranslation: false };
    await store.insertApiKey({ ...key, hash: 'capture-hash-4' }, changeAt(1));
    const order = { keyId: key.id, keyName: key.name, userName: user.name, taken: 0, createdAtMs: 1000, untilMs: 2000, createdBy: 'ann' };
    await store.insertCapture({ ...order, id: 'cap4', calls: 2 }, changeAt(1000));
    const call = { captureId: 'cap4', atMs: 1500, nowMs: 1500, expiresAtMs: 9000, allBytesMax: 1000, sealed: Buffer.from('x') };
    assert.equal(await store.keepWires({ ...call, callId: 'c4' }), 'kept');
    assert.equal(await store.deleteCapture('cap4', changeAt(1600)), true);
    assert.equal(await store.deleteCapture('cap4', changeAt(1600)), false);
    assert.equal(await store.findWires({ callId: 'c4', users: 'all', nowMs: 1600 }), undefined);
    assert.equal(await store.keepWires({ ...call, callId: 'c5' }), 'over');
    const rows = await store.listAudit({ subject: 'capture:cap4', limit: 5 });
    assert.deepEqual(
      rows.map(({ action }) => action),
      ['captures.delete', 'captures.create'],
    );
  });
}

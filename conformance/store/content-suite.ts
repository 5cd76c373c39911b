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
    assert.equal(await store.changeTeamContent('content-choosers', 'full', changeAt(3)), true);
    assert.equal(await store.changeTeamContent('no-such-team', 'full', changeAt(3)), false);
    const found = await store.findApiKeyByHash('content-hash');
    assert.deepEqual([found?.content, found?.team?.content], ['masked', 'full']);
    assert.ok((await store.keysVersion()) > version);
    await store.editApiKey(key.id, { content: null }, changeAt(4));
    await store.changeTeamContent('content-choosers', undefined, changeAt(5));
    const after = await store.findApiKeyByHash('content-hash');
    assert.deepEqual([after?.content, after?.team?.content], [undefined, undefined]);
    const [row] = await store.listAudit({ subject: 'team:content-choosers', limit: 1 });
    assert.match(row?.before ?? '', /"content":"full"/);
  });
}

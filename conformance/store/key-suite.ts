import assert from 'node:assert/strict';
import { test } from 'node:test';

import type { StoredApiKey } from '../../src/accounts/api-key.ts';
import type { KeyQuery } from '../../src/accounts/key-store.ts';
import type { UserQuery } from '../../src/accounts/user-query.ts';
import { changeAt } from '../../src/audit/testing/test-change.ts';
import { useEngine } from './store-under-test.ts';
import type { StoreUnderTest } from './store-under-test.ts';

const everything = { users: 'all', order: 'oldest', limit: 1000 } as const;

/** The contract of every store for lists of keys, for two secrets of one key, and for the last use. */
export function keySuite(open: () => Promise<StoreUnderTest>): void {
  const engine = useEngine(open);

  async function createKey(owner: string, label: string, changes: Partial<StoredApiKey> = {}): Promise<StoredApiKey> {
    const store = engine().store();
    const user = await store.ensureUser({ id: `user-${owner}`, name: owner, createdAtMs: 1 }, changeAt());
    const names = { userId: user.id, userName: user.name, name: label, hint: 'abcd', hash: `hash-${owner}-${label}` };
    const key = { id: `${owner}-${label}`, createdAtMs: 2, strictTranslation: false, ...names, ...changes };
    assert.equal(await store.insertApiKey(key, changeAt()), true);
    return key;
  }
  const ids = async (query: Partial<KeyQuery>): Promise<readonly string[]> =>
    (
      await engine()
        .store()
        .queryApiKeys({ ...everything, ...query })
    ).map(({ id }) => id);

  test('a rotated key is found by its new and its previous hash; a second rotation removes the one before', async () => {
    const store = engine().store();
    const key = await createKey('rotating', 'a');
    const taken = await createKey('rotating', 'b');
    const version = await store.keysVersion();
    const rotate = (keyId: string, hash: string, until: number) =>
      store.rotateApiKey({ keyId, hash, hint: 'new1', previousOpensUntilMs: until }, changeAt(7));
    assert.equal(await rotate(key.id, taken.hash, 50), false, 'the hash of another key');
    assert.equal(await rotate('nobody', 'r-2', 50), false);
    assert.equal(await store.keysVersion(), version);
    assert.equal(await rotate(key.id, 'r-2', 50), true);
    const rotated = { ...key, hash: 'r-2', hint: 'new1', previousHash: key.hash, previousOpensUntilMs: 50 };
    assert.deepEqual(await store.findApiKeyByHash('r-2'), rotated);
    assert.deepEqual(await store.findApiKeyByHash(key.hash), rotated);
    assert.equal(await store.keysVersion(), version + 1);
    assert.equal(await rotate(key.id, 'r-3', 60), true);
    assert.equal(await store.findApiKeyByHash(key.hash), undefined);
    assert.equal((await store.findApiKeyByHash('r-2'))?.hash, 'r-3');
    const [row] = await store.listAudit({ limit: 1 });
    assert.deepEqual([row?.action, row?.subject], ['keys.rotate', `key:${key.id}`]);
    assert.doesNotMatch(JSON.stringify(row), /r-2|r-3|hash-/, 'the log has no hash');
    await store.deleteApiKey(key.id, changeAt(9));
    assert.deepEqual([await store.findApiKeyByHash('r-2'), await store.findApiKeyByHash('r-3')], [undefined, undefined]);
    assert.equal(await rotate(key.id, 'r-4', 60), false);
  });

  test('several options change at once, and only for an author who saw the last change', async () => {
    const store = engine().store();
    const key = await createKey('edited', 'a');
    const seen = await store.subjectVersion(`key:${key.id}`);
    const edit = { strictTranslation: true, responseRetentionDays: 3, limits: { requestsPerMinute: 5 }, disabledAtMs: 9 };
    assert.equal(await store.editApiKey(key.id, edit, { ...changeAt(8), expectedVersion: seen }), true);
    const [changed] = await store.queryApiKeys({ ...everything, ids: [key.id] });
    assert.deepEqual(
      [changed?.strictTranslation, changed?.responseRetentionDays, changed?.limits, changed?.disabledAtMs],
      [true, 3, { requestsPerMinute: 5 }, 9],
    );
    const stale = store.editApiKey(key.id, { disabledAtMs: null }, { ...changeAt(9), expectedVersion: seen });
    await assert.rejects(stale, { kind: 'version-mismatch' });
    assert.equal((await store.queryApiKeys({ ...everything, ids: [key.id] }))[0]?.disabledAtMs, 9, 'nothing was changed');
    const now = await store.subjectVersion(`key:${key.id}`);
    assert.equal(now > seen, true);
    const removal = { disabledAtMs: null, responseRetentionDays: null, limits: { requestsPerMinute: null } };
    assert.equal(await store.editApiKey(key.id, removal, { ...changeAt(9), expectedVersion: now }), true);
    const [plain] = await store.queryApiKeys({ ...everything, ids: [key.id] });
    assert.deepEqual([plain?.disabledAtMs, plain?.responseRetentionDays, plain?.limits], [undefined, undefined, undefined]);
    assert.equal(await store.editApiKey('nobody', {}, changeAt(9)), false);
  });

  test('a present secret comes before an equal previous one', async () => {
    const store = engine().store();
    const old = await createKey('reuse', 'old');
    await store.rotateApiKey({ keyId: old.id, hash: 'reuse-2', hint: 'x', previousOpensUntilMs: 5 }, changeAt());
    const next = await createKey('reuse', 'next', { hash: old.hash });
    assert.equal((await store.findApiKeyByHash(old.hash))?.id, next.id);
  });

  test('the last use is written at most once a minute, never goes back, and ends with the key', async () => {
    const store = engine().store();
    const another = await engine().openAnother();
    const key = await createKey('used', 'a', { createdAtMs: 5 });
    const idle = await createKey('used', 'b', { createdAtMs: 5 });
    const lastUse = async () => (await store.queryApiKeys({ ...everything, ids: [key.id] }))[0]?.lastUsedAtMs;
    assert.equal(await lastUse(), undefined);
    const version = await store.keysVersion();
    for (const [noting, usedAtMs, expected] of [
      [store, 100_000, 100_000],
      [another, 159_999, 100_000],
      [another, 160_000, 160_000],
      [store, 10_000, 160_000],
    ] as const) {
      await noting.noteApiKeyUses([key.id, 'nobody'], usedAtMs);
      assert.equal(await lastUse(), expected);
    }
    assert.equal(await store.keysVersion(), version, 'a use loads no keys again');
    assert.deepEqual(await ids({ userName: 'used', unusedSinceMs: 160_001 }), [key.id, idle.id]);
    assert.deepEqual(await ids({ userName: 'used', unusedSinceMs: 160_000 }), [idle.id]);
    assert.deepEqual(await ids({ userName: 'used', unusedSinceMs: 5 }), []);
    await store.deleteApiKey(key.id, changeAt());
    await store.noteApiKeyUses([key.id], 900_000);
    assert.deepEqual(await ids({ userName: 'used' }), [idle.id]);
    assert.deepEqual(await store.countApiKeys('used'), { all: 1, enabled: 1 }, 'deleted keys do not count');
    await store.setApiKeyDisabled(idle.id, 950_000, changeAt());
    assert.deepEqual(await store.countApiKeys('used'), { all: 1, enabled: 0 });
    assert.deepEqual(await store.countApiKeys('nobody'), { all: 0, enabled: 0 });
  });

  test('two processes that note the same keys in different orders both succeed', async () => {
    const stores = [engine().store(), await engine().openAnother()];
    const keys = await Promise.all(['a', 'b', 'c', 'd'].map((label) => createKey('noted', label)));
    const keyIds = keys.map(({ id }) => id);
    await Promise.all(
      Array.from({ length: 20 }, (_, round) =>
        (stores[round % 2] ?? assert.fail()).noteApiKeyUses(round % 2 === 0 ? keyIds : keyIds.toReversed(), 100_000 * (round + 1)),
      ),
    );
    const listed = await engine()
      .store()
      .queryApiKeys({ ...everything, userName: 'noted' });
    assert.deepEqual(
      listed.map(({ lastUsedAtMs }) => lastUsedAtMs),
      keyIds.map(() => 2_000_000),
    );
  });

  test('keys are listed by the expiry of the key or of its owner, which follows every change of limits', async () => {
    const store = engine().store();
    await createKey('expiring', 'soon', { limits: { expiresAtMs: 100 } });
    await createKey('expiring', 'late', { limits: { expiresAtMs: 900 } });
    await createKey('expiring', 'never', { limits: { concurrency: 1 } });
    await createKey('owned', 'key');
    const users = ['expiring', 'owned'];
    assert.deepEqual(await ids({ users, expiresBeforeMs: 101 }), ['expiring-soon']);
    assert.deepEqual(await ids({ users, expiresBeforeMs: 100 }), []);
    assert.deepEqual(await ids({ users, expiresBeforeMs: 901, expiresFromMs: 101 }), ['expiring-late']);
    await store.changeUserLimits('owned', { expiresAtMs: 100 }, changeAt());
    await store.changeApiKeyLimits('expiring-never', { expiresAtMs: 100 }, changeAt());
    await store.changeApiKeyLimits('expiring-soon', { expiresAtMs: null }, changeAt());
    assert.deepEqual((await ids({ users, expiresBeforeMs: 101 })).toSorted(), ['expiring-never', 'owned-key']);
  });

  test('a list has only the keys of the given users, ids and states; pages begin after a key in either order', async () => {
    const store = engine().store();
    for (const [index, label] of ['e', 'd', 'c', 'b', 'a'].entries()) await createKey('paged', label, { createdAtMs: index < 3 ? 10 : 20 });
    await createKey('unseen', 'x');
    await store.setApiKeyDisabled('paged-d', 5, changeAt());
    assert.deepEqual(await ids({ users: [] }), []);
    assert.deepEqual(await ids({ users: ['paged', 'nobody'], ids: ['paged-a', 'unseen-x', 'never'] }), ['paged-a']);
    assert.deepEqual(await ids({ users: 'all', ids: [] }), []);
    assert.deepEqual(await ids({ users: ['paged'], isEnabled: false }), ['paged-d']);
    assert.equal((await ids({ users: ['paged'], isEnabled: true })).length, 4);
    const oldest = ['paged-c', 'paged-d', 'paged-e', 'paged-a', 'paged-b'];
    for (const [order, expected] of [
      ['oldest', oldest],
      ['newest', oldest.toReversed()],
    ] as const) {
      const read: string[] = [];
      for (let after: { createdAtMs: number; id: string } | undefined; ;) {
        const page = await store.queryApiKeys({ users: ['paged'], order, limit: 2, ...(after === undefined ? {} : { after }) });
        read.push(...page.map(({ id }) => id));
        after = page.at(-1);
        if (page.length < 2) break;
      }
      assert.deepEqual(read, expected);
    }
    assert.ok((await store.queryApiKeys({ ...everything, users: ['paged'] })).every((key) => !('hash' in key) && !('previousHash' in key)));
  });

  test('keys and users are found by a part of their names in whatever case, and users by their team, page by page', async () => {
    const store = engine().store();
    for (const label of ['Nightly Build', '100_percent', 'plain']) await createKey('Searcher.One', label);
    await createKey('searcher-two', 'other', { hint: 'zQx9' });
    assert.deepEqual(await ids({ text: 'nightLY' }), ['Searcher.One-Nightly Build']);
    assert.equal((await ids({ text: 'searcher' })).length, 4);
    assert.deepEqual(await ids({ text: 'zqX9', users: ['searcher-two'] }), ['searcher-two-other']);
    assert.deepEqual(await ids({ text: 'searcher', users: ['searcher-two'] }), ['searcher-two-other'], 'of users that may be seen');
    for (const text of ['_', '%', '\\', "'"]) assert.deepEqual(await ids({ text, users: ['searcher-two'] }), [], `${text} is a character`);
    assert.deepEqual(await ids({ text: '0_p' }), ['Searcher.One-100_percent']);

    const names = async (query: Omit<UserQuery, 'limit'>) => (await store.queryUsers({ limit: 100, ...query })).map(({ name }) => name);
    const all = { users: 'all', text: 'SEARCHER' } as const;
    assert.deepEqual((await names(all)).toSorted(), ['Searcher.One', 'searcher-two']);
    assert.deepEqual(await names({ ...all, users: ['searcher-two', 'nobody'] }), ['searcher-two']);
    assert.deepEqual(await names({ ...all, users: [] }), []);
    assert.deepEqual(
      [await names({ users: 'all', name: 'searcher-two' }), await names({ users: 'all', name: 'Searcher-Two' })],
      [['searcher-two'], []],
    );
    await store.insertTeam({ id: 'team-searched', name: 'searched', createdAtMs: 5 }, changeAt());
    await store.setUserTeam('searcher-two', 'searched', changeAt());
    assert.deepEqual(await names({ users: 'all', teamName: 'searched' }), ['searcher-two']);
    const whole = await store.listUsers();
    const read: string[] = [];
    for (let after: { createdAtMs: number; id: string } | undefined; ;) {
      const page = await store.queryUsers({ users: 'all', limit: 2, ...(after !== undefined && { after }) });
      read.push(...page.map(({ name }) => name));
      after = page.at(-1);
      if (page.length < 2) break;
    }
    assert.deepEqual(
      read,
      whole.map(({ name }) => name),
    );
  });
}

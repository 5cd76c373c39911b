import assert from 'node:assert/strict';
import { test } from 'node:test';

import type { StoredApiKey } from '../../src/accounts/api-key.ts';
import { hostileNames } from './hostile-names.ts';
import { useEngine } from './store-under-test.ts';
import type { StoreUnderTest } from './store-under-test.ts';
import { changeAt } from '../../src/audit/testing/test-change.ts';

/** The contract of every store for users, keys and tokens. */
export function accountsSuite(open: () => Promise<StoreUnderTest>): void {
  const engine = useEngine(open);

  async function createKey(label: string, changes: Partial<StoredApiKey> = {}): Promise<StoredApiKey> {
    const user = await engine()
      .store()
      .ensureUser({ id: `user-${label}`, name: `user ${label}`, createdAtMs: 1 }, changeAt());
    return {
      id: `key-${label}`,
      userId: user.id,
      userName: user.name,
      name: 'ci',
      hint: 'abcd',
      createdAtMs: 2,
      strictTranslation: false,
      hash: `hash-${label}`,
      ...changes,
    };
  }

  test('the pepper is random, created once and the same for every handle', async () => {
    const pepper = await engine().store().pepper();
    assert.match(pepper, /^[0-9a-f]{64}$/);
    const another = await engine().openAnother();
    assert.equal(await another.pepper(), pepper);
    await engine().reopen();
    assert.equal(await engine().store().pepper(), pepper);
  });

  test('a user with an existing name is found, not created again', async () => {
    const store = engine().store();
    const first = await store.ensureUser({ id: 'user-a', name: 'Alice', createdAtMs: 1 }, changeAt());
    assert.deepEqual(await store.ensureUser({ id: 'user-b', name: 'Alice', createdAtMs: 2 }, changeAt()), first);
    assert.equal((await store.ensureUser({ id: 'user-c', name: 'alice', createdAtMs: 3 }, changeAt())).id, 'user-c');
  });

  test('twenty handles that create one user simultaneously agree on it', async () => {
    const stores = [engine().store(), await engine().openAnother()];
    const users = await Promise.all(
      Array.from({ length: 20 }, (_, index) =>
        (stores[index % 2] ?? assert.fail()).ensureUser({ id: `racer-${index}`, name: 'racer', createdAtMs: index }, changeAt()),
      ),
    );
    assert.equal(new Set(users.map((user) => user.id)).size, 1);
  });

  test('a key is read back completely, disabled and enabled again', async () => {
    const store = engine().store();
    const key = await createKey('life');
    const before = await store.keysVersion();
    assert.equal(await store.insertApiKey(key, changeAt()), true);
    assert.deepEqual(await store.findApiKeyByHash(key.hash), key);
    assert.equal(await store.setApiKeyDisabled(key.id, 77, changeAt()), true);
    assert.deepEqual(await store.findApiKeyByHash(key.hash), { ...key, disabledAtMs: 77 });
    assert.equal(await store.setApiKeyDisabled(key.id, undefined, changeAt()), true);
    assert.deepEqual(await store.findApiKeyByHash(key.hash), key);
    assert.equal(await store.setApiKeyStrictTranslation(key.id, true, changeAt()), true);
    assert.deepEqual(await store.findApiKeyByHash(key.hash), { ...key, strictTranslation: true });
    for (const disconnectPolicy of ['drain', 'deliver', 'abort'] as const) {
      assert.equal(await store.setApiKeyDisconnect(key.id, disconnectPolicy, changeAt()), true);
      assert.equal((await store.findApiKeyByHash(key.hash))?.disconnectPolicy, disconnectPolicy);
    }
    assert.equal(await store.setApiKeyDisconnect(key.id, undefined, changeAt()), true);
    for (const responseRetentionDays of [0, 7]) {
      assert.equal(await store.setApiKeyRetention(key.id, responseRetentionDays, changeAt()), true);
      assert.deepEqual(await store.findApiKeyByHash(key.hash), { ...key, strictTranslation: true, responseRetentionDays });
    }
    assert.equal(await store.setApiKeyRetention(key.id, undefined, changeAt()), true);
    assert.deepEqual(await store.findApiKeyByHash(key.hash), { ...key, strictTranslation: true });
    assert.equal(await store.deleteApiKey(key.id, changeAt(99)), true);
    assert.equal(await store.findApiKeyByHash(key.hash), undefined);
    assert.ok((await store.keysVersion()) >= before + 5);
  });

  test('limits of a key and of its owner are read back, changed one by one and removed', async () => {
    const store = engine().store();
    const key = await createKey('limited', { limits: { requestsPerMinute: 60, models: ['gpt-5*'] } });
    await store.insertApiKey(key, changeAt());
    const version = await store.keysVersion();
    assert.deepEqual(await store.findApiKeyByHash(key.hash), key);
    assert.equal(
      await store.changeApiKeyLimits(key.id, { requestsPerMinute: null, addresses: ['10.0.0.0/8'], expiresAtMs: 9 }, changeAt()),
      true,
    );
    const limits = { models: ['gpt-5*'], addresses: ['10.0.0.0/8'], expiresAtMs: 9 };
    assert.deepEqual(await store.findApiKeyByHash(key.hash), { ...key, limits });
    assert.equal(await store.changeUserLimits(key.userName, { tokensPerMinute: 5, concurrency: 1 }, changeAt()), true);
    const userLimits = { tokensPerMinute: 5, concurrency: 1 };
    assert.deepEqual(await store.findApiKeyByHash(key.hash), { ...key, limits, userLimits });
    assert.deepEqual((await store.listUsers()).find(({ id }) => id === key.userId)?.limits, userLimits);
    await store.changeApiKeyLimits(key.id, { models: null, addresses: null, expiresAtMs: null }, changeAt());
    await store.changeUserLimits(key.userName, { tokensPerMinute: null, concurrency: null }, changeAt());
    const { limits: _none, ...unlimited } = key;
    assert.deepEqual(await store.findApiKeyByHash(key.hash), unlimited);
    assert.equal(await store.keysVersion(), version + 4);
    assert.equal(await store.changeUserLimits('nobody', { concurrency: 1 }, changeAt()), false);
  });

  test('simultaneous changes of limits by two handles all arrive', async () => {
    const store = engine().store();
    const other = await engine().openAnother();
    const key = await createKey('raced');
    await store.insertApiKey(key, changeAt());
    await Promise.all([
      store.changeApiKeyLimits(key.id, { requestsPerMinute: 1 }, changeAt()),
      other.changeApiKeyLimits(key.id, { concurrency: 2 }, changeAt()),
    ]);
    assert.deepEqual((await store.findApiKeyByHash(key.hash))?.limits, { requestsPerMinute: 1, concurrency: 2 });
  });

  test('the name and the hash of an existing key are refused and nothing changes; those of a deleted key are free', async () => {
    const store = engine().store();
    const key = await createKey('unique');
    await store.insertApiKey(key, changeAt());
    const version = await store.keysVersion();
    assert.equal(await store.insertApiKey({ ...key, id: 'other-id', hash: 'other-hash' }, changeAt()), false);
    assert.equal(await store.insertApiKey({ ...key, id: 'other-id', name: 'other' }, changeAt()), false);
    assert.equal(await store.keysVersion(), version);
    await store.deleteApiKey(key.id, changeAt(5));
    const reborn = { ...key, id: 'reborn' };
    assert.equal(await store.insertApiKey(reborn, changeAt()), true);
    assert.deepEqual(await store.findApiKeyByHash(key.hash), reborn);
  });

  test('changes of a missing or deleted key return false and leave the version', async () => {
    const store = engine().store();
    const key = await createKey('gone');
    await store.insertApiKey(key, changeAt());
    await store.deleteApiKey(key.id, changeAt(5));
    const version = await store.keysVersion();
    for (const id of [key.id, 'never']) {
      assert.equal(await store.setApiKeyDisabled(id, 1, changeAt()), false);
      assert.equal(await store.setApiKeyDisabled(id, undefined, changeAt()), false);
      assert.equal(await store.setApiKeyStrictTranslation(id, true, changeAt()), false);
      assert.equal(await store.changeApiKeyLimits(id, { concurrency: 1 }, changeAt()), false);
      assert.equal(await store.deleteApiKey(id, changeAt(1)), false);
    }
    assert.equal(await store.keysVersion(), version);
  });

  test('keys are listed oldest first, disabled ones included, deleted ones not', async () => {
    const store = engine().store();
    const keys = await Promise.all([
      createKey('list', {
        id: 'list-b',
        name: 'b',
        hash: 'list-b',
        createdAtMs: 1002,
        strictTranslation: true,
        responseRetentionDays: 0,
        disconnectPolicy: 'drain',
      }),
      createKey('list', { id: 'list-a', name: 'a', hash: 'list-a', createdAtMs: 1001, disabledAtMs: 4 }),
      createKey('list', { id: 'list-c', name: 'c', hash: 'list-c', createdAtMs: 1003 }),
    ]);
    for (const key of keys) await store.insertApiKey(key, changeAt());
    await store.deleteApiKey('list-c', changeAt(9));
    const listed = (await store.listApiKeys()).filter((key) => key.id.startsWith('list-'));
    assert.deepEqual(listed, [keys[1], keys[0]]);
    const all = await store.listApiKeys();
    const paged: (typeof all)[number][] = [];
    for (
      let page = await store.listApiKeys({ limit: 2 });
      page.length > 0;
      page = await store.listApiKeys({ after: page.at(-1), limit: 2 })
    ) {
      assert.ok(page.length <= 2);
      paged.push(...page);
    }
    assert.deepEqual(paged, all);
    await store.changeApiKeyLimits('list-a', { spendPerDay: '5' }, changeAt());
    const limited = (await store.listLimitedApiKeys()).filter((key) => key.id.startsWith('list-'));
    assert.deepEqual(
      limited.map(({ id, limits }) => [id, limits?.spendPerDay]),
      [['list-a', '5']],
    );
    await store.changeApiKeyLimits('list-a', { spendPerDay: null }, changeAt());
    assert.deepEqual(
      (await store.listLimitedApiKeys()).filter((key) => key.id.startsWith('list-')),
      [],
    );
  });

  test('another handle gets a change and its version at once', async () => {
    const another = await engine().openAnother();
    const before = await another.keysVersion();
    const key = await createKey('seen');
    await engine().store().insertApiKey(key, changeAt());
    assert.ok((await another.keysVersion()) > before);
    assert.deepEqual(await another.findApiKeyByHash(key.hash), key);
  });

  test('billing tokens are unique by name and hash, with and without a user, and deleted permanently', async () => {
    const store = engine().store();
    const all = { id: 'token-all', name: 'finance', createdAtMs: 1 };
    const one = { id: 'token-one', name: 'alice only', userName: 'Alice', createdAtMs: 2 };
    assert.equal(await store.insertBillingToken({ ...all, hash: 'bt-1' }, changeAt()), true);
    assert.equal(await store.insertBillingToken({ ...one, hash: 'bt-2' }, changeAt()), true);
    assert.equal(await store.insertBillingToken({ ...all, id: 'x', hash: 'bt-3' }, changeAt()), false);
    assert.equal(await store.insertBillingToken({ ...all, id: 'x', name: 'x', hash: 'bt-1' }, changeAt()), false);
    assert.deepEqual(await store.findBillingTokenByHash('bt-2'), one);
    assert.deepEqual(await store.listBillingTokens(), [all, one]);
    assert.equal(await store.deleteBillingToken('token-all', changeAt()), true);
    assert.equal(await store.deleteBillingToken('token-all', changeAt()), false);
    assert.equal(await store.findBillingTokenByHash('bt-1'), undefined);
  });

  test('hostile names are data', async () => {
    const store = engine().store();
    for (const [index, hostile] of hostileNames.entries()) {
      const user = await store.ensureUser({ id: `hostile-${index}`, name: hostile, createdAtMs: 1 }, changeAt());
      assert.equal(user.name, hostile);
      const key = await createKey('x', { id: `hk-${index}`, userId: user.id, userName: hostile, name: hostile, hash: hostile });
      assert.equal(await store.insertApiKey(key, changeAt()), true);
      assert.deepEqual(await store.findApiKeyByHash(hostile), key);
    }
  });

  test('a rotated billing token is found by both secrets and by none before them; its last use only grows', async () => {
    const store = engine().store();
    await store.insertBillingToken({ id: 'rotating', name: 'rotating', createdAtMs: 5, expiresAtMs: 99, hash: 'rot-1' }, changeAt());
    await store.insertBillingToken({ id: 'other', name: 'other', createdAtMs: 5, hash: 'rot-taken' }, changeAt());
    assert.equal(await store.rotateBillingToken({ tokenId: 'rotating', hash: 'rot-taken', previousOpensUntilMs: 50 }, changeAt()), false);
    assert.equal(await store.rotateBillingToken({ tokenId: 'nobody', hash: 'rot-2', previousOpensUntilMs: 50 }, changeAt()), false);
    assert.equal(await store.rotateBillingToken({ tokenId: 'rotating', hash: 'rot-2', previousOpensUntilMs: 50 }, changeAt()), true);
    const token = { id: 'rotating', name: 'rotating', createdAtMs: 5, expiresAtMs: 99, previousOpensUntilMs: 50 };
    assert.deepEqual(await store.findBillingTokenByHash('rot-2'), token);
    assert.deepEqual(await store.findBillingTokenByHash('rot-1'), { ...token, byPreviousSecret: true });
    assert.equal(await store.rotateBillingToken({ tokenId: 'rotating', hash: 'rot-3', previousOpensUntilMs: 60 }, changeAt()), true);
    assert.equal(await store.findBillingTokenByHash('rot-1'), undefined);
    for (const usedAtMs of [10, 30, 20]) await store.noteBillingTokenUse({ tokenId: 'rotating', usedAtMs });
    await store.noteBillingTokenUse({ tokenId: 'nobody', usedAtMs: 10 });
    assert.equal((await store.findBillingTokenByHash('rot-3'))?.lastUsedAtMs, 30);
    assert.equal(await store.deleteBillingToken('rotating', changeAt()), true);
    assert.deepEqual([await store.findBillingTokenByHash('rot-2'), await store.findBillingTokenByHash('rot-3')], [undefined, undefined]);
  });
}

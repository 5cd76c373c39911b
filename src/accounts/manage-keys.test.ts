import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { test } from 'node:test';
import type { TestContext } from 'node:test';

import { testAuthor } from '../audit/testing/test-change.ts';
import { silentLogger } from '../platform/log.ts';
import { createAccounts } from './create-accounts.ts';
import { createKeyDirectory } from './key-directory.ts';
import { bulkKeysMax, overlapMsMax } from './manage-keys.ts';
import { createFakeAccountsStore } from './testing/fake-accounts-store.ts';

const day = 86_400_000;

function setUp(context: TestContext) {
  const store = createFakeAccountsStore();
  let nowMs = 1_800_000_000_000;
  const clock = { nowMs: () => nowMs, monotonicMs: () => nowMs };
  const accounts = createAccounts({ store, clock, random: randomBytes, author: testAuthor });
  const directory = createKeyDirectory({ store, clock, logger: silentLogger, refreshMs: 3_600_000 });
  context.after(() => directory.close());
  const opens = async (secret: string): Promise<string | undefined> => {
    const key = await directory.resolve(secret, AbortSignal.timeout(1000));
    return key === 'unavailable' ? key : key?.id;
  };
  return { store, accounts, directory, opens, now: () => nowMs, advance: (ms: number) => (nowMs += ms) };
}

test('both secrets open a rotated key until the overlap ends to the millisecond, without a refresh', async (context) => {
  const { accounts, directory, opens, now, advance } = setUp(context);
  const { key, secret } = await accounts.createApiKey({ userName: 'alice', name: 'ci', limits: { concurrency: 3 } });
  await directory.start();
  const rotated = (await accounts.rotateApiKey(key.id, 60_000)) ?? assert.fail();
  assert.equal(rotated.key.id, key.id);
  assert.deepEqual(rotated.key.limits, { concurrency: 3 });
  assert.equal(rotated.key.previousOpensUntilMs, now() + 60_000);
  assert.ok(rotated.secret.endsWith(rotated.key.hint));
  assert.equal(await opens(rotated.secret), key.id, 'the new secret opens the key before any refresh');
  await directory.refresh();
  for (const isEnded of [false, true]) {
    assert.deepEqual([await opens(secret), await opens(rotated.secret)], [isEnded ? undefined : key.id, key.id]);
    advance(isEnded ? 0 : 59_999);
    assert.equal(directory.find(secret)?.id, isEnded ? undefined : key.id);
    advance(isEnded ? 0 : 1);
  }
});

test('a rotation without overlap ends the old secret with the next refresh, and a second rotation ends the one before', async (context) => {
  const { accounts, directory, opens } = setUp(context);
  const first = await accounts.createApiKey({ userName: 'alice', name: 'ci' });
  await directory.start();
  const second = (await accounts.rotateApiKey(first.key.id, 0)) ?? assert.fail();
  await directory.refresh();
  assert.deepEqual([await opens(first.secret), await opens(second.secret)], [undefined, first.key.id]);
  const third = (await accounts.rotateApiKey(first.key.id, day)) ?? assert.fail();
  const fourth = (await accounts.rotateApiKey(first.key.id, day)) ?? assert.fail();
  await directory.refresh();
  assert.deepEqual(
    [await opens(second.secret), await opens(third.secret), await opens(fourth.secret)],
    [undefined, first.key.id, first.key.id],
  );
});

test('a disabled key is opened by neither secret, and a gateway with remembered keys knows both', async (context) => {
  const { store, accounts, directory, opens } = setUp(context);
  const first = await accounts.createApiKey({ userName: 'alice', name: 'ci' });
  const second = (await accounts.rotateApiKey(first.key.id, day)) ?? assert.fail();
  await accounts.disableApiKey(first.key.id);
  await directory.start();
  assert.deepEqual([await opens(first.secret), await opens(second.secret)], [undefined, undefined]);
  await accounts.enableApiKey(first.key.id);
  const memory = { pepper: await store.pepper(), keys: await store.listApiKeys() };
  store.mode = 'down';
  const clock = { nowMs: () => 1_800_000_000_000, monotonicMs: () => 0 };
  const restarted = createKeyDirectory({ store, clock, logger: silentLogger, refreshMs: 3_600_000, remembered: memory });
  context.after(() => restarted.close());
  await restarted.start();
  assert.deepEqual([restarted.find(first.secret)?.id, restarted.find(second.secret)?.id], [first.key.id, first.key.id]);
});

test('an overlap beyond 90 days, a fraction and a key that does not exist are refused', async (context) => {
  const { accounts } = setUp(context);
  const { key } = await accounts.createApiKey({ userName: 'alice', name: 'ci' });
  for (const wrong of [-1, 0.5, overlapMsMax + 1, Number.NaN])
    await assert.rejects(accounts.rotateApiKey(key.id, wrong), { code: 'invalid_overlap', message: /0 to 90 days/ });
  assert.equal(await accounts.rotateApiKey('nobody', 0), undefined);
});

test('the configured secret becomes the present one again after a rotation; that of another key is in use until it ends', async (context) => {
  const { accounts, directory, opens, advance } = setUp(context);
  const secret = 'chosen-by-the-operator';
  const key = await accounts.ensureApiKeyWithSecret({ userName: 'admin', name: 'default', secret });
  const rotated = (await accounts.rotateApiKey(key.id, day)) ?? assert.fail();
  await assert.rejects(accounts.ensureApiKeyWithSecret({ userName: 'bob', name: 'other', secret }), { code: 'secret_in_use' });
  const restored = await accounts.ensureApiKeyWithSecret({ userName: 'admin', name: 'default', secret });
  await directory.start();
  assert.deepEqual([await opens(secret), await opens(rotated.secret)], [restored.id, undefined]);
  await accounts.rotateApiKey(restored.id, day);
  advance(day);
  const taken = await accounts.ensureApiKeyWithSecret({ userName: 'bob', name: 'other', secret });
  await directory.refresh();
  assert.equal(await opens(secret), taken.id);
});

test('keys that expire within some days are listed: by their own limits or by those of their owner, and neither ended nor disabled', async (context) => {
  const { accounts, now } = setUp(context);
  const make = async (userName: string, name: string, days?: number) =>
    (await accounts.createApiKey({ userName, name, ...(days === undefined ? {} : { limits: { expiresAtMs: now() + days * day } }) })).key;
  await make('alice', 'soon', 3);
  await make('alice', 'later', 30);
  await make('alice', 'ended', -1);
  await make('alice', 'never');
  await accounts.disableApiKey((await make('alice', 'off', 3)).id);
  await make('bob', 'by owner');
  await accounts.changeUserLimits('bob', { expiresAtMs: now() + 5 * day });
  const names = async (days: number, users: 'all' | readonly string[] = 'all') =>
    (await accounts.listExpiringKeys(days, users)).map(({ name }) => name).toSorted();
  assert.deepEqual(await names(7), ['by owner', 'soon']);
  assert.deepEqual(await names(31), ['by owner', 'later', 'soon']);
  assert.deepEqual(await names(7, ['alice']), ['soon']);
  assert.deepEqual(await names(7, []), []);
});

test('unused keys count from their last use, or from their creation', async (context) => {
  const { store, accounts, now, advance } = setUp(context);
  const old = (await accounts.createApiKey({ userName: 'alice', name: 'old' })).key;
  const busy = (await accounts.createApiKey({ userName: 'alice', name: 'busy' })).key;
  advance(10 * day);
  await accounts.createApiKey({ userName: 'alice', name: 'new' });
  await store.noteApiKeyUses([busy.id], now());
  const listed = await accounts.listApiKeys({ unusedSinceMs: now() - day });
  assert.deepEqual(
    listed.map(({ id }) => id),
    [old.id],
  );
  assert.equal((await accounts.listApiKeys({ ids: [busy.id] }))[0]?.lastUsedAtMs, now());
});

test('a list is read in pages that end with the last key', async (context) => {
  const { accounts } = setUp(context);
  const made = [];
  for (let index = 0; index < 7; index += 1) made.push((await accounts.createApiKey({ userName: 'alice', name: `k${index}` })).key.id);
  const seen: string[] = [];
  for (let after; ;) {
    const page = await accounts.queryApiKeys({ users: ['alice'], order: 'newest', limit: 3, ...(after === undefined ? {} : { after }) });
    seen.push(...page.map(({ id }) => id));
    after = page.at(-1);
    if (after === undefined) break;
  }
  assert.deepEqual(seen.toSorted(), made.toSorted());
  await assert.rejects(accounts.queryApiKeys({ users: 'all', order: 'oldest', limit: 1001 }), { code: 'invalid_limit' });
});

test('each key of a bulk change has its own result, and keys of other users count as missing', async (context) => {
  const { store, accounts, now } = setUp(context);
  const [mine, broken, foreign] = await Promise.all(
    [
      ['alice', 'a'],
      ['alice', 'b'],
      ['bob', 'c'],
    ].map(async ([userName = '', name = '']) => (await accounts.createApiKey({ userName, name })).key.id),
  );
  assert.ok(mine !== undefined && broken !== undefined && foreign !== undefined);
  const disable = store.setApiKeyDisabled;
  Object.assign(store, {
    setApiKeyDisabled: (id: string, ...rest: [number | undefined, Parameters<typeof disable>[2]]) =>
      id === broken ? Promise.reject(new Error('the disk is full')) : disable(id, ...rest),
  });
  const change = { users: ['alice'], keyIds: [mine, foreign, broken, 'nobody', mine] } as const;
  const results = await accounts.changeApiKeys({ ...change, action: 'disable' });
  assert.deepEqual(results, [
    { keyId: mine, outcome: 'changed' },
    { keyId: foreign, outcome: 'not_found' },
    { keyId: broken, outcome: 'failed' },
    { keyId: 'nobody', outcome: 'not_found' },
  ]);
  const find = async (id: string) => await accounts.findApiKey({ id });
  assert.deepEqual([(await find(mine))?.disabledAtMs, (await find(foreign))?.disabledAtMs], [now(), undefined]);
  await accounts.changeApiKeys({ ...change, action: 'enable' });
  await accounts.changeApiKeys({ ...change, action: 'limit', limits: { requestsPerMinute: 6 } });
  await accounts.changeApiKeys({ ...change, action: 'expire', expiresAtMs: now() + day });
  assert.deepEqual((await find(mine))?.limits, { requestsPerMinute: 6, expiresAtMs: now() + day });
  assert.equal((await find(foreign))?.limits, undefined);
});

test('a bulk change with a wrong value or too many keys changes nothing', async (context) => {
  const { accounts } = setUp(context);
  const { key } = await accounts.createApiKey({ userName: 'alice', name: 'a' });
  const base = { users: 'all', keyIds: [key.id] } as const;
  await assert.rejects(accounts.changeApiKeys({ ...base, action: 'limit', limits: { concurrency: 0 } }), { code: 'invalid_limit' });
  await assert.rejects(accounts.changeApiKeys({ ...base, action: 'expire', expiresAtMs: -1 }), { code: 'invalid_limit' });
  const keyIds = Array.from({ length: bulkKeysMax + 1 }, (_, index) => `k${index}`);
  await assert.rejects(accounts.changeApiKeys({ users: 'all', keyIds, action: 'disable' }), { code: 'invalid_limit', message: /500/ });
  assert.equal((await accounts.findApiKey({ id: key.id }))?.limits, undefined);
});

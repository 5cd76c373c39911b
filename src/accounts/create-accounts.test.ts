import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { test } from 'node:test';
import type { Clock } from '../platform/clock.ts';
import { parseSecret } from './api-key-format.ts';
import { createAccounts } from './create-accounts.ts';
import { createFakeAccountsStore } from './testing/fake-accounts-store.ts';
import { hashSecret } from './hash-secret.ts';
import { testAuthor } from '../audit/testing/test-change.ts';

const clock: Clock = { nowMs: () => 1_767_225_600_000, monotonicMs: () => 0 };

function setUp() {
  const store = createFakeAccountsStore();
  return { store, accounts: createAccounts({ store, clock, random: randomBytes, author: testAuthor }) };
}

test('a created key is found by its secret, of which the store has only the hash', async () => {
  const { store, accounts } = setUp();
  const { key, secret } = await accounts.createApiKey({ userName: 'alice', name: 'ci' });
  assert.equal(parseSecret('sk-weir', secret), key.id);
  const stored = await store.findApiKeyByHash(hashSecret('pepper', secret));
  assert.deepEqual(stored, { ...key, hash: hashSecret('pepper', secret) });
  assert.deepEqual(key, {
    id: key.id,
    userId: key.userId,
    userName: 'alice',
    name: 'ci',
    hint: secret.slice(-4),
    createdAtMs: clock.nowMs(),
    strictTranslation: false,
  });
  const everything = JSON.stringify([await store.listApiKeys(), await accounts.listApiKeys()]);
  assert.ok(!everything.includes(secret.slice(19, 62)));
});

test('two keys of one user share the user; a second key of the same name is refused, unless another user owns it', async () => {
  const { accounts } = setUp();
  const first = await accounts.createApiKey({ userName: 'alice', name: 'ci' });
  const second = await accounts.createApiKey({ userName: 'alice', name: 'laptop' });
  assert.equal(first.key.userId, second.key.userId);
  await assert.rejects(accounts.createApiKey({ userName: 'alice', name: 'ci' }), { code: 'duplicate_name' });
  await accounts.createApiKey({ userName: 'bob', name: 'ci' });
});

test('bad names are refused before anything is written', async () => {
  const { store, accounts } = setUp();
  await assert.rejects(accounts.createApiKey({ userName: '=x', name: 'ci' }), { code: 'invalid_name' });
  await assert.rejects(accounts.createApiKey({ userName: 'alice', name: '' }), { code: 'invalid_name' });
  await assert.rejects(accounts.createBillingToken({ name: 'a\nb' }), { code: 'invalid_name' });
  await assert.rejects(accounts.createBillingToken({ name: 'a', userName: '' }), { code: 'invalid_name' });
  assert.deepEqual(store.calls, {});
});

test('keys are found, listed by user, disabled, enabled and deleted', async () => {
  const { accounts } = setUp();
  const { key } = await accounts.createApiKey({ userName: 'Zoë', name: 'ci' });
  const other = await accounts.createApiKey({ userName: 'bob', name: 'ci' });
  assert.deepEqual(await accounts.listApiKeys({ userName: 'Zoe\u0308' }), [key]);
  assert.equal((await accounts.listApiKeys()).length, 2);
  assert.deepEqual(await accounts.findApiKey({ id: other.key.id }), other.key);
  assert.deepEqual(await accounts.findApiKey({ userName: 'Zoe\u0308', name: 'ci' }), key);
  assert.equal(await accounts.findApiKey({ userName: 'bob', name: 'CI' }), undefined);
  assert.equal(await accounts.disableApiKey(key.id), true);
  assert.deepEqual(await accounts.findApiKey({ id: key.id }), { ...key, disabledAtMs: clock.nowMs() });
  assert.equal(await accounts.enableApiKey(key.id), true);
  assert.deepEqual(await accounts.findApiKey({ id: key.id }), key);
  assert.equal(await accounts.deleteApiKey(key.id), true);
  assert.equal(await accounts.findApiKey({ id: key.id }), undefined);
  assert.equal(await accounts.deleteApiKey(key.id), false);
});

test('strict translation is set per key, at creation or later', async () => {
  const { accounts } = setUp();
  const { key } = await accounts.createApiKey({ userName: 'alice', name: 'strict', strictTranslation: true });
  const other = await accounts.createApiKey({ userName: 'alice', name: 'other' });
  assert.equal(key.strictTranslation, true);
  assert.equal(await accounts.setStrictTranslation(key.id, false), true);
  assert.deepEqual(await accounts.findApiKey({ id: key.id }), { ...key, strictTranslation: false });
  assert.equal(await accounts.setStrictTranslation(key.id, true), true);
  const byId = (left: { readonly id: string }, right: { readonly id: string }): number => (left.id < right.id ? -1 : 1);
  assert.deepEqual(await accounts.listApiKeys(), [key, other.key].toSorted(byId));
  await accounts.deleteApiKey(key.id);
  assert.equal(await accounts.setStrictTranslation(key.id, false), false);
});

test('a configured key keeps its options when its secret is replaced', async () => {
  const { accounts } = setUp();
  const requested = { userName: 'operator', name: 'default' };
  const key = await accounts.ensureApiKeyWithSecret({ ...requested, secret: 'first-secret' });
  await accounts.setStrictTranslation(key.id, true);
  await accounts.setResponseRetention(key.id, 7);
  const replaced = await accounts.ensureApiKeyWithSecret({ ...requested, secret: 'second-secret' });
  assert.notEqual(replaced.id, key.id);
  assert.equal(replaced.strictTranslation, true);
  assert.equal(replaced.responseRetentionDays, 7);
});

test('a configured secret is one key, however often it is ensured', async () => {
  const { accounts } = setUp();
  const requested = { userName: 'operator', name: 'default', secret: 'my-own-secret-1' };
  const key = await accounts.ensureApiKeyWithSecret(requested);
  assert.deepEqual(await accounts.ensureApiKeyWithSecret(requested), key);
  assert.deepEqual(await accounts.listApiKeys(), [key]);
  assert.equal(key.hint, '-1', 'the hint of a short secret is shorter');
});

test('a secret that is changed in the configuration and changed back is accepted again', async () => {
  const { store, accounts } = setUp();
  const requested = { userName: 'operator', name: 'default' };
  for (const secret of ['first-secret', 'second-secret', 'first-secret']) {
    const key = await accounts.ensureApiKeyWithSecret({ ...requested, secret });
    assert.deepEqual(await accounts.listApiKeys(), [key]);
    assert.equal((await store.findApiKeyByHash(hashSecret('pepper', secret)))?.id, key.id);
  }
});

test('processes that start at once with one configuration agree on one key', async () => {
  const { store, accounts } = setUp();
  await accounts.ensureApiKeyWithSecret({ userName: 'operator', name: 'default', secret: 'old-secret' });
  store.before = () => Promise.resolve();
  const requested = { userName: 'operator', name: 'default', secret: 'new-secret' };
  const keys = await Promise.all(Array.from({ length: 4 }, () => accounts.ensureApiKeyWithSecret(requested)));
  assert.equal(new Set(keys.map((key) => key.id)).size, 1);
  assert.deepEqual(await accounts.listApiKeys(), [keys[0]]);
});

test('a disabled key stays disabled if the configuration names it', async () => {
  const { accounts } = setUp();
  const requested = { userName: 'operator', name: 'default', secret: 'my-own-secret' };
  const key = await accounts.ensureApiKeyWithSecret(requested);
  await accounts.disableApiKey(key.id);
  assert.equal((await accounts.ensureApiKeyWithSecret(requested)).disabledAtMs, clock.nowMs());
});

test('limits are set at creation, changed one by one, and kept when the secret of a configured key changes', async () => {
  const { accounts } = setUp();
  const { key } = await accounts.createApiKey({ userName: 'alice', name: 'ci', limits: { concurrency: 2, models: null } });
  assert.deepEqual(key.limits, { concurrency: 2 });
  assert.equal(await accounts.changeKeyLimits(key.id, { requestsPerMinute: 5, concurrency: null }), true);
  assert.equal(await accounts.changeUserLimits('alice', { tokensPerMinute: 9 }), true);
  const found = await accounts.findApiKey({ id: key.id });
  assert.deepEqual([found?.limits, found?.userLimits], [{ requestsPerMinute: 5 }, { tokensPerMinute: 9 }]);
  assert.deepEqual((await accounts.createApiKey({ userName: 'alice', name: 'second' })).key.userLimits, { tokensPerMinute: 9 });
  assert.equal(await accounts.changeKeyLimits('nobody', { concurrency: 1 }), false);
  assert.equal(await accounts.changeUserLimits('nobody', { concurrency: 1 }), false);
  await assert.rejects(accounts.changeKeyLimits(key.id, { concurrency: 0 }), /the limit cannot have/);

  const configured = { userName: 'operator', name: 'default' };
  const first = await accounts.ensureApiKeyWithSecret({ ...configured, secret: 'the-first-secret' });
  await accounts.changeKeyLimits(first.id, { concurrency: 7 });
  const second = await accounts.ensureApiKeyWithSecret({ ...configured, secret: 'the-second-secret' });
  assert.deepEqual(second.limits, { concurrency: 7 });
});

test('a configured secret that is invalid or belongs to another key is refused, and the message does not contain it', async () => {
  const { accounts } = setUp();
  const { secret } = await accounts.createApiKey({ userName: 'alice', name: 'ci' });
  const requested = { userName: 'operator', name: 'default' };
  const refusals = [
    { secret, code: 'secret_in_use' },
    { secret: 'short', code: 'invalid_secret' },
    { secret: 'with space', code: 'invalid_secret' },
    { secret: 'ünïcödé-secret', code: 'invalid_secret' },
    { secret: 'trailing-newline\n', code: 'invalid_secret' },
    { secret: 'x'.repeat(257), code: 'invalid_secret' },
  ];
  for (const refusal of refusals) {
    await assert.rejects(
      accounts.ensureApiKeyWithSecret({ ...requested, secret: refusal.secret }),
      (error: Error & { code?: string }) => error.code === refusal.code && !error.message.includes(refusal.secret),
    );
  }
  await accounts.ensureApiKeyWithSecret({ ...requested, secret: 'x'.repeat(256) });
});

test('billing tokens are created, ensured, replaced and deleted', async () => {
  const { store, accounts } = setUp();
  const { token, secret } = await accounts.createBillingToken({ name: 'finance' });
  assert.equal(parseSecret('bt-weir', secret), token.id);
  assert.deepEqual(await store.findBillingTokenByHash(hashSecret('pepper', secret)), {
    id: token.id,
    name: 'finance',
    createdAtMs: clock.nowMs(),
  });
  await assert.rejects(accounts.createBillingToken({ name: 'finance' }), { code: 'duplicate_name' });
  const requested = { name: 'configured', secret: 'my-billing-secret' };
  const ensured = await accounts.ensureBillingTokenWithSecret(requested);
  assert.deepEqual(await accounts.ensureBillingTokenWithSecret(requested), ensured);
  await assert.rejects(accounts.ensureBillingTokenWithSecret({ ...requested, name: 'another' }), { code: 'secret_in_use' });
  const narrowed = await accounts.ensureBillingTokenWithSecret({ ...requested, userName: 'alice' });
  assert.equal(narrowed.userName, 'alice');
  const rotated = await accounts.ensureBillingTokenWithSecret({ ...requested, secret: 'another-billing-secret' });
  assert.deepEqual(await accounts.listBillingTokens(), [token, rotated]);
  assert.equal(await accounts.deleteBillingToken(rotated.id), true);
  assert.equal(await accounts.deleteBillingToken(rotated.id), false);
});

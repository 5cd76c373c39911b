import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { test } from 'node:test';
import type { TestContext } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { silentLogger } from '../platform/log.ts';
import type { Logger } from '../platform/log.ts';
import { generateSecret } from './api-key-format.ts';
import { createAccounts } from './create-accounts.ts';
import { createFakeAccountsStore } from './testing/fake-accounts-store.ts';
import { hashDigest, hashSecret, sha256 } from './hash-secret.ts';
import { createKeyDirectory } from './key-directory.ts';
import type { KeyDirectory } from './key-directory.ts';
import { testAuthor } from '../audit/testing/test-change.ts';

/** The automatic refresh is an hour away: tests refresh explicitly, so that nothing depends on how fast they run. */
const refreshMs = 3_600_000;

function setUp(context: TestContext, options: { refreshMs?: number; storeTimeoutMs?: number; logger?: Logger } = {}) {
  const store = createFakeAccountsStore();
  let nowMs = 0;
  const clock = { nowMs: () => nowMs, monotonicMs: () => nowMs };
  const accounts = createAccounts({ store, clock, random: randomBytes, author: testAuthor });
  const directory = createKeyDirectory({ store, clock, logger: silentLogger, refreshMs, ...options });
  context.after(() => directory.close());
  const { signal } = new AbortController();
  return { store, accounts, directory, signal, advance: (ms: number) => (nowMs += ms) };
}

/**
 * Lets every call proceed until it waits, then refreshes until all are answered: a call that began to wait after one
 * refresh is answered by the next.
 */
async function refreshUntilAnswered<Answer>(directory: KeyDirectory, calls: readonly Promise<Answer>[]): Promise<Answer[]> {
  let isAnswered = false;
  const answers = Promise.all(calls).finally(() => (isAnswered = true));
  for (let refreshes = 0; !isAnswered; refreshes += 1) {
    assert.ok(refreshes < 100, 'some calls are never answered');
    await setImmediate();
    await directory.refresh();
  }
  return answers;
}

test('a loaded key is found in memory, with a generated and with a chosen secret', async (context) => {
  const { store, accounts, directory, signal } = setUp(context);
  const created = await accounts.createApiKey({ userName: 'alice', name: 'ci' });
  const configured = await accounts.ensureApiKeyWithSecret({ userName: 'operator', name: 'default', secret: 'my-own-secret' });
  await directory.start();
  const callsAfterStart = { ...store.calls };
  assert.deepEqual(directory.find(created.secret), created.key);
  assert.deepEqual(directory.find('my-own-secret'), configured);
  assert.deepEqual(await directory.resolve('my-own-secret', signal), configured);
  assert.equal(directory.find('hash' in created.key ? 'x' : hashSecret('pepper', created.secret)), undefined, 'a hash opens nothing');
  assert.deepEqual(store.calls, callsAfterStart);
});

test('a key of another gateway is opened by its secret, of which only the digest is known, and not by the digest', async (context) => {
  const { accounts, directory, signal } = setUp(context);
  const [secret, plain] = ['sk-from-elsewhere', 'sk-also-from-elsewhere'];
  const digest = sha256(secret);
  const key = await accounts.importApiKey({ userName: 'alice', name: 'moved', secret: { sha256: digest, hint: 'here' } });
  const other = await accounts.importApiKey({ userName: 'alice', name: 'known', secret: plain, limits: { concurrency: 2 } });
  await directory.start();
  assert.deepEqual(directory.find(secret), key);
  assert.deepEqual(await directory.resolve(secret, signal), key);
  assert.deepEqual(directory.find(plain), other);
  assert.equal(directory.find(digest), undefined);
  assert.equal(directory.find(hashDigest('pepper', digest)), undefined);
  assert.equal(await directory.resolve(digest, signal), undefined);
  await assert.rejects(accounts.importApiKey({ userName: 'bob', name: 'x', secret }), { code: 'secret_in_use' });
  await assert.rejects(accounts.importApiKey({ userName: 'bob', name: 'x', secret: plain }), { code: 'secret_in_use' });
  await assert.rejects(accounts.importApiKey({ userName: 'bob', name: 'x', secret: 'short' }), { code: 'invalid_secret' });
  await assert.rejects(accounts.importApiKey({ userName: 'alice', name: 'known', secret: 'sk-third-secret' }), { code: 'duplicate_name' });
  await accounts.disableApiKey(key.id);
  await directory.refresh();
  assert.equal(directory.find(secret), undefined);
});

test('F93, S7: ten thousand random keys cause no query', async (context) => {
  const { store, directory, signal } = setUp(context);
  await directory.start();
  const callsAfterStart = { ...store.calls };
  for (let count = 0; count < 10_000; count += 1) {
    const { secret } = generateSecret('sk-weir', randomBytes);
    const garbage = [secret.slice(0, -6) + 'AAAAAA', randomBytes(24).toString('hex'), `sk-${randomBytes(20).toString('base64url')}`];
    assert.equal(await directory.resolve(garbage[count % 3] ?? '', signal), undefined);
  }
  assert.deepEqual(store.calls, callsAfterStart);
});

test('a flood of well-formed unknown keys causes a bounded number of queries, and a new key is still accepted', async (context) => {
  const { store, accounts, directory, signal } = setUp(context);
  await directory.start();
  const flood = Array.from({ length: 400 }, () => directory.resolve(generateSecret('sk-weir', randomBytes).secret, signal));
  const created = await accounts.createApiKey({ userName: 'alice', name: 'ci' });
  const late = directory.resolve(created.secret, signal);
  const answers = await refreshUntilAnswered(directory, [...flood, late]);
  assert.deepEqual(answers.pop(), created.key);
  assert.deepEqual(new Set(answers), new Set([undefined]));
  assert.ok((store.calls.findApiKeyByHash ?? 0) <= 50);
});

test('callers beyond the limit of waiting calls get unavailable', async (context) => {
  const { directory, signal } = setUp(context);
  await directory.start();
  const flood = Array.from({ length: 1200 }, () => directory.resolve(generateSecret('sk-weir', randomBytes).secret, signal));
  const answers = await refreshUntilAnswered(directory, flood);
  assert.equal(answers.filter((answer) => answer === 'unavailable').length, 150);
  assert.equal(answers.filter((answer) => answer === undefined).length, 1050);
});

test('a key that another process created is accepted at once: one query, then from memory', async (context) => {
  const { store, accounts, directory, signal } = setUp(context);
  await directory.start();
  const { key, secret } = await accounts.createApiKey({ userName: 'alice', name: 'ci' });
  assert.equal(directory.find(secret), undefined);
  const before = store.calls.findApiKeyByHash ?? 0;
  assert.deepEqual(await Promise.all([1, 2, 3].map(() => directory.resolve(secret, signal))), [key, key, key]);
  assert.equal(store.calls.findApiKeyByHash, before + 1);
  assert.deepEqual(directory.find(secret), key);
});

test('thousands of keys are loaded a page at a time, and every one of them is known', async (context) => {
  const { store, accounts, directory } = setUp(context);
  const secrets: string[] = [];
  for (let made = 0; made < 2001; made += 1) secrets.push((await accounts.createApiKey({ userName: 'alice', name: `ci-${made}` })).secret);
  await directory.start();
  assert.equal(store.calls.listApiKeys, 3);
  assert.deepEqual(
    secrets.filter((secret) => directory.find(secret) === undefined),
    [],
  );
});

test('an unknown key is queried again after a second, and at once after keys changed', async (context) => {
  const { store, accounts, directory, signal, advance } = setUp(context);
  await directory.start();
  const { secret } = generateSecret('sk-weir', randomBytes);
  const resolveTwice = async (): Promise<number> => {
    const before = store.calls.findApiKeyByHash ?? 0;
    assert.equal(await directory.resolve(secret, signal), undefined);
    assert.equal(await directory.resolve(secret, signal), undefined);
    return (store.calls.findApiKeyByHash ?? 0) - before;
  };
  assert.equal(await resolveTwice(), 1);
  advance(999);
  assert.equal(await resolveTwice(), 0);
  advance(1);
  assert.equal(await resolveTwice(), 1);
  await accounts.createApiKey({ userName: 'alice', name: 'ci' });
  await directory.refresh();
  assert.equal(await resolveTwice(), 1);
});

test('disabling, enabling and deleting take effect with the next refresh, which loads only what changed', async (context) => {
  const { store, accounts, directory, signal } = setUp(context);
  const { key, secret } = await accounts.createApiKey({ userName: 'alice', name: 'ci' });
  await directory.start();
  await directory.refresh();
  assert.equal(store.calls.listApiKeys, 1, 'keys are not loaded while nothing changes');
  await accounts.disableApiKey(key.id);
  await directory.refresh();
  const lookUps = store.calls.findApiKeyByHash;
  assert.equal(directory.find(secret), undefined);
  assert.equal(await directory.resolve(secret, signal), undefined);
  assert.equal(store.calls.findApiKeyByHash, lookUps, 'a disabled key is in memory');
  await accounts.enableApiKey(key.id);
  await directory.refresh();
  assert.deepEqual(directory.find(secret), key);
  await accounts.deleteApiKey(key.id);
  await directory.refresh();
  assert.equal(directory.find(secret), undefined);
  assert.equal(await directory.resolve(secret, signal), undefined);
});

test('a key that is disabled in the store is refused', async (context) => {
  const { accounts, directory, signal } = setUp(context);
  await directory.start();
  const { key, secret } = await accounts.createApiKey({ userName: 'alice', name: 'ci' });
  await accounts.disableApiKey(key.id);
  assert.equal(await directory.resolve(secret, signal), undefined);
  assert.equal(directory.find(secret), undefined);
});

test('an answer that is older than the keys in memory is not cached (deleted-during-look-up)', async (context) => {
  const { store, accounts, directory, signal } = setUp(context);
  await directory.start();
  const { key, secret } = await accounts.createApiKey({ userName: 'alice', name: 'ci' });
  store.before = async (method) => {
    if (method !== 'findApiKeyByHash') return;
    store.before = () => {};
    await accounts.deleteApiKey(key.id);
    await directory.refresh();
  };
  await directory.resolve(secret, signal);
  assert.equal(directory.find(secret), undefined);
});

test('a change between the queries of version and list is not lost (changed-during-refresh)', async (context) => {
  const { store, accounts, directory } = setUp(context);
  const first = await accounts.createApiKey({ userName: 'alice', name: 'first' });
  store.before = async (method) => {
    if (method !== 'listApiKeys') return;
    store.before = () => {};
    await accounts.deleteApiKey(first.key.id);
  };
  await directory.start();
  assert.deepEqual(directory.find(first.secret), first.key);
  await directory.refresh();
  assert.equal(directory.find(first.secret), undefined);
});

test('F58: loaded keys are accepted while the store is down, and others are unavailable, never wrong', async (context) => {
  const lines: string[] = [];
  const log = (_fields: unknown, message?: string): void => void lines.push(message ?? '');
  const { store, accounts, directory, signal } = setUp(context, { logger: { ...silentLogger, error: log, info: log } });
  const { key, secret } = await accounts.createApiKey({ userName: 'alice', name: 'ci' });
  await directory.start();
  store.mode = 'down';
  const unknown = generateSecret('sk-weir', randomBytes).secret;
  assert.equal(await directory.resolve(unknown, signal), 'unavailable', 'before the outage was noticed');
  await directory.refresh();
  await directory.refresh();
  const lookUps = store.calls.findApiKeyByHash;
  for (const wrong of [unknown, 'a-secret-someone-chose', 'garbage']) assert.equal(await directory.resolve(wrong, signal), 'unavailable');
  assert.equal(store.calls.findApiKeyByHash, lookUps, 'a store that is down gets no look-ups');
  assert.deepEqual(directory.find(secret), key);
  assert.deepEqual(await directory.resolve(secret, signal), key);
  store.mode = 'up';
  await directory.refresh();
  assert.equal(await directory.resolve(unknown, signal), undefined);
  assert.equal(await directory.resolve('garbage', signal), undefined);
  assert.equal(lines.length, 2, 'one line when it begins and one when it ends');
});

test('F56: keys are unavailable, never wrong, if the store is down from the start', async (context) => {
  const { store, directory, signal } = setUp(context);
  store.mode = 'down';
  await directory.start();
  assert.equal(directory.find('garbage-of-any-kind'), undefined);
  assert.equal(await directory.resolve('garbage-of-any-kind', signal), 'unavailable');
  store.mode = 'up';
  await directory.refresh();
  assert.equal(await directory.resolve('garbage-of-any-kind', signal), undefined);
});

test('every wait ends while the store hangs', async (context) => {
  const { store, directory, signal } = setUp(context, { storeTimeoutMs: 5 });
  await directory.start();
  store.mode = 'hanging';
  assert.equal(await directory.resolve(generateSecret('sk-weir', randomBytes).secret, signal), 'unavailable');
  await directory.refresh();
  assert.equal(await directory.resolve('garbage', signal), 'unavailable');
});

test('a call whose client disconnects while it waits ends with the reason of the signal', async (context) => {
  // The look-up continues without the client and keeps the process alive until its time-out.
  const { store, directory } = setUp(context, { storeTimeoutMs: 50 });
  await directory.start();
  store.mode = 'hanging';
  const controller = new AbortController();
  const resolving = directory.resolve(generateSecret('sk-weir', randomBytes).secret, controller.signal);
  controller.abort(new Error('disconnected'));
  await assert.rejects(resolving, { message: 'disconnected' });
  await assert.rejects(directory.resolve('anything', controller.signal), { message: 'disconnected' });
});

test('a secret that is too long is refused without a hash or a query', async (context) => {
  const { store, directory, signal } = setUp(context);
  await directory.start();
  store.mode = 'down';
  assert.equal(directory.find('x'.repeat(10_000_000)), undefined);
  assert.equal(await directory.resolve('x'.repeat(257), signal), undefined);
});

test('a key carries its strict translation, and a refresh updates it', async (context) => {
  const { accounts, directory } = setUp(context);
  const { key, secret } = await accounts.createApiKey({ userName: 'alice', name: 'ci', strictTranslation: true });
  await directory.start();
  assert.equal(directory.find(secret)?.strictTranslation, true);
  await accounts.setStrictTranslation(key.id, false);
  await directory.refresh();
  assert.equal(directory.find(secret)?.strictTranslation, false);
});

test('the refresh repeats until the directory is closed', async (context) => {
  const { store, accounts, directory } = setUp(context, { refreshMs: 1 });
  await directory.start();
  const { key, secret } = await accounts.createApiKey({ userName: 'alice', name: 'ci' });
  const repeated = Promise.withResolvers<void>();
  store.before = (method) => (method === 'listApiKeys' ? repeated.resolve() : undefined);
  // The refresh timer does not keep the process alive; this one does, and bounds the wait.
  const limit = setTimeout(() => repeated.reject(new Error('no refresh came')), 30_000);
  await repeated.promise;
  clearTimeout(limit);
  await directory.close();
  assert.deepEqual(directory.find(secret), key);
  const calls = store.calls.keysVersion;
  await new Promise((resolve) => setTimeout(resolve, 10));
  assert.equal(store.calls.keysVersion, calls);
});

import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { test } from 'node:test';
import { silentLogger } from '../platform/log.ts';
import { createBillingTokenAuthenticator } from './billing-token-authenticator.ts';
import { createAccounts } from './create-accounts.ts';
import { createFakeAccountsStore } from './testing/fake-accounts-store.ts';
import { testAuthor } from '../audit/testing/test-change.ts';

function setUp() {
  const store = createFakeAccountsStore();
  let nowMs = 0;
  const clock = { nowMs: () => nowMs, monotonicMs: () => nowMs };
  const accounts = createAccounts({ store, clock, random: randomBytes, author: testAuthor });
  const { authenticate } = createBillingTokenAuthenticator({ store, clock, logger: silentLogger, storeTimeoutMs: 20, knownTimeoutMs: 10 });
  const { signal } = new AbortController();
  return {
    store,
    accounts,
    authenticate: (secret: string) => authenticate(secret, signal),
    authenticateWith: authenticate,
    advance: (ms: number) => (nowMs += ms),
  };
}

test('created and configured tokens are accepted, others are not', async () => {
  const { accounts, authenticate } = setUp();
  const created = await accounts.createBillingToken({ name: 'finance', userName: 'alice' });
  const configured = await accounts.ensureBillingTokenWithSecret({ name: 'default', secret: 'my-billing-secret' });
  assert.deepEqual(await authenticate(created.secret), created.token);
  assert.deepEqual(await authenticate('my-billing-secret'), configured);
  for (const wrong of ['', 'My-billing-secret', created.secret.slice(0, -1), 'x'.repeat(100_000)]) {
    assert.equal(await authenticate(wrong), undefined);
  }
});

test('an answer is reused for a second; deletion and creation take effect after it', async () => {
  const { store, accounts, authenticate, advance } = setUp();
  const token = await accounts.ensureBillingTokenWithSecret({ name: 'default', secret: 'my-billing-secret' });
  await authenticate('my-billing-secret');
  await authenticate('unknown-secret');
  const lookUps = store.calls.findBillingTokenByHash;
  await accounts.deleteBillingToken(token.id);
  advance(999);
  assert.deepEqual(await authenticate('my-billing-secret'), token);
  assert.equal(await authenticate('unknown-secret'), undefined);
  assert.equal(store.calls.findBillingTokenByHash, lookUps);
  advance(1);
  assert.equal(await authenticate('my-billing-secret'), undefined);
});

test('a token is unavailable, never wrong, while the store is down or hangs', async () => {
  const { store, authenticate } = setUp();
  store.mode = 'down';
  assert.equal(await authenticate('my-billing-secret'), 'unavailable');
  store.mode = 'hanging';
  assert.equal(await authenticate('my-billing-secret'), 'unavailable');
  store.mode = 'up';
  assert.equal(await authenticate('my-billing-secret'), undefined);
});

test('a valid token whose look-up is late is accepted by the last answer for a minute, and its expiry still counts', async () => {
  const { store, accounts, authenticate, advance } = setUp();
  const { token, secret } = await accounts.createBillingToken({ name: 'finance', userName: 'alice' });
  const ending = await accounts.createBillingToken({ name: 'ending', userName: 'alice', expiresAtMs: 30_000 });
  for (const each of [secret, ending.secret]) assert.ok(await authenticate(each));
  for (const mode of ['hanging', 'down'] as const) {
    store.mode = mode;
    advance(20_000);
    assert.deepEqual(await authenticate(secret), token, mode);
    assert.equal(await authenticate('a token that nobody has used'), 'unavailable');
  }
  assert.equal(await authenticate(ending.secret), undefined, 'it has expired meanwhile');
  advance(20_000);
  assert.equal(await authenticate(secret), 'unavailable', 'the answer is a minute old');
  store.mode = 'up';
  await accounts.deleteBillingToken(token.id);
  assert.equal(await authenticate(secret), undefined);
});

test('requests with one token share its look-up, however many they are', async () => {
  const { store, accounts, authenticate } = setUp();
  const { token, secret } = await accounts.createBillingToken({ name: 'finance', userName: 'alice' });
  const answers = await Promise.all(Array.from({ length: 200 }, () => authenticate(secret)));
  for (const answer of answers) assert.deepEqual(answer, token);
  assert.equal(store.calls.findBillingTokenByHash, 1);
});

test('look-ups of different tokens are bounded, and a caller that disconnects does not wait for its own', async () => {
  const { store, accounts, authenticate, authenticateWith } = setUp();
  const { token, secret } = await accounts.createBillingToken({ name: 'finance', userName: 'alice' });
  await authenticate('loads what every look-up needs');
  store.mode = 'hanging';
  const controller = new AbortController();
  const waiting = Array.from({ length: 64 }, (_, index) => authenticateWith(`secret-${index}`, controller.signal));
  assert.equal(await authenticateWith(secret, new AbortController().signal), 'unavailable');
  controller.abort(new Error('disconnected'));
  for (const outcome of await Promise.allSettled(waiting)) assert.equal(outcome.status, 'rejected');
  store.mode = 'up';
  // The store's own time passes for those look-ups.
  for (let found: unknown = 'unavailable'; found === 'unavailable';) {
    await new Promise((resolve) => setImmediate(resolve));
    found = await authenticate(secret);
    if (found !== 'unavailable') assert.deepEqual(found, token);
  }
});

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
  const { authenticate } = createBillingTokenAuthenticator({ store, clock, logger: silentLogger, storeTimeoutMs: 20 });
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

test('concurrent look-ups are bounded, and a caller that disconnects ends its own', async () => {
  const { store, authenticateWith } = setUp();
  store.mode = 'hanging';
  const controller = new AbortController();
  const waiting = Array.from({ length: 64 }, (_, index) => authenticateWith(`secret-${index}`, controller.signal));
  assert.equal(await authenticateWith('one more', controller.signal), 'unavailable');
  controller.abort(new Error('disconnected'));
  for (const outcome of await Promise.allSettled(waiting)) assert.equal(outcome.status, 'rejected');
  store.mode = 'up';
  assert.equal(await authenticateWith('one more', new AbortController().signal), undefined);
});

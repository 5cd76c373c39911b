import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { test } from 'node:test';
import { silentLogger } from '../platform/log.ts';
import { createBillingTokenAuthenticator } from './billing-token-authenticator.ts';
import { createBillingTokenGate } from './billing-token-gate.ts';
import { createBillingTokenUses } from './billing-token-uses.ts';
import { createAccounts } from './create-accounts.ts';
import { createFakeAccountsStore } from './testing/fake-accounts-store.ts';
import { testAuthor } from '../audit/testing/test-change.ts';

function setUp() {
  const store = createFakeAccountsStore();
  let nowMs = 1_000_000;
  const clock = { nowMs: () => nowMs, monotonicMs: () => nowMs };
  const accounts = createAccounts({ store, clock, random: randomBytes, author: testAuthor });
  const { authenticate } = createBillingTokenAuthenticator({ store, clock, logger: silentLogger });
  const { signal } = new AbortController();
  return {
    store,
    clock,
    accounts,
    opens: async (secret: string) => (await authenticate(secret, signal)) !== undefined,
    gate: (limits: { requestsPerMinute: number; wrongTokensPerMinute: number }) => {
      const gate = createBillingTokenGate({ authenticate, clock, limits });
      return async (secret: string, address: string) => {
        const answer = await gate.authenticate(secret, signal, address);
        if (answer === undefined || answer === 'unavailable') return answer;
        return 'retryAfterSeconds' in answer ? answer.retryAfterSeconds : answer.name;
      };
    },
    advance: (ms: number) => (nowMs += ms),
  };
}

test('a rotated token is accepted with both secrets during the overlap, then with the new one only, and stays the same token', async () => {
  const { accounts, opens, advance } = setUp();
  const { token, secret } = await accounts.createBillingToken({ name: 'finance', userName: 'alice' });
  const rotated = await accounts.rotateBillingToken(token.id, 60_000);
  assert.ok(rotated !== undefined);
  assert.equal(rotated.token.id, token.id);
  assert.equal(rotated.token.userName, 'alice');
  assert.deepEqual([await opens(secret), await opens(rotated.secret)], [true, true]);
  advance(59_999);
  assert.deepEqual([await opens(secret), await opens(rotated.secret)], [true, true]);
  advance(1);
  assert.deepEqual([await opens(secret), await opens(rotated.secret)], [false, true]);
});

test('a second rotation ends the secret before the present one at once', async () => {
  const { accounts, opens, advance } = setUp();
  const first = await accounts.createBillingToken({ name: 'finance' });
  const second = await accounts.rotateBillingToken(first.token.id, 3_600_000);
  const third = await accounts.rotateBillingToken(first.token.id, 0);
  advance(1001);
  assert.deepEqual([await opens(first.secret), await opens(second?.secret ?? ''), await opens(third?.secret ?? '')], [false, false, true]);
  assert.equal(await accounts.rotateBillingToken('nobody', 0), undefined);
});

test('deleting a rotated token ends both of its secrets within a second', async () => {
  const { accounts, opens, advance } = setUp();
  const first = await accounts.createBillingToken({ name: 'finance' });
  const second = await accounts.rotateBillingToken(first.token.id, 3_600_000);
  await opens(first.secret);
  await accounts.deleteBillingToken(first.token.id);
  advance(1000);
  assert.deepEqual([await opens(first.secret), await opens(second?.secret ?? '')], [false, false]);
});

test('an expired token is refused, even if it was looked up a moment before, and an expiry in the past is refused', async () => {
  const { accounts, opens, advance } = setUp();
  const { secret } = await accounts.createBillingToken({ name: 'auditor', expiresAtMs: 1_000_500 });
  advance(499);
  assert.equal(await opens(secret), true);
  advance(1);
  assert.equal(await opens(secret), false);
  await assert.rejects(accounts.createBillingToken({ name: 'late', expiresAtMs: 5 }), /must be in the future; got "?1970/);
});

test('a configured secret that was rotated away or expires is restored by the configuration', async () => {
  const { accounts, opens, advance } = setUp();
  const token = await accounts.ensureBillingTokenWithSecret({ name: 'default', secret: 'my-billing-secret' });
  await accounts.rotateBillingToken(token.id, 10);
  advance(2000);
  assert.equal(await opens('my-billing-secret'), false);
  await accounts.ensureBillingTokenWithSecret({ name: 'default', secret: 'my-billing-secret' });
  advance(2000);
  assert.equal(await opens('my-billing-secret'), true);
});

test('a token that sends too many requests waits, and other tokens do not', async () => {
  const { accounts, gate, advance } = setUp();
  const ask = gate({ requestsPerMinute: 6, wrongTokensPerMinute: 5 });
  const one = (await accounts.createBillingToken({ name: 'one' })).secret;
  const two = (await accounts.createBillingToken({ name: 'two' })).secret;
  for (let count = 0; count < 6; count += 1) assert.equal(await ask(one, '10.0.0.1'), 'one');
  assert.equal(await ask(one, '10.0.0.2'), 10);
  assert.equal(await ask(two, '10.0.0.1'), 'two');
  advance(10_000);
  assert.equal(await ask(one, '10.0.0.1'), 'one');
  assert.equal(await ask(one, '10.0.0.1'), 10);
});

test('an address with too many wrong tokens is refused even with a right one; tokens accepted before and other addresses are not', async () => {
  const { accounts, gate, advance } = setUp();
  const ask = gate({ requestsPerMinute: 100, wrongTokensPerMinute: 3 });
  const accepted = (await accounts.createBillingToken({ name: 'known' })).secret;
  const guessed = (await accounts.createBillingToken({ name: 'guessed' })).secret;
  assert.equal(await ask(accepted, '10.0.0.1'), 'known');
  for (let count = 0; count < 3; count += 1) assert.equal(await ask(`wrong-${count}`, '10.0.0.1'), undefined);
  assert.equal(await ask('wrong again', '10.0.0.1'), 20);
  assert.equal(await ask(guessed, '::ffff:10.0.0.1'), 20);
  assert.equal(await ask(accepted, '10.0.0.1'), 'known');
  assert.equal(await ask(guessed, '10.0.0.2'), 'guessed');
  advance(20_000);
  assert.equal(await ask('wrong once more', '10.0.0.1'), undefined);
  assert.equal(await ask('wrong once more', '10.0.0.1'), 20);
});

test('all addresses of one IPv6 /64 count as one address', async () => {
  const { gate } = setUp();
  const ask = gate({ requestsPerMinute: 100, wrongTokensPerMinute: 2 });
  assert.equal(await ask('a', '2001:db8:1:2::1'), undefined);
  assert.equal(await ask('b', '2001:db8:1:2:ffff::2'), undefined);
  assert.equal(await ask('c', '2001:db8:1:2::3'), 30);
  assert.equal(await ask('d', '2001:db8:1:3::3'), undefined);
});

test('a use is recorded at most once a minute, and a store that cannot be written to is reported once', async () => {
  const { store, clock, accounts, advance } = setUp();
  const warned: string[] = [];
  const logger = { ...silentLogger, warn: (_context: unknown, message?: string) => void warned.push(message ?? '') };
  const uses = createBillingTokenUses({ store, clock, logger });
  const settle = (): Promise<unknown> => new Promise((resolve) => setImmediate(resolve));
  const { token } = await accounts.createBillingToken({ name: 'finance' });
  uses.note(token.id);
  uses.note(token.id);
  await settle();
  assert.equal(store.calls['noteBillingTokenUse'], 1);
  assert.equal((await accounts.listBillingTokens())[0]?.lastUsedAtMs, 1_000_000);
  store.mode = 'down';
  for (let count = 0; count < 3; count += 1) {
    advance(60_000);
    uses.note(token.id);
    await settle();
  }
  assert.equal(warned.length, 1);
});

import assert from 'node:assert/strict';
import { test } from 'node:test';

import { permissionsOfRole } from '../../src/accounts/people/permissions.ts';
import { roleSettingsDefault } from '../../src/accounts/people/permissions-of.ts';
import { author, hourMs, usePeople } from './people-parts.ts';

const parts = usePeople();
const signal = AbortSignal.timeout(60_000);
const home = { address: '10.0.0.5', requestId: 'req_1' };

/** Signs in, and fails the test if that was refused. */
async function signIn(way: 'api_key' | 'billing_token', secret: string, origin = home) {
  const opened = await parts().keySessions.open(way, secret, origin);
  return typeof opened === 'object' && 'token' in opened ? opened : assert.fail(JSON.stringify(opened));
}

/** The principal in another process, which knows nothing but the database. */
const find = (token: string, origin = home) => parts().another.principals.ofKeySession(token, origin, signal);

let keys = 0;
async function makeKey(userName = 'kay', limits = {}) {
  keys += 1;
  return await parts().accounts.createApiKey({ userName, name: `key ${keys}`, limits });
}

test('an API key opens a session of an owner of its user, for twelve hours, of which only hashes are stored', async () => {
  const { key, secret } = await makeKey();
  const { session, token } = await signIn('api_key', secret);
  const principal = await find(token);
  assert.deepEqual(principal, {
    permissions: new Set(permissionsOfRole.owner),
    users: ['kay'],
    author: { actor: `key:${key.id}`, via: 'api', ...home },
    signedInAtMs: parts().clock.nowMs(),
    sessionId: session.id,
    holder: { way: 'api_key', id: key.id },
  });
  const [row] = await parts().store.listAudit({ subject: `key_session:${key.id}`, limit: 1 });
  assert.deepEqual([row?.action, row?.actor, row?.address], ['sessions.create', `key:${key.id}`, home.address]);
  assert.ok(!JSON.stringify([session, row]).includes(token) && !JSON.stringify([session, row]).includes(secret));
  parts().clock.advance(12 * hourMs - 1);
  assert.ok(await find(token));
  parts().clock.advance(1);
  assert.equal(await find(token), undefined);
});

test('a billing token opens a session that reads usage and calls of what it sees, and nothing else', async () => {
  const { accounts } = parts();
  await makeKey('bea');
  const all = await accounts.createBillingToken({ name: 'all' });
  const one = await accounts.createBillingToken({ name: 'one', userName: 'bea' });
  for (const [{ token, secret }, users] of [
    [all, 'all'],
    [one, ['bea']],
  ] as const) {
    const principal = await find((await signIn('billing_token', secret)).token);
    assert.ok(principal !== undefined && principal !== 'unavailable');
    assert.deepEqual([principal.users, [...principal.permissions]], [users, ['usage:read', 'calls:read']]);
    assert.equal(principal.author.actor, `billing_token:${token.id}`);
  }
  assert.equal(await parts().keySessions.open('api_key', all.secret, home), 'refused', 'a secret opens its own kind only');
});

test('disabling, deleting, rotating, changing and expiring end the sessions of a key at once, in every process', async () => {
  const { accounts, clock } = parts();
  const endings: Readonly<Record<string, (id: string) => Promise<unknown>>> = {
    disabled: (id) => accounts.disableApiKey(id),
    'disabled and enabled again': async (id) => {
      await accounts.disableApiKey(id);
      await accounts.enableApiKey(id);
    },
    deleted: (id) => accounts.deleteApiKey(id),
    rotated: (id) => accounts.rotateApiKey(id, hourMs),
    limited: (id) => accounts.changeKeyLimits(id, { requestsPerMinute: 5 }),
  };
  for (const [label, end] of Object.entries(endings)) {
    const { key, secret } = await makeKey();
    const { token } = await signIn('api_key', secret);
    assert.ok(await find(token), label);
    await end(key.id);
    assert.equal(await find(token), undefined, label);
  }
  const expiring = await makeKey('kay', { expiresAtMs: clock.nowMs() + hourMs });
  const { token } = await signIn('api_key', expiring.secret);
  clock.advance(hourMs - 1);
  assert.ok(await find(token));
  clock.advance(1);
  assert.equal(await find(token), undefined, 'expired');
  assert.equal(await parts().keySessions.open('api_key', expiring.secret, home), 'refused');
});

test('the previous secret of a rotated key signs in until the end of its overlap, as it makes calls', async () => {
  const { key, secret } = await makeKey();
  const rotated = (await parts().accounts.rotateApiKey(key.id, hourMs)) ?? assert.fail();
  const { token } = await signIn('api_key', secret);
  assert.ok(await find((await signIn('api_key', rotated.secret)).token));
  parts().clock.advance(hourMs - 1);
  assert.ok(await find(token));
  parts().clock.advance(1);
  assert.equal(await find(token), undefined);
  assert.equal(await parts().keySessions.open('api_key', secret, home), 'refused');
});

test('a rotation, a deletion and the expiry of a billing token end its sessions', async () => {
  const { accounts, clock } = parts();
  const token = async (name: string, expiresAtMs?: number) => {
    const made = await accounts.createBillingToken({ name, ...(expiresAtMs === undefined ? {} : { expiresAtMs }) });
    return { id: made.token.id, session: (await signIn('billing_token', made.secret)).token };
  };
  const [rotated, deleted, expired] = [await token('turned'), await token('gone'), await token('short', clock.nowMs() + hourMs)];
  for (const { session } of [rotated, deleted, expired]) assert.ok(await find(session));
  await accounts.rotateBillingToken(rotated.id, hourMs);
  await accounts.deleteBillingToken(deleted.id);
  clock.advance(hourMs);
  for (const { session } of [rotated, deleted, expired]) assert.equal(await find(session), undefined);
});

test('limits of expiry and address of every level count for a sign-in and for each request', async () => {
  const { accounts, clock } = parts();
  const { secret } = await makeKey('lim', { addresses: ['10.0.0.0/24'] });
  assert.equal(await parts().keySessions.open('api_key', secret, { address: '10.0.1.5' }), 'refused');
  const { token } = await signIn('api_key', secret);
  assert.equal(await find(token, { ...home, address: '10.0.1.5' }), undefined, 'a stolen cookie opens nothing elsewhere');
  assert.ok(await find(token));
  await accounts.changeUserLimits('lim', { expiresAtMs: clock.nowMs() });
  assert.equal(await find(token), undefined, 'the user has expired');
});

test('keys are made only with console.ownersMakeKeys, and never by a key with limits of its own', async () => {
  const { settings } = parts();
  const [free, limited] = [await makeKey(), await makeKey('kay', { spendTotal: '1' })];
  const mayMake = async (secret: string) => {
    const principal = await find((await signIn('api_key', secret)).token);
    return principal !== undefined && principal !== 'unavailable' && principal.permissions.has('keys:write');
  };
  assert.deepEqual([await mayMake(free.secret), await mayMake(limited.secret)], [false, false]);
  settings.current = { ...roleSettingsDefault, ownersMakeKeys: true };
  assert.deepEqual([await mayMake(free.secret), await mayMake(limited.secret)], [true, false]);
  settings.current = roleSettingsDefault;
});

test('one session ends, or all of a key; those of other keys stay', async () => {
  const [own, other] = [await makeKey(), await makeKey()];
  const sessions = [await signIn('api_key', own.secret), await signIn('api_key', own.secret), await signIn('api_key', own.secret)] as const;
  const kept = await signIn('api_key', other.secret);
  const holder = { way: 'api_key', holderId: own.key.id } as const;
  assert.equal(await parts().keySessions.end({ ...holder, sessionId: sessions[0].session.id }, author), 1);
  assert.equal(await parts().keySessions.end({ ...holder, sessionId: kept.session.id }, author), 0);
  assert.deepEqual([await find(sessions[0].token), (await find(sessions[1].token)) === undefined], [undefined, false]);
  assert.equal(await parts().keySessions.end(holder, author), 2);
  assert.equal(await find(sessions[2].token), undefined);
  assert.ok(await find(kept.token));
});

test('wrong keys are slowed down by address after thirty, are rows of the log without the key, and lock nobody out', async () => {
  const { keySessions, store } = parts();
  const { secret } = await makeKey();
  const attacker = { address: '10.9.9.9' };
  for (let index = 0; index < 30; index += 1)
    assert.equal(await keySessions.open(index % 2 === 0 ? 'api_key' : 'billing_token', `wrong-${index}`, attacker), 'refused');
  assert.deepEqual(await keySessions.open('api_key', secret, attacker), { retryAfterSeconds: 60 });
  assert.ok(await signIn('api_key', secret));
  const [row] = await store.listAudit({ subject: 'sign_in', limit: 1 });
  assert.deepEqual([row?.action, row?.actor, row?.address], ['sessions.refuse', 'nobody', attacker.address]);
  assert.ok(!JSON.stringify(row).includes('wrong-'));
  for (const odd of ['', 'x'.repeat(300), '\u0000', `${secret}x`]) assert.equal(await keySessions.open('api_key', odd, home), 'refused');
});

test('the oldest of more than fifty sessions of a key ends', async () => {
  const { key, secret } = await makeKey();
  const first = await signIn('api_key', secret);
  parts().clock.advance(1);
  for (let index = 0; index < 50; index += 1) await signIn('api_key', secret);
  assert.equal(await find(first.token), undefined);
  assert.equal(await parts().keySessions.end({ way: 'api_key', holderId: key.id }, author), 50);
});

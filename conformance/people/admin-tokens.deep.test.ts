import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { test } from 'node:test';

import { generateSecret } from '../../src/accounts/api-key-format.ts';
import { hashSecret } from '../../src/accounts/hash-secret.ts';
import { localMaker, type TokenMaker } from '../../src/accounts/people/admin-tokens.ts';
import { permissions } from '../../src/accounts/people/permissions.ts';
import { protectedPermissions, roleSettingsDefault } from '../../src/accounts/people/permissions-of.ts';
import type { Person } from '../../src/accounts/people/person.ts';
import { author, hourMs, signInByLink, usePeople } from './people-parts.ts';

const parts = usePeople();
const signal = AbortSignal.timeout(60_000);

const open = async (secret: string) => {
  const principal = await parts().principals.ofAdminToken(secret, { address: '10.0.0.5', requestId: 'req_1' }, signal);
  return principal === 'unavailable' ? assert.fail('unavailable') : principal;
};

/** The rights that a signed-in person may give to a token. */
async function makerOf(person: Person): Promise<TokenMaker> {
  const { token } = await signInByLink(parts(), person.id);
  const found = await parts().principals.ofSession(token, {}, signal);
  return found === undefined || found === 'unavailable' ? assert.fail('not signed in') : found.principal;
}

async function makeUsers(...names: string[]): Promise<void> {
  for (const name of names) await parts().store.ensureUser({ id: `user-${name}`, name, createdAtMs: 1 }, { ...author, atMs: 1 });
}

test('a token of a local command has every permission but the protected ones, unless they are named', async () => {
  const { tokens } = parts();
  const { token, secret } = await tokens.create({ name: 'plain' }, localMaker, author);
  assert.match(secret, /^at-weir-[0-9A-Za-z]{10}_[0-9A-Za-z]{43}_[0-9A-Za-z]{6}$/);
  assert.deepEqual(
    token.permissions,
    permissions.filter((permission) => !protectedPermissions.has(permission)),
  );
  assert.ok(!JSON.stringify(await tokens.list()).includes(secret.slice(19, 60)));
  const principal = await open(secret);
  assert.deepEqual(principal, {
    permissions: new Set(token.permissions),
    users: 'all',
    author: { actor: 'token:plain', via: 'api', address: '10.0.0.5', requestId: 'req_1' },
    tokenId: token.id,
  });
  const express = await tokens.create({ name: 'express', permissions: ['people:write', 'calls:read'] }, localMaker, author);
  assert.deepEqual(express.token.permissions, ['calls:read', 'people:write']);
});

test('a person gives a token no more than it has: permissions, and users as an owner', async () => {
  const { tokens, people } = parts();
  await makeUsers('alice', 'bob', 'carol');
  const owner = await people.create({ name: 'owner', role: 'owner', users: ['bob', 'alice'] }, author);
  const maker = await makerOf(owner);
  assert.deepEqual(maker.users, ['alice', 'bob']);
  await assert.rejects(tokens.create({ name: 'x', permissions: ['keys:write'] }, maker, author), {
    code: 'not_permitted',
    message: /keys:write/,
  });
  await assert.rejects(tokens.create({ name: 'x', permissions: ['keys:fly'] }, maker, author), { code: 'unknown_permission' });
  await assert.rejects(tokens.create({ name: 'x', permissions: [] }, maker, author), { code: 'unknown_permission' });
  await assert.rejects(tokens.create({ name: 'x', users: ['carol'] }, maker, author), { code: 'unknown_user' });
  for (const lastsMs of [0, -1, Number.NaN, 11 * 365 * 24 * hourMs])
    await assert.rejects(tokens.create({ name: 'x', lastsMs }, maker, author), { code: 'invalid_expiry' });
  const { token, secret } = await tokens.create({ name: 'owned', permissions: ['content:read'], users: ['bob'] }, maker, author);
  assert.equal(token.makerId, owner.id);
  const principal = await open(secret);
  assert.deepEqual([[...(principal?.permissions ?? [])], principal?.users, principal?.makerId], [['content:read'], ['bob'], owner.id]);
  await assert.rejects(tokens.create({ name: 'owned' }, maker, author), { code: 'duplicate_name' });
});

test('a token for some users has no permission that leads to all others, also if it was made before this was so', async () => {
  const { tokens, store } = parts();
  await makeUsers('frank');
  for (const name of ['people:write', 'tokens:write', 'audit:read', 'config:read', 'config:write'])
    await assert.rejects(tokens.create({ name: 'x', permissions: [name, 'calls:read'], users: ['frank'] }, localMaker, author), {
      code: 'not_permitted',
      message: new RegExp(`${name} leads to all users`),
    });
  const { token } = await tokens.create({ name: 'of-frank', users: ['frank'] }, localMaker, author);
  assert.equal(token.permissions.includes('audit:read'), false);
  const { id, secret } = generateSecret('at-weir', randomBytes);
  const hash = hashSecret(await store.pepper(), secret);
  const former = { ...token, id, name: 'former', hash, permissions: ['people:write', 'calls:read'] as const };
  assert.equal(await store.insertAdminToken(former, { ...author, atMs: token.createdAtMs }), true);
  assert.deepEqual([...((await open(secret))?.permissions ?? [])], ['calls:read']);
});

test('a token loses at once what its maker loses, and ends with its maker', async () => {
  const { tokens, people } = parts();
  await makeUsers('dave', 'erin');
  const person = await people.create({ name: 'changing', role: 'operator', users: ['dave'] }, author);
  const { secret } = await tokens.create({ name: 'follows', permissions: ['keys:write', 'calls:read'] }, await makerOf(person), author);
  const grandchild = await tokens.create({ name: 'grandchild' }, (await open(secret)) ?? assert.fail(), author);
  assert.deepEqual([...((await open(secret))?.permissions ?? [])].toSorted(), ['calls:read', 'keys:write']);
  await people.change({ id: person.id }, { role: 'owner' }, author);
  const narrowed = await open(secret);
  assert.deepEqual([[...(narrowed?.permissions ?? [])], narrowed?.users], [['calls:read'], ['dave']]);
  parts().settings.current = { ...roleSettingsDefault, ownersMakeKeys: true };
  assert.equal((await open(secret))?.permissions.has('keys:write'), true);
  parts().settings.current = roleSettingsDefault;
  await people.change({ id: person.id }, { disabled: true }, author);
  for (const each of [secret, grandchild.secret]) assert.equal(await open(each), undefined);
  await people.change({ id: person.id }, { disabled: false }, author);
  assert.ok(await open(secret));
  await people.remove({ id: person.id }, author);
  for (const each of [secret, grandchild.secret]) assert.equal(await open(each), undefined);
});

test('a token lasts 90 days, or as long as it was given', async () => {
  const { tokens, clock } = parts();
  const ninety = await tokens.create({ name: 'ninety' }, localMaker, author);
  const short = await tokens.create({ name: 'short', lastsMs: hourMs }, localMaker, author);
  clock.advance(hourMs - 1);
  assert.ok(await open(short.secret));
  clock.advance(1);
  assert.equal(await open(short.secret), undefined);
  clock.advance(90 * 24 * hourMs - hourMs - 1);
  assert.ok(await open(ninety.secret));
  clock.advance(1);
  assert.equal(await open(ninety.secret), undefined);
});

test('after a rotation both secrets open the token until the overlap ends; a deletion ends both at once', async () => {
  const { tokens, clock, another } = parts();
  const { token, secret } = await tokens.create({ name: 'rotated' }, localMaker, author);
  const rotated = (await tokens.rotate({ id: token.id, revision: 1 }, hourMs, author)) ?? assert.fail();
  assert.notEqual(rotated.secret, secret);
  assert.equal(rotated.token.hint, rotated.secret.slice(-4));
  for (const each of [secret, rotated.secret]) assert.ok(await open(each));
  clock.advance(hourMs);
  assert.equal(await open(secret), undefined);
  assert.ok(await open(rotated.secret));
  await assert.rejects(tokens.rotate({ id: token.id, revision: 1 }, 0, author), { code: 'stale' });
  await assert.rejects(tokens.rotate({ id: token.id }, -1, author), { code: 'invalid_expiry' });
  assert.equal(await tokens.rotate({ id: 'none' }, 0, author), undefined);
  await assert.rejects(tokens.remove({ id: token.id, revision: 1 }, author), { code: 'stale' });
  assert.equal(await tokens.remove({ id: token.id }, author), true);
  assert.equal(await tokens.remove({ id: token.id }, author), false);
  assert.equal(await another.principals.ofAdminToken(rotated.secret, {}, signal), undefined);
});

test('the last use of a token is noted, at most once a minute', async () => {
  const { tokens, clock } = parts();
  const { token, secret } = await tokens.create({ name: 'used' }, localMaker, author);
  const lastUse = async () => (await tokens.list()).find(({ id }) => id === token.id)?.lastUsedAtMs;
  assert.equal(await lastUse(), undefined);
  const firstMs = clock.nowMs();
  await open(secret);
  await waitUntil(async () => (await lastUse()) === firstMs);
  clock.advance(59_999);
  await open(secret);
  clock.advance(1);
  const secondMs = clock.nowMs();
  await open(secret);
  await waitUntil(async () => (await lastUse()) === secondMs);
});

test('texts that are not admin tokens open nothing', async () => {
  const { tokens, token } = { ...parts(), token: await parts().tokens.create({ name: 'real' }, localMaker, author) };
  const foreign = token.secret.replace('at-weir-', 'bt-weir-');
  for (const secret of ['', 'at-weir-', foreign, `${token.secret}x`, token.secret.slice(0, -1), token.token.id])
    assert.equal(await open(secret), undefined);
  assert.ok((await tokens.list()).length > 0);
});

/** A use is noted after the answer. */
async function waitUntil(isSo: () => Promise<boolean>): Promise<void> {
  const deadline = performance.now() + 5000;
  while (!(await isSo())) {
    assert.ok(performance.now() < deadline, 'it did not happen within 5 s');
    await new Promise(setImmediate);
  }
}

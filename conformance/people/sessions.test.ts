import assert from 'node:assert/strict';
import { test } from 'node:test';

import { author, hourMs, signInByLink, usePeople } from './people-parts.ts';

const parts = usePeople();
const signal = AbortSignal.timeout(60_000);
const dayMs = 24 * hourMs;

const makePerson = (name: string, role: 'viewer' | 'operator' = 'viewer') => parts().people.create({ name, role }, author);

test('a link opens one session, within 15 minutes, and its code is stored only as a hash', async () => {
  const { signIns, clock, people } = parts();
  const ann = await people.create({ name: 'ann', role: 'operator' }, author);
  const link = (await signIns.createCode(ann.id, author)) ?? assert.fail();
  assert.match(link.code, /^[0-9A-Za-z]{43}$/);
  const opened = await signIns.byCode(link.code, { address: '10.0.0.1', userAgent: 'x'.repeat(500) });
  assert.ok(opened !== 'refused');
  assert.deepEqual([opened.person.id, opened.session.way, opened.session.userAgent?.length], [ann.id, 'link', 200]);
  assert.equal(await signIns.byCode(link.code, {}), 'refused');
  const late = (await signIns.createCode(ann.id, author)) ?? assert.fail();
  clock.advance(15 * 60_000);
  assert.equal(await signIns.byCode(late.code, {}), 'refused');
  for (const garbage of ['', 'x', `${'a'.repeat(43)}\n`, "' or 1=1 --"]) assert.equal(await signIns.byCode(garbage, {}), 'refused');
  assert.equal(await signIns.createCode('per_none', author), undefined);
});

test('a session ends twelve hours after its last use, and seven days after the sign-in in any case', async () => {
  const { principals, clock } = parts();
  const person = await makePerson('idle');
  const idle = await signInByLink(parts(), person.id);
  clock.advance(12 * hourMs - 1);
  assert.ok(await principals.ofSession(idle.token, {}, signal));
  const { sessions } = parts();
  await waitUntil(async () => (await sessions.list(person.id))[0]?.usedAtMs === clock.nowMs());
  clock.advance(12 * hourMs - 1);
  assert.ok(await principals.ofSession(idle.token, {}, signal), 'its use was noted');
  clock.advance(12 * hourMs);
  assert.equal(await principals.ofSession(idle.token, {}, signal), undefined);
  assert.deepEqual(await sessions.list(person.id), []);

  const busy = await signInByLink(parts(), person.id);
  let token = busy.token;
  for (let hours = 0; hours < 7 * 24; hours += 8) {
    const found = await principals.ofSession(token, {}, signal);
    if (found === undefined || found === 'unavailable') assert.fail(`ended after ${hours} hours`);
    token = found.newToken ?? token;
    await sessions.noteUse(busy.session.id, clock.nowMs());
    clock.advance(8 * hourMs);
  }
  assert.equal(await principals.ofSession(token, {}, signal), undefined);
});

test('a token is replaced once a day; requests at the same moment with the old one are served for 30 seconds', async () => {
  const { principals, clock, another, sessions } = parts();
  const person = await makePerson('daily');
  const { token, session } = await signInByLink(parts(), person.id);
  for (const _ of [1, 2, 3]) {
    clock.advance(dayMs / 3 - 1);
    await sessions.noteUse(session.id, clock.nowMs());
  }
  assert.equal(newTokenOf(await principals.ofSession(token, {}, signal)), undefined, 'not a day old yet');
  clock.advance(3);
  const answers = await Promise.all([principals, another.principals, principals].map((each) => each.ofSession(token, {}, signal)));
  const fresh = answers.map(newTokenOf).filter((each) => each !== undefined);
  assert.equal(fresh.length, 1, 'one request got the new token');
  assert.ok(
    answers.every((answer) => answer !== undefined && answer !== 'unavailable'),
    'all were served',
  );
  const [next = assert.fail()] = fresh;
  assert.ok(await another.principals.ofSession(next, {}, signal));
  clock.advance(29_999);
  assert.equal(newTokenOf(await principals.ofSession(token, {}, signal)), undefined);
  assert.ok(await principals.ofSession(token, {}, signal));
  clock.advance(1);
  assert.equal(await principals.ofSession(token, {}, signal), undefined, 'the old token is over');
  assert.ok(await principals.ofSession(next, {}, signal));
});

test('sign-out, disabling, a new role, a new password and "everywhere" end sessions at once in another process', async () => {
  const { people, signIns, sessions, another } = parts();
  const endings: Record<string, (personId: string, sessionId: string) => Promise<unknown>> = {
    'sign-out': (personId, sessionId) => sessions.end({ personId, sessionId }, author),
    everywhere: (personId) => sessions.end({ personId }, author),
    disabled: (id) => people.change({ id }, { disabled: true }, author),
    role: (id) => people.change({ id }, { role: 'finance' }, author),
    password: (personId) => signIns.setPassword({ personId, password: 'correct horse battery' }, author),
    deleted: (id) => people.remove({ id }, author),
  };
  for (const [name, end] of Object.entries(endings)) {
    const person = await makePerson(`ends ${name}`);
    const { token, session } = await signInByLink(parts(), person.id);
    assert.ok(await another.principals.ofSession(token, {}, signal));
    await end(person.id, session.id);
    assert.equal(await another.principals.ofSession(token, {}, signal), undefined, name);
    assert.deepEqual(await another.sessions.list(person.id), [], name);
  }
});

test('a password that is set in a session gives this session a new token and ends all others', async () => {
  const { signIns, principals } = parts();
  const person = await makePerson('changer');
  const [mine, theirs] = [await signInByLink(parts(), person.id), await signInByLink(parts(), person.id)];
  const set = await signIns.setPassword({ personId: person.id, password: 'a password of mine', sessionId: mine.session.id }, author);
  const newToken = set === false ? undefined : set.newToken;
  for (const { token } of [mine, theirs]) assert.equal(await principals.ofSession(token, {}, signal), undefined);
  assert.ok(await principals.ofSession(newToken ?? '', {}, signal));
});

test('a confirmation by password or by a link makes the sign-in recent and gives a new token', async () => {
  const { signIns, principals, clock } = parts();
  const [person, other] = [await makePerson('confirming'), await makePerson('not confirming')];
  await signIns.setPassword({ personId: person.id, password: 'correct horse battery' }, author);
  const { token, session } = await signInByLink(parts(), person.id);
  clock.advance(hourMs);
  const signedInAtMs = async (of: string): Promise<number | undefined> => {
    const found = await principals.ofSession(of, {}, signal);
    return found === undefined || found === 'unavailable' ? undefined : found.principal.signedInAtMs;
  };
  assert.equal(await signedInAtMs(token), clock.nowMs() - hourMs);
  assert.equal(await signIns.confirm(session, { password: 'wrong horse battery' }, author), 'refused');
  const foreign = (await signIns.createCode(other.id, author)) ?? assert.fail();
  assert.equal(await signIns.confirm(session, { code: foreign.code }, author), 'refused');
  const confirmed = await signIns.confirm(session, { password: 'correct horse battery' }, author);
  assert.ok(confirmed !== 'refused' && 'token' in confirmed);
  assert.equal(await signedInAtMs(token), undefined, 'the old token is over');
  assert.equal(await signedInAtMs(confirmed.token), clock.nowMs());
  clock.advance(hourMs);
  const own = (await signIns.createCode(person.id, author)) ?? assert.fail();
  const again = await signIns.confirm(session, { code: own.code }, author);
  assert.ok(again !== 'refused' && 'token' in again);
  assert.equal(await signedInAtMs(again.token), clock.nowMs());
});

test('a store that does not answer makes a session unavailable, never wrong', async () => {
  const { principals, store } = parts();
  const { createPrincipals } = await import('../../src/accounts/people/principals.ts');
  const { silentLogger } = await import('../../src/platform/log.ts');
  const { roleSettingsDefault } = await import('../../src/accounts/people/permissions-of.ts');
  const broken = createPrincipals({
    sessions: { find: () => Promise.reject(new Error('away')), noteUse: async () => {} },
    keySessions: { find: () => Promise.reject(new Error('away')) },
    store: { ...store, findAdminTokenByHash: () => new Promise(() => {}) },
    clock: parts().clock,
    logger: silentLogger,
    settings: () => roleSettingsDefault,
    storeTimeoutMs: 20,
  });
  assert.equal(await broken.ofSession('a'.repeat(43), {}, signal), 'unavailable');
  const person = await makePerson('token maker', 'operator');
  const { secret } = await parts().tokens.create(
    { name: 'away' },
    { permissions: new Set(['calls:read']), users: 'all', personId: person.id },
    author,
  );
  assert.equal(await broken.ofAdminToken(secret, {}, signal), 'unavailable');
  assert.ok(await principals.ofAdminToken(secret, {}, signal));
  await assert.rejects(broken.ofSession('a'.repeat(43), {}, AbortSignal.abort(new Error('gone'))), /gone/);
});

function newTokenOf(found: Awaited<ReturnType<ReturnType<typeof parts>['principals']['ofSession']>>): string | undefined {
  return found === undefined || found === 'unavailable' ? undefined : found.newToken;
}

/** The use of a session is noted after the answer. */
async function waitUntil(isSo: () => Promise<boolean>): Promise<void> {
  const deadline = performance.now() + 5000;
  while (!(await isSo())) {
    assert.ok(performance.now() < deadline, 'it did not happen within 5 s');
    await new Promise(setImmediate);
  }
}

import assert from 'node:assert/strict';
import { test } from 'node:test';

import type { AdminToken } from '../../src/accounts/people/admin-token.ts';
import type { Person } from '../../src/accounts/people/person.ts';
import type { Session } from '../../src/accounts/people/session.ts';
import { changeAt } from '../../src/audit/testing/test-change.ts';
import type { Store } from '../../src/store/store.ts';
import { hostileNames } from './hostile-names.ts';
import { type StoreUnderTest, useEngine } from './store-under-test.ts';

type NewPerson = Omit<Person, 'hasPassword' | 'revision'>;

/** The contract of every store for people, their sessions and admin tokens. */
export function peopleSuite(open: () => Promise<StoreUnderTest>): void {
  const engine = useEngine(open);
  const store = (): Store => engine().store();

  async function insert(label: string, changes: Partial<NewPerson> = {}): Promise<Person> {
    const person = { id: `per_${label}`, name: `Person ${label}`, role: 'viewer', users: [], createdAtMs: 5, ...changes } as const;
    const inserted = await store().insertPerson(person, changeAt(5));
    return typeof inserted === 'string' ? assert.fail(inserted) : inserted;
  }

  const newSession = (label: string, changes: Partial<Session> = {}): Omit<Session, 'personId'> => ({
    id: `ses_${label}`,
    way: 'link',
    createdAtMs: 100,
    signedInAtMs: 100,
    tokenSinceMs: 100,
    usedAtMs: 100,
    expiresAtMs: 10_000,
    ...changes,
  });

  const signIn = (person: Person, label: string, changes: Partial<Session> = {}) => {
    const opening = { session: newSession(label, changes), tokenHash: `token-${label}`, by: { personId: person.id }, idleBeforeMs: 0 };
    return store().openSession(opening, { via: 'api', atMs: 100 });
  };

  const newToken = (label: string, changes: Partial<AdminToken> = {}) => ({
    id: `token-${label}`,
    name: `token ${label}`,
    hint: 'abcd',
    permissions: ['calls:read', 'keys:write'] as const,
    users: 'all' as const,
    createdAtMs: 5,
    expiresAtMs: 900,
    hash: `hash-${label}`,
    ...changes,
  });

  async function newestRow(subject: string) {
    const [row] = await store().listAudit({ subject, limit: 1 });
    return row ?? assert.fail(`no row for ${subject}`);
  }

  test('the first operator cannot be demoted, disabled or deleted until there is a second one', async () => {
    const first = await insert('only', { role: 'operator' });
    const { revision: _revision, ...unchanged } = first;
    const head = await store().auditHead();
    assert.equal(await store().changePerson({ id: first.id }, { role: 'viewer' }, changeAt(6)), 'last_operator');
    assert.equal(await store().changePerson({ id: first.id }, { disabled: true }, changeAt(6)), 'last_operator');
    assert.equal(await store().deletePerson({ id: first.id }, changeAt(6)), 'last_operator');
    await insert('off', { role: 'operator', disabledAtMs: 3 });
    assert.equal(await store().deletePerson({ id: first.id }, changeAt(6)), 'last_operator', 'a disabled operator does not count');
    assert.equal((await store().auditHead()).sequence, head.sequence + 1);
    const renamed = await store().changePerson({ id: first.id }, { name: 'Only One' }, changeAt(6));
    assert.deepEqual(renamed, { ...unchanged, name: 'Only One', revision: 2 });
    await insert('second', { role: 'operator' });
    assert.equal(typeof (await store().deletePerson({ id: first.id }, changeAt(7))), 'object');
  });

  test('of two operators who are removed at the same moment by two handles, one remains', async () => {
    const other = await engine().openAnother();
    const [ann, bob] = [await insert('race-a', { role: 'operator' }), await insert('race-b', { role: 'operator' })];
    for (const person of await store().listPeople())
      if (person.role === 'operator' && ![ann.id, bob.id].includes(person.id)) await store().deletePerson({ id: person.id }, changeAt());
    const outcomes = await Promise.all([
      store().changePerson({ id: ann.id }, { role: 'viewer' }, changeAt()),
      other.changePerson({ id: bob.id }, { disabled: true }, changeAt()),
    ]);
    assert.deepEqual(outcomes.filter((outcome) => outcome === 'last_operator').length, 1);
  });

  test('a person is read back completely by id, name and identity, and listed oldest first', async () => {
    const identity = { issuer: 'https://id.example', subject: 'ann-1' };
    const ann = await insert('ann', { role: 'owner', users: ['zoe', 'bob', 'bob'], createdAtMs: 4, identity, email: 'ann@example.com' });
    assert.deepEqual(ann, {
      id: 'per_ann',
      name: 'Person ann',
      role: 'owner',
      users: ['bob', 'zoe'],
      createdAtMs: 4,
      hasPassword: false,
      identity,
      email: 'ann@example.com',
      revision: 1,
    });
    for (const reference of [{ id: ann.id }, { name: 'PERSON ANN' }, { identity }])
      assert.deepEqual(await store().findPerson(reference), ann);
    for (const reference of [{ id: 'no' }, { name: 'ann' }, { identity: { ...identity, subject: 'x' } }])
      assert.equal(await store().findPerson(reference), undefined);
    const listed = await store().listPeople();
    assert.deepEqual(
      listed.find(({ id }) => id === ann.id),
      ann,
    );
    assert.equal(listed[0]?.id, ann.id);
  });

  test('a name in another case and a known identity are refused, and nothing changes', async () => {
    const identity = { issuer: 'https://id.example', subject: 'same' };
    await insert('same', { identity });
    const other = await insert('other');
    const head = await store().auditHead();
    const copy = { id: 'per_copy', name: 'person SAME', role: 'viewer', users: ['bob'], createdAtMs: 1 } as const;
    assert.equal(await store().insertPerson(copy, changeAt()), 'duplicate_name');
    assert.equal(await store().insertPerson({ ...copy, name: 'copy', identity }, changeAt()), 'duplicate_identity');
    assert.equal(await store().changePerson({ id: other.id }, { name: 'PERSON SAME' }, changeAt()), 'duplicate_name');
    assert.deepEqual(await store().auditHead(), head);
  });

  test('a change needs the revision that its author saw; what changes nothing adds no row', async () => {
    const person = await insert('revised', { email: 'a@b.c' });
    const renamed = await store().changePerson({ id: person.id, revision: 1 }, { name: 'Person REVISED', users: ['u'] }, changeAt(7));
    assert.deepEqual(renamed, { ...person, name: 'Person REVISED', users: ['u'], revision: 2 });
    assert.equal(await store().changePerson({ id: person.id, revision: 1 }, { role: 'finance' }, changeAt(8)), 'stale');
    assert.equal(await store().deletePerson({ id: person.id, revision: 1 }, changeAt(8)), 'stale');
    const head = await store().auditHead();
    assert.deepEqual(await store().changePerson({ id: person.id }, { users: ['u'], disabled: false }, changeAt(9)), renamed);
    assert.deepEqual(await store().auditHead(), head);
    const bare = await store().changePerson({ id: person.id, revision: 2 }, { email: null, users: [] }, changeAt(9));
    const { email: _email, ...rest } = person;
    assert.deepEqual(bare, { ...rest, name: 'Person REVISED', revision: 3 });
    const row = await newestRow(`person:${person.id}`);
    assert.deepEqual([row.action, row.before, row.after], ['people.update', JSON.stringify(renamed), JSON.stringify(bare)]);
    assert.equal(await store().changePerson({ id: 'nobody' }, {}, changeAt()), 'unknown');
  });

  test('hostile names are data', async () => {
    for (const [index, hostile] of hostileNames.entries()) {
      const person = await insert(`hostile-${index}`, { name: `x${hostile}`, users: [hostile], email: hostile });
      assert.deepEqual([person.name, person.users, person.email], [`x${hostile}`, [hostile], hostile]);
      assert.deepEqual(await store().findPerson({ name: `x${hostile}` }), person);
    }
  });

  test('a password is set, renewed only if unchanged, and removed; the log never has its hash', async () => {
    const person = await insert('password');
    assert.equal(await store().setPasswordHash({ personId: person.id, hash: 'phc-1' }, changeAt(9)), true);
    assert.equal(await store().findPasswordHash(person.id), 'phc-1');
    assert.equal((await store().findPerson({ id: person.id }))?.hasPassword, true);
    await store().renewPasswordHash({ personId: person.id, previousHash: 'phc-0', hash: 'phc-2' });
    assert.equal(await store().findPasswordHash(person.id), 'phc-1');
    await store().renewPasswordHash({ personId: person.id, previousHash: 'phc-1', hash: 'phc-2' });
    assert.equal(await store().findPasswordHash(person.id), 'phc-2');
    const row = await newestRow(`person:${person.id}`);
    assert.equal(row.action, 'people.set_password');
    assert.doesNotMatch(JSON.stringify(row), /phc/);
    assert.equal(await store().setPasswordHash({ personId: person.id, hash: undefined }, changeAt(10)), true);
    assert.equal(await store().findPasswordHash(person.id), undefined);
    assert.equal(await store().setPasswordHash({ personId: 'nobody', hash: 'x' }, changeAt()), false);
  });

  test('a code opens one session, of two handles that use it at once; an expired or unknown one opens none', async () => {
    const other = await engine().openAnother();
    const person = await insert('coded');
    const code = { hash: 'code-1', personId: person.id, createdAtMs: 10, expiresAtMs: 200 };
    assert.equal(await store().insertSignInCode(code, changeAt(10)), true);
    assert.equal(await store().insertSignInCode({ ...code, hash: 'code-2', expiresAtMs: 100 }, changeAt(10)), true);
    assert.equal(await store().insertSignInCode({ ...code, hash: 'code-3', personId: 'nobody' }, changeAt(10)), false);
    const use = (from: Store, codeHash: string, label: string) =>
      from.openSession(
        { session: newSession(label), tokenHash: `token-${label}`, by: { codeHash }, idleBeforeMs: 0 },
        { via: 'api', address: '10.0.0.9', atMs: 100 },
      );
    const opened = await Promise.all([use(store(), 'code-1', 'c1'), use(other, 'code-1', 'c2')]);
    assert.deepEqual(
      opened.filter((each) => each !== undefined),
      [person],
    );
    const row = await newestRow(`person:${person.id}`);
    assert.deepEqual([row.action, row.actor, row.address], ['sessions.create', 'person:Person coded', '10.0.0.9']);
    assert.equal(await use(store(), 'code-1', 'c3'), undefined);
    assert.equal(await use(store(), 'code-2', 'c4'), undefined, 'expired at the moment of its end');
    assert.equal(await use(store(), 'code-3', 'c5'), undefined);
    assert.equal((await store().listSessions(person.id)).length, 1);
  });

  test('a session is found by its token, and by the previous one after a replacement that one of two requests makes', async () => {
    const person = await insert('token');
    await signIn(person, 'swap', { address: '10.1.1.1', userAgent: 'Browser' });
    const session = { ...newSession('swap', { address: '10.1.1.1', userAgent: 'Browser' }), personId: person.id };
    assert.deepEqual(await store().findSession('token-swap'), { session, person });
    const other = await engine().openAnother();
    const replace = (from: Store, tokenHash: string) =>
      from.replaceSessionToken({ sessionId: session.id, tokenHash, tokenSinceMs: 500, previousUntilMs: 530, presentHash: 'token-swap' });
    const outcomes = await Promise.all([replace(store(), 'swap-1'), replace(other, 'swap-2')]);
    assert.deepEqual(outcomes.toSorted(), [false, true]);
    const present = outcomes[0] === true ? 'swap-1' : 'swap-2';
    const renewed = { ...session, tokenSinceMs: 500 };
    assert.deepEqual(await other.findSession(present), { session: renewed, person });
    assert.deepEqual(await other.findSession('token-swap'), { session: renewed, person, previousUntilMs: 530 });
    assert.equal(
      await store().replaceSessionToken({ sessionId: session.id, tokenHash: 'swap-3', tokenSinceMs: 600, previousUntilMs: 600 }),
      true,
    );
    assert.equal(await store().findSession('token-swap'), undefined);
    assert.equal((await store().findSession('swap-3'))?.session.tokenSinceMs, 600);
  });

  test('the use of a session only grows; a confirmation takes a code of its own person only', async () => {
    const [person, stranger] = [await insert('confirming'), await insert('stranger')];
    await signIn(person, 'confirm');
    for (const usedAtMs of [300, 200]) await store().noteSessionUse({ sessionId: 'ses_confirm', usedAtMs });
    await store().insertSignInCode({ hash: 'foreign', personId: stranger.id, createdAtMs: 10, expiresAtMs: 900 }, changeAt(10));
    await store().insertSignInCode({ hash: 'own', personId: person.id, createdAtMs: 10, expiresAtMs: 900 }, changeAt(10));
    const confirm = (codeHash: string, sessionId = 'ses_confirm') =>
      store().confirmSession({ sessionId, signedInAtMs: 400, codeHash }, changeAt(400));
    assert.equal(await confirm('foreign'), false);
    assert.equal(await confirm('own', 'ses_none'), false);
    assert.equal(await confirm('own'), true);
    assert.equal(await confirm('own'), false);
    const [session] = await store().listSessions(person.id);
    assert.deepEqual([session?.usedAtMs, session?.signedInAtMs], [300, 400]);
    assert.equal(await store().confirmSession({ sessionId: 'ses_confirm', signedInAtMs: 500 }, changeAt(500)), true);
    assert.equal((await newestRow(`person:${person.id}`)).action, 'sessions.confirm');
  });

  test('sessions end one by one, all but one, and all; those of others stay', async () => {
    const [person, bystander] = [await insert('ending'), await insert('bystander')];
    for (const label of ['e1', 'e2', 'e3', 'e4']) await signIn(person, label);
    await signIn(bystander, 'by');
    assert.equal(await store().endSessions({ personId: person.id, sessionId: 'ses_by' }, changeAt(1)), 0);
    assert.equal(await store().endSessions({ personId: person.id, sessionId: 'ses_e1' }, changeAt(1)), 1);
    assert.equal(await store().endSessions({ personId: person.id, exceptSessionId: 'ses_e3' }, changeAt(1)), 2);
    assert.deepEqual(
      (await store().listSessions(person.id)).map(({ id }) => id),
      ['ses_e3'],
    );
    assert.equal(await store().endSessions({ personId: person.id }, changeAt(1)), 1);
    assert.equal(await store().findSession('token-e3'), undefined);
    assert.equal((await store().listSessions(bystander.id)).length, 1);
    assert.equal((await newestRow(`person:${person.id}`)).action, 'sessions.end');
  });

  test('a disabled person, a new role, a new password and a deletion end sessions and codes for every handle', async () => {
    const other = await engine().openAnother();
    const endings = {
      disable: (id: string) => store().changePerson({ id }, { disabled: true }, changeAt(7)),
      role: (id: string) => store().changePerson({ id }, { role: 'finance' }, changeAt(7)),
      secret: (id: string) => store().setPasswordHash({ personId: id, hash: 'h' }, changeAt(7)),
      delete: (id: string) => store().deletePerson({ id }, changeAt(7)),
    };
    for (const [label, end] of Object.entries(endings)) {
      const person = await insert(`end-${label}`);
      await signIn(person, label);
      await store().insertSignInCode({ hash: `code-${label}`, personId: person.id, createdAtMs: 1, expiresAtMs: 900 }, changeAt(1));
      assert.ok(await other.findSession(`token-${label}`));
      await end(person.id);
      assert.equal(await other.findSession(`token-${label}`), undefined, label);
      const opening = { session: newSession('no'), tokenHash: 'no', by: { codeHash: `code-${label}` }, idleBeforeMs: 0 };
      assert.equal(await other.openSession(opening, { via: 'api', atMs: 100 }), undefined, label);
    }
    const disabled = (await store().findPerson({ name: 'person end-disable' })) ?? assert.fail();
    assert.equal(disabled.disabledAtMs, 7);
    assert.equal(await signIn(disabled, 'again'), undefined);
    assert.equal(await store().insertSignInCode({ hash: 'c', personId: disabled.id, createdAtMs: 1, expiresAtMs: 9 }, changeAt(1)), false);
    assert.equal((await newestRow(`person:${disabled.id}`)).action, 'people.disable');
  });

  test('a password change keeps the session that made it', async () => {
    const person = await insert('keeper');
    for (const label of ['kept', 'lost']) await signIn(person, label);
    await store().setPasswordHash({ personId: person.id, hash: 'h', keepSessionId: 'ses_kept' }, changeAt(7));
    assert.deepEqual(
      (await store().listSessions(person.id)).map(({ id }) => id),
      ['ses_kept'],
    );
  });

  test('a sign-in removes sessions that are over, and the oldest beyond fifty', async () => {
    const person = await insert('many');
    await signIn(person, 'expired', { expiresAtMs: 99 });
    await signIn(person, 'idle', { usedAtMs: 40 });
    for (let index = 0; index < 50; index += 1) await signIn(person, `many-${index}`, { createdAtMs: 1000 + index });
    const opening = { session: newSession('newest', { createdAtMs: 2000 }), tokenHash: 'newest', by: { personId: person.id } };
    await store().openSession({ ...opening, idleBeforeMs: 50 }, { via: 'api', atMs: 100 });
    const ids = (await store().listSessions(person.id)).map(({ id }) => id);
    assert.equal(ids.length, 50);
    assert.deepEqual([ids[0], ids[1], ids.at(-1)], ['ses_newest', 'ses_many-49', 'ses_many-1']);
  });

  test('an admin token is read back with its maker, rotated with an overlap and deleted', async () => {
    const maker = await insert('maker', { role: 'finance' });
    const { hash, ...created } = newToken('life', { makerId: maker.id, users: ['bob'] });
    assert.equal(await store().insertAdminToken({ ...created, hash }, changeAt(5)), true);
    const token = { ...created, revision: 1 };
    assert.deepEqual(await store().findAdminTokenByHash(hash), { token, maker });
    assert.equal(await store().insertAdminToken({ ...newToken('x'), name: created.name }, changeAt(5)), false);
    assert.equal(await store().insertAdminToken({ ...newToken('x'), hash }, changeAt(5)), false);
    const rotation = { id: created.id, hash: 'rotated', hint: 'wxyz', previousOpensUntilMs: 60 };
    assert.equal(await store().rotateAdminToken({ ...rotation, revision: 9 }, changeAt(6)), 'stale');
    assert.equal(await store().rotateAdminToken({ ...rotation, id: 'none' }, changeAt(6)), 'unknown');
    assert.equal(await store().rotateAdminToken({ ...rotation, revision: 1 }, changeAt(6)), 'rotated');
    const rotated = { ...token, hint: 'wxyz', previousOpensUntilMs: 60, revision: 2 };
    assert.deepEqual(await store().findAdminTokenByHash('rotated'), { token: rotated, maker });
    assert.deepEqual(await store().findAdminTokenByHash(hash), { token: rotated, byPreviousSecret: true, maker });
    for (const usedAtMs of [10, 30, 20]) await store().noteAdminTokenUse({ tokenId: created.id, usedAtMs });
    await store().noteAdminTokenUse({ tokenId: 'none', usedAtMs: 10 });
    assert.deepEqual(
      (await store().listAdminTokens()).find(({ id }) => id === created.id),
      { ...rotated, lastUsedAtMs: 30 },
    );
    assert.equal(await store().deleteAdminToken({ id: created.id, revision: 1 }, changeAt(7)), 'stale');
    assert.equal(await store().deleteAdminToken({ id: created.id, revision: 2 }, changeAt(7)), 'deleted');
    assert.equal(await store().deleteAdminToken({ id: created.id }, changeAt(7)), 'unknown');
    assert.equal(await store().findAdminTokenByHash('rotated'), undefined);
    const rows = await store().listAudit({ subject: `admin_token:${created.id}`, limit: 9 });
    assert.deepEqual(
      rows.map(({ action }) => action),
      ['admin_tokens.delete', 'admin_tokens.rotate', 'admin_tokens.create'],
    );
    assert.doesNotMatch(JSON.stringify(rows), /"rotated"|hash-life/);
  });

  test('deleting a person also deletes the admin tokens of the person, with a row for each', async () => {
    const maker = await insert('leaver');
    await store().insertAdminToken(newToken('left', { makerId: maker.id }), changeAt(5));
    await store().insertAdminToken(newToken('local'), changeAt(5));
    await store().deletePerson({ id: maker.id }, changeAt(6));
    assert.equal(await store().findAdminTokenByHash('hash-left'), undefined);
    const { hash, ...local } = newToken('local');
    assert.deepEqual((await store().findAdminTokenByHash(hash))?.token, { ...local, revision: 1 });
    assert.equal((await newestRow('admin_token:token-left')).action, 'admin_tokens.delete');
  });

  test('an action that changes nothing in the store is a row', async () => {
    await store().recordAction(
      { action: 'sessions.refuse', subject: 'sign_in' },
      { ...changeAt(3), address: '10.0.0.2', note: 'wrong password' },
    );
    const row = await newestRow('sign_in');
    assert.deepEqual([row.action, row.note, row.address], ['sessions.refuse', 'wrong password', '10.0.0.2']);
  });
}

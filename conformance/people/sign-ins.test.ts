import assert from 'node:assert/strict';
import { test } from 'node:test';

import { author, hourMs, signInByLink, usePeople } from './people-parts.ts';

const parts = usePeople();
const password = 'correct horse battery';

async function makePerson(name: string) {
  const person = await parts().people.create({ name, role: 'operator' }, author);
  await parts().signIns.setPassword({ personId: person.id, password }, author);
  return person;
}

const tryPassword = (name: string, tried = password, address = '10.9.8.7') =>
  parts().signIns.byPassword({ name, password: tried }, { address });

test('a person signs in with its name in any case and its password; all else is refused in the same words', async () => {
  const { people } = parts();
  await makePerson('Bea');
  const opened = await tryPassword('bea');
  assert.ok(opened !== 'refused' && 'token' in opened);
  assert.deepEqual([opened.person.name, opened.session.way], ['Bea', 'password']);
  const disabled = await makePerson('Dora');
  await people.change({ id: disabled.id }, { disabled: true }, author);
  const bare = await people.create({ name: 'Carl', role: 'viewer' }, author);
  assert.equal(bare.hasPassword, false);
  const tries: [string, string][] = [
    ['bea', 'wrong horse battery'],
    ['bea', ''],
    ['bea', `${password} `],
    ['nobody', password],
    ['Carl', password],
    ['Dora', password],
    ['x'.repeat(100_000), password],
    ['bea', 'x'.repeat(100_000)],
  ];
  for (const [name, tried] of tries) assert.equal(await tryPassword(name, tried), 'refused', `${name.slice(0, 20)} ${tried.slice(0, 30)}`);
});

test('ten failures of a person slow its tries down to one a minute; a link still signs it in', async () => {
  const { clock } = parts();
  const person = await makePerson('Eve');
  for (let failures = 0; failures < 10; failures += 1) assert.equal(await tryPassword('eve', 'wrong', `10.0.1.${failures}`), 'refused');
  assert.deepEqual(await tryPassword('eve', password, '10.0.2.1'), { retryAfterSeconds: 60 });
  assert.ok(await signInByLink(parts(), person.id));
  clock.advance(60_000);
  const opened = await tryPassword('eve', password, '10.0.2.1');
  assert.ok(opened !== 'refused' && 'token' in opened);
  assert.deepEqual(await tryPassword('eve', 'wrong', '10.0.2.1'), 'refused');
  assert.deepEqual(await tryPassword('eve', password, '10.0.2.1'), { retryAfterSeconds: 60 });
  clock.advance(hourMs);
});

test('a name that nobody has is limited like a person', async () => {
  const answers = [];
  for (let failures = 0; failures < 11; failures += 1) answers.push(await tryPassword('ghost', 'wrong', `10.0.3.${failures}`));
  assert.deepEqual(
    answers.slice(0, 10),
    Array.from({ length: 10 }, () => 'refused'),
  );
  assert.deepEqual(answers[10], { retryAfterSeconds: 60 });
});

test('sign-ins and refused ones are rows of the audit log, without what was typed', async () => {
  const { store, signIns } = parts();
  const person = await makePerson('Finn');
  await tryPassword('finn');
  await signIns.byPassword({ name: 'my secret typed as a name', password: 'pw-typed' }, { address: '10.7.7.7', requestId: 'req_9' });
  await tryPassword('finn', 'pw-typed');
  await signIns.byCode('z'.repeat(43), {});
  const [link, wrong, unknown, signedIn] = await store.listAudit({ limit: 4 });
  assert.deepEqual([signedIn?.action, signedIn?.actor, signedIn?.subject], ['sessions.create', 'person:Finn', `person:${person.id}`]);
  assert.deepEqual(
    [unknown?.action, unknown?.subject, unknown?.address, unknown?.requestId],
    ['sessions.refuse', 'sign_in', '10.7.7.7', 'req_9'],
  );
  assert.deepEqual([wrong?.subject, wrong?.note], [`person:${person.id}`, 'wrong name or password']);
  assert.deepEqual([link?.action, link?.after], ['sessions.refuse', '{"way":"link"}']);
  assert.doesNotMatch(JSON.stringify([link, wrong, unknown, signedIn]), /typed|zzzz/);
});

test('a flood of refused sign-ins leaves sixty rows a minute, and then says how many have none', async () => {
  const { store, signIns, clock } = parts();
  clock.advance(hourMs);
  const before = (await store.auditHead()).sequence;
  for (let index = 0; index < 75; index += 1) await signIns.byCode('y'.repeat(43), {});
  assert.equal((await store.auditHead()).sequence, before + 60);
  clock.advance(60_000);
  await signIns.byCode('y'.repeat(43), {});
  const [row] = await store.listAudit({ limit: 1 });
  assert.match(row?.note ?? '', /; 15 more refused sign-ins before this one have no row$/);
});

test('a weak password is refused and changes nothing', async () => {
  const { signIns } = parts();
  const person = await makePerson('Gus');
  for (const weak of ['short', '12345678901', 'Administrator', 'q1w2e3r4t5y6'])
    await assert.rejects(signIns.setPassword({ personId: person.id, password: weak }, author), {
      name: 'PeopleError',
      code: 'weak_password',
    });
  assert.notEqual(await tryPassword('gus'), 'refused');
  assert.equal(await signIns.setPassword({ personId: 'per_none', password }, author), false);
});

test('a person who signs in at a provider gets no password', async () => {
  const { signIns, people } = parts();
  const identity = { issuer: 'https://id.example', subject: '7' };
  const person = (await people.createOfIdentity({ name: 'Hal', role: 'viewer', identity }, author)) ?? assert.fail();
  await assert.rejects(signIns.setPassword({ personId: person.id, password }, author), { code: 'signs_in_elsewhere' });
  const namesake = await people.createOfIdentity({ name: 'hal', role: 'viewer', identity: { ...identity, subject: '8' } }, author);
  assert.equal(namesake?.name, 'hal-2');
  assert.equal(await people.createOfIdentity({ name: 'x', role: 'viewer', identity }, author), undefined);
});

test('an operator makes other people only after it has set a password or signed in at a provider', async () => {
  const { people, signIns } = parts();
  const maker = await people.create({ name: 'Ida', role: 'operator' }, author);
  const second = { name: 'Jan', role: 'viewer', email: 'jan@example.com' } as const;
  await assert.rejects(people.create(second, author, maker.id), { code: 'password_needed' });
  await signIns.setPassword({ personId: maker.id, password }, author);
  assert.equal((await people.create(second, author, maker.id)).email, 'jan@example.com');
});

test('mistakes in a person are named', async () => {
  const { people } = parts();
  const make = (changes: object) => people.create({ name: 'Kim', role: 'viewer', ...changes }, author);
  await assert.rejects(make({ name: '=1+1' }), { code: 'invalid_name' });
  await assert.rejects(make({ users: ['no such user'] }), { code: 'unknown_user', message: /"no such user"/ });
  await assert.rejects(make({ email: 'a b@c' }), { code: 'invalid_email' });
  const kim = await make({});
  await assert.rejects(make({ name: 'KIM' }), { code: 'duplicate_name' });
  await assert.rejects(people.change({ id: kim.id, revision: 7 }, { role: 'owner' }, author), { code: 'stale' });
  assert.equal(await people.change({ id: 'per_none' }, { role: 'owner' }, author), undefined);
});

test('the first operator is made once, also by two processes at the same moment', async () => {
  const { people, another } = parts();
  for (const person of await people.list())
    if (person.role === 'operator') await people.change({ id: person.id }, { name: `old ${person.name}` }, author);
  const operator = await people.ensureOperator(author);
  assert.deepEqual(await another.people.ensureOperator(author), operator);
  await assert.rejects(
    (async () => {
      for (const person of await people.list()) await people.remove({ id: person.id }, author);
    })(),
    { code: 'last_operator' },
  );
});

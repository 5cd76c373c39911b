import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { test } from 'node:test';

import { checkPassword, createPasswords } from './passwords.ts';

test('a hash has the form of PHC with its parameters, a salt of its own, and opens for its password only', async () => {
  const passwords = createPasswords(randomBytes);
  const [first, second] = [await passwords.hash('correct horse battery'), await passwords.hash('correct horse battery')];
  assert.match(first, /^\$argon2id\$v=19\$m=19456,t=2,p=1\$[A-Za-z0-9+/]{22}\$[A-Za-z0-9+/]{43}$/);
  assert.notEqual(first, second);
  assert.deepEqual(await passwords.verify('correct horse battery', first), { matches: true, isOutdated: false });
  assert.deepEqual(await passwords.verify('correct horse battery!', first), { matches: false, isOutdated: false });
});

test('the hash is the one of the reference implementation of Argon2', async () => {
  // Made by the Python package argon2-cffi, which wraps it.
  const passwords = createPasswords(() => Buffer.from('sixteen byte slt'));
  assert.equal(
    await passwords.hash('correct horse battery'),
    '$argon2id$v=19$m=19456,t=2,p=1$c2l4dGVlbiBieXRlIHNsdA$lXK37CikBCKU8CFfdBQXCZmUIwoeIZ+ijs+ixUN8jyY',
  );
});

test('composed and decomposed letters are the same password', async () => {
  const passwords = createPasswords(randomBytes);
  const stored = await passwords.hash('ångström äöü passes');
  assert.equal((await passwords.verify('ångström äöü passes'.normalize('NFD'), stored)).matches, true);
});

test('a hash with weaker parameters opens and is outdated', async () => {
  const passwords = createPasswords(randomBytes);
  const weak = '$argon2id$v=19$m=8192,t=1,p=1$c2l4dGVlbiBieXRlIHNsdA$N0OtkQoSRZenSHHOsLj1/WArC4CRyaIeWEdTr2NdXMY';
  assert.deepEqual(await passwords.verify('correct horse battery', weak), { matches: true, isOutdated: true });
});

test('somebody without a password costs a hash too, and never matches', async () => {
  let hashes = 0;
  const passwords = createPasswords(randomBytes, async (message, _salt, { memory, passes }) => {
    assert.deepEqual([memory, passes], [19_456, 2]);
    hashes += 1;
    return Buffer.alloc(32, message);
  });
  assert.deepEqual(await passwords.verify('x', undefined), { matches: false, isOutdated: false });
  assert.equal(hashes, 1);
});

test('a stored text that would cost too much, or is none of ours, is an error and no match', async () => {
  const passwords = createPasswords(randomBytes);
  const tail = `${'a'.repeat(22)}$${'b'.repeat(43)}`;
  for (const text of [
    '',
    'plain',
    `$argon2id$v=19$m=9999999,t=2,p=1$${tail}`,
    `$argon2id$v=19$m=19456,t=999,p=1$${tail}`,
    `$argon2i$v=19$m=1,t=1,p=1$${tail}`,
  ])
    await assert.rejects(passwords.verify('x', text), /stored hash/);
});

test('two are hashed at once, four wait, and the others are refused until there is room', async () => {
  const held: (() => void)[] = [];
  const passwords = createPasswords(randomBytes, async () => {
    const turn = Promise.withResolvers<void>();
    held.push(turn.resolve);
    await turn.promise;
    return Buffer.alloc(32);
  });
  const work = Array.from({ length: 6 }, () => passwords.hash('a'));
  await assert.rejects(passwords.hash('a'), { code: 'busy' });
  assert.equal(held.length, 2);
  held.shift()?.();
  await work[0];
  const seventh = passwords.hash('a');
  await assert.rejects(passwords.hash('a'), { code: 'busy' });
  let done = 1;
  while (done < 7) {
    held.shift()?.();
    done += 1;
    await new Promise(setImmediate);
  }
  assert.equal((await Promise.all([...work, seventh])).length, 7);
});

test('a failed hash leaves its place to the next one', async () => {
  const passwords = createPasswords(randomBytes, () => Promise.reject(new Error('no memory')));
  for (let index = 0; index < 10; index += 1) await assert.rejects(passwords.hash('a'), /no memory/);
});

test('a password needs 12 characters of any kind, counted as people see them, and none of the commonest', () => {
  for (const good of ['correct horse battery', '            ', 'пароль-пароль', '🐴🔋📎🐴🔋📎🐴🔋📎🐴🔋📎', 'x'.repeat(1024)])
    checkPassword(good);
  for (const [weak, why] of [
    ['elevenchars', /at least 12/],
    ['🐴🔋📎🐴🔋📎🐴🔋📎🐴🔋', /at least 12/],
    ['x'.repeat(1025), /at most 1024/],
    ['administrator', /commonest/],
    ['1QAZ2wsx3EDC', /commonest/],
    ['123456789012', /commonest/],
  ] as const)
    assert.throws(() => checkPassword(weak), { code: 'weak_password', message: why });
});

import assert from 'node:assert/strict';
import { test } from 'node:test';

import { parseName } from '../parse-name.ts';
import { hasClaims, isNameTemplate, nameFromClaims, readClaim } from './claim-names.ts';

const kubernetes = {
  sub: 'system:serviceaccount:team-a:builder',
  'kubernetes.io': { namespace: 'team-a', serviceaccount: { name: 'builder', uid: 'u-1' } },
};

test('claims become names: as they are if they are names, else readable with a hash', () => {
  for (const [template, claims, expected] of [
    ['{sub}', { sub: 'alice' }, 'alice'],
    ['{sub}', { sub: 'Ann Müller' }, 'Ann Müller'],
    ['ci-{repository_owner}', { repository_owner: 'acme' }, 'ci-acme'],
    ['{repository}', { repository: 'acme/app' }, /^acme-app\.[0-9a-f]{16}$/],
    ['{kubernetes.io/namespace}', kubernetes, 'team-a'],
    ['k8s {kubernetes.io/serviceaccount/name}', kubernetes, 'k8s builder'],
    ['{sub}', kubernetes, /^system-serviceaccount-team-a-builder\.[0-9a-f]{16}$/],
    ['{https://example.com/team}', { 'https://example.com/team': 'blue' }, 'blue'],
    ['{uid}', { uid: 1001 }, '1001'],
    ['fixed', {}, 'fixed'],
    ['{sub}', { sub: '=cmd()' }, /^cmd-\.[0-9a-f]{16}$/],
    ['{sub}', { sub: '///' }, /^x\.[0-9a-f]{16}$/],
    ['{sub}', { sub: 'é'.normalize('NFD') }, /^é\.[0-9a-f]{16}$/],
    ['{sub}', { sub: 'x'.repeat(1000) }, /^x{47}\.[0-9a-f]{16}$/],
    ['{sub}', { sub: 'app.0123456789abcdef' }, /^app\.0123456789abcdef\.[0-9a-f]{16}$/],
  ] as const) {
    const name = nameFromClaims(template, claims) ?? assert.fail(template);
    if (typeof expected === 'string') assert.equal(name, expected);
    else assert.match(name, expected);
    assert.equal(parseName('name', name), name);
  }
});

test('a claim that is missing, empty, too long or no text makes no name', () => {
  for (const value of [undefined, null, '', 'x'.repeat(1025), true, 1.5, ['a'], { a: 'b' }])
    assert.equal(nameFromClaims('{sub}', { sub: value }), undefined, JSON.stringify(value));
  assert.equal(nameFromClaims('{__proto__/x}', { sub: 'a' }), undefined);
  assert.equal(nameFromClaims('{constructor}', { sub: 'a' }), undefined);
  assert.equal(nameFromClaims('{a/b}', { a: ['x'] }), undefined);
});

test('different values never make the same name, also if one imitates the name of another', () => {
  const values = ['a/b', 'a:b', 'a-b', 'a b', 'A/B', 'a//b', 'é', 'é'.normalize('NFD'), 'x'.repeat(65), 'x'.repeat(66), ' a', 'a '];
  let seed = 7;
  const random = (below: number): number => (seed = (seed * 48_271) % 2_147_483_647) % below;
  for (let index = 0; index < 5000; index += 1)
    values.push(Array.from({ length: 1 + random(8) }, () => 'ab/:- .=\u0301é0'.charAt(random(12))).join(''));
  const imitations = values.map((value) => nameFromClaims('{v}', { v: value })).filter((name) => name !== undefined);
  const made = new Map<string, string>();
  for (const value of new Set([...values, ...imitations])) {
    const name = nameFromClaims('{v}', { v: value });
    if (name === undefined) continue;
    assert.equal(made.get(name) ?? value, value, `${JSON.stringify(value)} and ${JSON.stringify(made.get(name))} are both ${name}`);
    made.set(name, value);
  }
});

test('a template has at most one claim', () => {
  for (const right of ['{sub}', 'ci', 'ci-{sub}-x', '{a/b}']) assert.equal(isNameTemplate(right), true, right);
  for (const wrong of ['', '{}', '{a}{b}', '{a', 'a}', '{{a}}']) assert.equal(isNameTemplate(wrong), false, wrong);
});

test('demanded claims match whole texts, prefixes and entries of lists, and nothing else', () => {
  const claims = { repository: 'acme/app', groups: ['dev', 'ops'], ref_protected: true, id: 7, nested: { team: 'blue' } };
  for (const [path, allowed, expected] of [
    ['repository', ['acme/app'], true],
    ['repository', ['acme/*'], true],
    ['repository', ['acme'], false],
    ['repository', ['other', 'acme/app'], true],
    ['groups', ['ops'], true],
    ['groups', ['op'], false],
    ['ref_protected', ['true'], true],
    ['id', ['7'], true],
    ['nested/team', ['blue'], true],
    ['missing', ['*'], false],
    ['nested', ['*'], false],
  ] as const)
    assert.equal(hasClaims(claims, { [path]: allowed }), expected, `${path} ${allowed.join()}`);
  assert.equal(hasClaims(claims, { repository: ['acme/app'], groups: ['nobody'] }), false, 'all are demanded');
  assert.equal(readClaim({ 'a/b': 1, a: { b: 2 } }, 'a/b'), 1, 'a whole name comes first');
});

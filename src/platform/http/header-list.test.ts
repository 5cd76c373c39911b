import assert from 'node:assert/strict';
import { test } from 'node:test';

import { compileHeaderList } from './header-list.ts';

test('exact names and prefixes match', () => {
  const passes = compileHeaderList(['user-agent', 'x-stainless-*']);
  for (const name of ['user-agent', 'x-stainless-lang', 'x-stainless-']) assert.equal(passes(name), true, name);
  for (const name of ['user-agent-x', 'x-stainless', 'ax-stainless-lang', 'User-Agent', '', 'x-stainless*'])
    assert.equal(passes(name), false, name);
});

test('an empty list matches nothing, and a single star matches everything', () => {
  assert.equal(compileHeaderList([])('accept'), false);
  assert.equal(compileHeaderList(['*'])('accept'), true);
});

test('a name gets the same answer every time, also after thousands of others', () => {
  const passes = compileHeaderList(['x-a', 'x-b-*']);
  const decide = (): readonly boolean[] => ['x-a', 'x-b-1', 'x-c', 'constructor', '__proto__'].map((name) => passes(name));
  const first = decide();
  assert.deepEqual(first, [true, true, false, false, false]);
  for (let index = 0; index < 3000; index++) assert.equal(passes(`x-flood-${index}`), false);
  assert.deepEqual(decide(), first);
  assert.equal(passes('x-b-late'), true);
});

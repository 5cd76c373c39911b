import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { AccountsError } from './accounts-error.ts';
import { parseName } from './parse-name.ts';

test('names of people, machines and scripts of the world pass', () => {
  for (const name of [
    'a',
    'ci',
    'alice@example.com',
    'team-a_2 prod.v1',
    '财务 部',
    'Ångström',
    'हिन्दी',
    'x'.repeat(64),
    '𠮷'.repeat(64),
  ]) {
    assert.equal(parseName('key name', name), name);
  }
});

test('formula injection, control characters, and wrong first or last characters and lengths are refused with the reason', () => {
  const bad = [
    '',
    ' ',
    ' a',
    'a ',
    '=1+1',
    '+1',
    '-x',
    '@x',
    '.x',
    'a\tb',
    'a\nb',
    'a\0',
    'a/b',
    `a'b`,
    'a"b',
    'a;b',
    '\u202ea',
    '🐟',
    '\ud800',
  ];
  for (const name of [...bad, 'x'.repeat(65), '𠮷'.repeat(65), 'x'.repeat(1_000_000)]) {
    assert.throws(
      () => parseName('key name', name),
      (error: unknown) => error instanceof AccountsError && error.code === 'invalid_name' && error.message.includes('key name'),
      JSON.stringify(name.slice(0, 20)),
    );
  }
});

test('two Unicode spellings of one name become the same name', () => {
  assert.equal(parseName('user name', 'Zoe\u0308'), 'Zo\u00eb');
});

test('a parsed name is parsed again without a change', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme', minLength: 1, maxLength: 20 }), (text) => {
      let name: string;
      try {
        name = parseName('name', text);
      } catch (error) {
        assert.ok(error instanceof AccountsError);
        return;
      }
      assert.equal(parseName('name', name), name);
    }),
  );
});

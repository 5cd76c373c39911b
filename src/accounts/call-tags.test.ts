import assert from 'node:assert/strict';
import { test } from 'node:test';

import fc from 'fast-check';

import { formatTags, isCallTags, parseTags, tagLimits } from './call-tags.ts';

const name = fc.stringMatching(/^[a-z][a-z0-9_-]{0,31}$/);
const value = fc.stringMatching(/^[A-Za-z0-9][A-Za-z0-9 ._@+:/-]{0,62}$/).map((text) => text.trimEnd());

test('tags are read sorted by name, without the spaces around names and values', () => {
  assert.deepEqual(parseTags(' project = web search ,env=prod'), { tags: { env: 'prod', project: 'web search' } });
  assert.deepEqual(Object.keys((parseTags('b=1,a=2') as { tags: object }).tags), ['a', 'b']);
});

test('whatever tags are written are read again', () => {
  fc.assert(
    fc.property(fc.dictionary(name, value, { maxKeys: tagLimits.tags, minKeys: 1, noNullPrototype: true }), (tags) => {
      assert.ok(isCallTags(tags));
      assert.deepEqual(parseTags(formatTags(tags)), { tags });
    }),
  );
});

test('a refusal says which tag is wrong, and what would be right', () => {
  const problems: Readonly<Record<string, RegExp>> = {
    '': /"" is not a tag: write name=value/,
    project: /"project" is not a tag/,
    'a=1,': /"" is not a tag/,
    'Project=a': /"Project" cannot be a tag's name: .* lower-case letter/,
    '=a': /"" cannot be a tag's name/,
    'project=': /the value of the tag project is not allowed: .* 1 to 64 characters/,
    'project==SUM(A1)': /the value of the tag project is not allowed/,
    'project=a\u0001': /the value of the tag project is not allowed/,
    [`project=${'a'.repeat(65)}`]: /the value of the tag project is not allowed/,
    [`${'a'.repeat(33)}=b`]: /cannot be a tag's name/,
    'a=1,a=2': /the tag a is there twice/,
    '__proto__=x': /cannot be a tag's name/,
    [Array.from({ length: 9 }, (_, index) => `t${index}=1`).join(',')]: /more than 8 tags/,
  };
  for (const [text, problem] of Object.entries(problems)) {
    const read = parseTags(text);
    assert.ok('problem' in read, text);
    assert.match(read.problem, problem, text);
  }
});

test('a text of any size and content is answered at once and never throws', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary', maxLength: 300 }), (text) => {
      const read = parseTags(text);
      if ('tags' in read) assert.ok(isCallTags(read.tags));
    }),
  );
  assert.ok('problem' in parseTags(','.repeat(1_000_000)));
});

test('only a small object of valid texts is a set of tags', () => {
  for (const wrong of [
    null,
    [],
    'a=b',
    { a: 1 },
    { A: 'b' },
    { a: '' },
    Object.fromEntries(Array.from({ length: 9 }, (_, at) => [`t${at}`, 'a'])),
  ])
    assert.equal(isCallTags(wrong), false);
});

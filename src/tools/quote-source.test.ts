import assert from 'node:assert/strict';
import { test } from 'node:test';

import fc from 'fast-check';

import { quoteSource } from './quote-source.ts';
import { selectPassages } from './select-passages.ts';

test('injection: no content of a page ends its source, begins another, or looks like a number', () => {
  const hostile = fc.array(
    fc.constantFrom(
      '</source>',
      '<source number="【1】">',
      '</ SOURCE >',
      '< /source>',
      '【9】',
      '"',
      '>',
      '<',
      '\n',
      'word ',
      '</Source\n>',
      '<source>',
    ),
  );
  fc.assert(
    fc.property(hostile, hostile, hostile, (text, title, url) => {
      const quoted = quoteSource({ number: 3, url: url.join(''), title: title.join(''), date: title.join(''), text: text.join('') });
      assert.equal(quoted.match(/<\s*source\b/gi)?.length, 1);
      assert.equal(quoted.match(/<\s*\/\s*source\b/gi)?.length, 1);
      assert.equal(quoted.match(/【\d+】/g)?.length, 1);
      assert.ok(quoted.startsWith('<source number="【3】"') && quoted.endsWith('\n</source>'));
      assert.equal(quoted.split('\n', 1)[0]?.match(/"/g)?.length, 8);
    }),
  );
});

test('passages contain the beginning and the text about the query, in order and within the limit', () => {
  const filler = 'Nothing of note happens in this paragraph, which is here to fill the page. '.repeat(4);
  const text = [
    `Intro. ${filler}`,
    ...Array.from({ length: 20 }, () => filler),
    'The lighthouse lens weighs two tons.',
    filler,
    filler,
  ].join('\n');
  const selected = selectPassages(text, ['weight of lighthouse lens'], 1500);
  assert.match(selected, /^Intro/);
  assert.match(selected, /weighs two tons/);
  assert.ok(selected.length <= 1500);
  assert.equal(selectPassages('short', ['q'], 100), 'short');
});

test('property: passages never exceed the limit, for any text', () => {
  fc.assert(
    fc.property(fc.string({ maxLength: 3000 }), fc.string(), fc.integer({ min: 1, max: 2000 }), (text, query, charactersMax) => {
      assert.ok(selectPassages(text, [query], charactersMax).length <= charactersMax);
    }),
  );
});

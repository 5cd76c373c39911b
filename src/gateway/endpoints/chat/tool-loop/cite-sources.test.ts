import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';

import type { Citation } from '../../../../inference/citation.ts';
import type { InferenceEvent } from '../../../../inference/inference-event.ts';
import { formatSourceNumber, type Source } from '../../../../tools/gateway-tool.ts';
import { citeSources } from './cite-sources.ts';

const sources = new Map<number, Source>(
  [1, 2, 3].map((number) => [number, { number, citation: { source: { kind: 'url', url: `https://example.org/${number}` } } }]),
);

/** The text and the citations that the pieces of one text result in. */
function cite(pieces: readonly string[]): {
  readonly text: string;
  readonly citations: readonly Citation[];
  readonly events: readonly InferenceEvent[];
} {
  const step = citeSources(sources);
  const events = [
    { type: 'block-started', index: 0, block: { kind: 'text' } } as const,
    ...pieces.filter((piece) => piece !== '').map((text) => ({ type: 'delta', index: 0, text }) as const),
    { type: 'block-ended', index: 0 } as const,
  ].flatMap((event) => step(event));
  const text = events.map((event) => (event.type === 'delta' ? event.text : '')).join('');
  return { text, citations: events.flatMap((event) => (event.type === 'citation' ? [event.citation] : [])), events };
}

const spanOf = (text: string, { start, end }: Citation): string => Array.from(text).slice(start, end).join('');

const cases: readonly (readonly [written: string, text: string, cited: readonly string[]])[] = [
  ['Cats purr.【1】', 'Cats purr.', ['Cats purr.']],
  ['Cats purr【1】.', 'Cats purr.', ['Cats purr']],
  ['Cats purr. Dogs bark.【2】 Birds sing.【3】', 'Cats purr. Dogs bark. Birds sing.', ['Dogs bark.', 'Birds sing.']],
  ['Cats purr. 【1】【2】 【3†page】 And so on.', 'Cats purr. And so on.', ['Cats purr.', 'Cats purr.', 'Cats purr.']],
  ['😀 Cats 🐈 purr.【1】', '😀 Cats 🐈 purr.', ['😀 Cats 🐈 purr.']],
  ['猫会呼噜。狗会叫。【2】', '猫会呼噜。狗会叫。', ['狗会叫。']],
  ['Cats purr【9】 and【 more', 'Cats purr【9】 and【 more', []],
  ['【1】Cats', 'Cats', []],
  ['- Cats purr【1】\n- Dogs bark【2】\n', '- Cats purr\n- Dogs bark\n', ['- Cats purr', '- Dogs bark']],
];

for (const [written, text, cited] of cases) {
  test(`${JSON.stringify(written)} has the same citations in one piece and letter by letter`, () => {
    for (const pieces of [[written], written.split('')]) {
      const read = cite(pieces);
      assert.equal(read.text, text);
      assert.deepEqual(
        read.citations.map((citation) => spanOf(read.text, citation)),
        cited,
      );
    }
  });
}

const letters = fc.constantFrom(
  'a',
  ' ',
  '.',
  '\n',
  '😀',
  '【',
  '】',
  '1',
  '†',
  '。',
  formatSourceNumber(1),
  formatSourceNumber(3),
  formatSourceNumber(7),
);
const text = fc.array(letters, { maxLength: 60 }).map((parts) => parts.join(''));

function cut(whole: string, at: readonly number[]): string[] {
  const places = [...new Set(at.map((place) => place % (whole.length + 1)))].toSorted((first, second) => first - second);
  return [0, ...places].map((from, index) => whole.slice(from, places[index] ?? whole.length));
}

test('a text that is cut anywhere has the same result, and every citation lies inside it', () => {
  fc.assert(
    fc.property(text, fc.array(fc.nat(), { maxLength: 8 }), (whole, at) => {
      const one = cite([whole]);
      const other = cite(cut(whole, at));
      assert.equal(other.text, one.text);
      assert.deepEqual(other.citations, one.citations);
      const length = Array.from(one.text).length;
      for (const { start = -1, end = -1 } of other.citations) assert.ok(0 <= start && start < end && end <= length);
    }),
  );
});

test('a text without numbers of sources does not change', () => {
  const plain = fc
    .array(fc.constantFrom('a', ' ', '【', '】', '【9】', '[1]', '😀', '†', '\n'), { maxLength: 60 })
    .map((parts) => parts.join(''));
  fc.assert(
    fc.property(plain, fc.array(fc.nat(), { maxLength: 8 }), (whole, at) => {
      assert.equal(cite(cut(whole, at)).text, whole);
    }),
  );
});

test('text that cannot become a number is not held', () => {
  const step = citeSources(sources);
  step({ type: 'block-started', index: 0, block: { kind: 'text' } });
  assert.deepEqual(step({ type: 'delta', index: 0, text: 'Cats purr' }), [{ type: 'delta', index: 0, text: 'Cats purr' }]);
  assert.deepEqual(step({ type: 'delta', index: 0, text: '【a' }), [{ type: 'delta', index: 0, text: '【a' }]);
});

import assert from 'node:assert/strict';
import { test } from 'node:test';

import fc from 'fast-check';

import { anyUnit } from '../../platform/testing/any-unit.ts';
import type { FileFilter } from '../../inference/inference-request.ts';
import { chunkText, estimateTextTokens } from './chunk-text.ts';
import { fitsFilter } from './fits-filter.ts';
import { fuseRanks, joinQueries } from './fuse-ranks.ts';
import { matchExpression, toTerms } from './index-terms.ts';
import { createPieceSealer } from './piece-sealer.ts';

test('any text is cut into chunks that fit and cover it in order', () => {
  const character = fc.constantFrom('a', 'b', ' ', '\n', '\n\n', '. ', '。', '漢', '😀', 'word ', 'x'.repeat(900));
  const text = fc.array(character, { maxLength: 200 }).map((parts) => parts.join(''));
  fc.assert(
    fc.property(text, fc.integer({ min: 100, max: 500 }), fc.double({ min: 0, max: 0.5, noNaN: true }), (whole, tokensMax, share) => {
      const chunks = chunkText(whole, { isAuto: false, tokensMax, overlapTokens: Math.floor(tokensMax * share) });
      let from = 0;
      for (const chunk of chunks) {
        assert.ok(estimateTextTokens(chunk) <= tokensMax, `${estimateTextTokens(chunk)} of ${tokensMax}`);
        assert.notEqual(chunk.trim(), '');
        assert.ok(chunk.isWellFormed());
        const at = whole.indexOf(chunk, from);
        assert.ok(at >= 0, 'a chunk stands in the text, no earlier than the one before it');
        from = at;
      }
      const letters = (part: string): number => part.replaceAll(/\s/gu, '').length;
      assert.ok(chunks.reduce((sum, chunk) => sum + letters(chunk), 0) >= letters(whole), 'nothing is left out');
    }),
    { numRuns: 300 },
  );
});

test('chunks overlap as far as allowed and end with a sentence', () => {
  const sentences = Array.from({ length: 200 }, (_, index) => `Sentence number ${index} is about as long as the others.`);
  const chunks = chunkText(sentences.join(' '), { isAuto: false, tokensMax: 200, overlapTokens: 100 });
  assert.ok(chunks.length > 10);
  for (const [index, chunk] of chunks.entries()) {
    assert.match(chunk, /^Sentence .*others\.$/s);
    const next = chunks[index + 1];
    if (next !== undefined) assert.ok(chunk.includes(next.slice(0, 60)), 'the next one begins within this one');
  }
});

test('words of scripts without spaces are found by parts of their sentences', () => {
  const words = (text: string): ReadonlySet<string> => new Set(toTerms(text).split(/\s+/));
  assert.ok(words('我住在北京大学附近').has('北京大学') || words('我住在北京大学附近').has('北京'));
  assert.ok(words('東京タワーは高い').has('東京'));
  assert.ok(words('서울에서 왔다').has('서울'));
});

test('a match expression contains only quoted words', () => {
  fc.assert(
    fc.property(fc.string({ unit: anyUnit, maxLength: 60 }), (query) => {
      const match = matchExpression(query);
      if (match !== undefined) assert.match(match, /^"[\p{L}\p{N}\p{M}]+"(?: OR "[\p{L}\p{N}\p{M}]+"){0,63}$/u);
    }),
    { numRuns: 50 },
  );
  assert.equal(matchExpression('" OR * NEAR('), '"or" OR "near"');
  assert.equal(matchExpression('-- ""'), undefined);
});

test('conditions on attributes cover every operator, absent keys and other types', () => {
  const attributes = { year: 2001, name: 'b', done: true };
  const compare = (
    operator: Extract<FileFilter, { kind: 'compare' }>['operator'],
    key: string,
    value: string | number | boolean | string[] | number[],
  ) => fitsFilter({ kind: 'compare', key, operator, value }, attributes);
  const cases: readonly (readonly [boolean, Parameters<typeof compare>])[] = [
    [true, ['eq', 'year', 2001]],
    [false, ['eq', 'year', '2001']],
    [true, ['ne', 'year', 2000]],
    [true, ['ne', 'none', 1]],
    [false, ['eq', 'none', 1]],
    [true, ['gt', 'year', 2000]],
    [false, ['gt', 'year', 2001]],
    [true, ['gte', 'year', 2001]],
    [true, ['lt', 'name', 'c']],
    [false, ['lt', 'year', 'c']],
    [false, ['lt', 'none', 1]],
    [true, ['lte', 'year', 2001]],
    [true, ['in', 'name', ['a', 'b']]],
    [false, ['in', 'none', ['a']]],
    [true, ['nin', 'name', ['a']]],
    [true, ['nin', 'none', ['a']]],
    [false, ['eq', 'toString', 'x']],
  ];
  for (const [expected, [operator, key, value]] of cases)
    assert.equal(compare(operator, key, value), expected, `${operator} ${key} ${String(value)}`);
  const year = { kind: 'compare', key: 'year', operator: 'eq', value: 2001 } as const;
  const name = { kind: 'compare', key: 'name', operator: 'eq', value: 'z' } as const;
  assert.equal(fitsFilter({ kind: 'and', filters: [year, name] }, attributes), false);
  assert.equal(fitsFilter({ kind: 'or', filters: [name, { kind: 'and', filters: [year] }] }, attributes), true);
});

test('scores are from 0 to 1, and chunks with high ranks in all rankings come first', () => {
  const ids = fc.uniqueArray(fc.integer({ min: 1, max: 30 }), { maxLength: 30 });
  fc.assert(
    fc.property(ids, ids, (left, right) => {
      const fused = fuseRanks([
        { ids: left, weight: 1 },
        { ids: right, weight: 2 },
      ]);
      assert.ok(fused.every(({ score }) => score > 0 && score <= 1 + 1e-9));
      if (left[0] !== undefined && left[0] === right[0]) assert.equal(fused[0]?.id, left[0]);
      assert.deepEqual(new Set(fused.map(({ id }) => id)), new Set([...left, ...right]));
    }),
  );
  assert.deepEqual(
    joinQueries([
      [{ id: 1, score: 0.2 }],
      [
        { id: 1, score: 0.6 },
        { id: 2, score: 0.5 },
      ],
    ]),
    [
      { id: 1, score: 0.6 },
      { id: 2, score: 0.5 },
    ],
  );
});

test('a sealed piece opens only in its own place', () => {
  const sealer = createPieceSealer(Buffer.alloc(32, 1));
  const sealed = sealer.seal('file-a', 0, Buffer.from('secret text'));
  assert.ok(!Buffer.from(sealed).includes('secret'));
  assert.equal(sealer.open('file-a', 0, sealed)?.toString(), 'secret text');
  assert.equal(sealer.open('file-a', 1, sealed), undefined);
  assert.equal(sealer.open('file-b', 0, sealed), undefined);
  assert.equal(createPieceSealer(Buffer.alloc(32, 2)).open('file-a', 0, sealed), undefined);
  assert.equal(sealer.open('file-a', 0, sealed.subarray(0, -1)), undefined);
  assert.equal(sealer.open('file-a', 0, new Uint8Array(3)), undefined);
});

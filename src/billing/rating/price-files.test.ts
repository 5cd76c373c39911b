import assert from 'node:assert/strict';
import { describe, test } from 'node:test';

import { diffPriceBooks } from './diff-price-books.ts';
import { loadShippedPriceBook } from './load-shipped-price-book.ts';
import { mergePriceBooks } from './merge-price-books.ts';
import { parsePriceBook } from './parse-price-book.ts';
import { createPriceBook } from './price-book.ts';
import { bookOf, plainEntry } from './testing/price-book-kit.ts';

const priced = (input: string, more: Record<string, unknown> = {}) =>
  plainEntry({ tiers: [{ inputAbove: 0, prices: { input, output: '9' } }], ...more });

describe('a book on top of another', () => {
  const base = bookOf(
    priced('1'),
    priced('2', { effectiveFrom: '2026-05-01' }),
    priced('3', { model: 'm-2', aliases: ['m-two', 'm-deux'] }),
    priced('4', { vendor: 'other' }),
  );

  test('its entries of a model replace all entries of the other', () => {
    const { entries, version } = mergePriceBooks(base, { ...bookOf(priced('7')), version: 'ours' });
    assert.deepEqual(
      entries.map(({ vendor, model, effectiveFrom, tiers }) => [vendor, model, effectiveFrom, tiers?.[0]?.prices.input]),
      [
        ['acme', 'm-2', '2026-01-01', '3'],
        ['other', 'm-1', '2026-01-01', '4'],
        ['acme', 'm-1', '2026-01-01', '7'],
      ],
    );
    assert.equal(version, 'test+ours');
  });

  test('its names are removed from other models, so that the merged book is valid', () => {
    const merged = mergePriceBooks(base, bookOf(priced('7', { model: 'm-two' }), priced('8', { model: 'm-9', aliases: ['m-1'] })));
    assert.deepEqual(
      merged.entries.map(({ vendor, model, aliases }) => `${vendor}/${model} ${aliases?.join() ?? ''}`),
      ['acme/m-2 m-deux', 'other/m-1 ', 'acme/m-two ', 'acme/m-9 m-1'],
    );
    assert.deepEqual(parsePriceBook(merged).entries, merged.entries);
  });

  test('the shipped book merged with itself is unchanged', () => {
    const shipped = loadShippedPriceBook();
    assert.deepEqual(diffPriceBooks(shipped, parsePriceBook(mergePriceBooks(shipped, shipped))), []);
  });
});

describe('the differences of two books', () => {
  test('there are none between a book and itself, nor if only remarks and versions differ', () => {
    const [one, other] = [
      bookOf(priced('1')),
      bookOf(priced('1', { note: 'seen again', checked: '2026-11-01', source: 'elsewhere', displayName: 'M', released: '2026-01-01' })),
    ];
    assert.deepEqual(diffPriceBooks(one, other), []);
    assert.notEqual(createPriceBook({ book: one }).version, createPriceBook({ book: other }).version);
  });

  test('they list every changed, added and removed price by entry and member', () => {
    const before = bookOf(priced('1', { serviceTiers: { flex: '0.5' } }), priced('1', { model: 'gone' }));
    const after = bookOf(
      priced('2', { fees: { call: '1' }, multipliers: [{ name: 'm', factor: '2' }] }),
      plainEntry({ model: 'new', tiers: undefined, media: { characters: '15', videoSecond: { '720p': '0.1' } } }),
    );
    assert.deepEqual(diffPriceBooks(before, after), [
      { entry: 'acme/gone@2026-01-01', member: '', before: 'input 1, output 9' },
      { entry: 'acme/m-1@2026-01-01', member: 'tiers.0.prices.input', before: '1', after: '2' },
      { entry: 'acme/m-1@2026-01-01', member: 'serviceTiers.flex', before: '0.5' },
      { entry: 'acme/m-1@2026-01-01', member: 'fees.call', after: '1' },
      { entry: 'acme/m-1@2026-01-01', member: 'multipliers.0.name', after: 'm' },
      { entry: 'acme/m-1@2026-01-01', member: 'multipliers.0.factor', after: '2' },
      { entry: 'acme/new@2026-01-01', member: '', after: 'characters 15, videoSecond {"720p":"0.1"}' },
    ]);
  });
});

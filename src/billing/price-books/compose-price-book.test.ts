import assert from 'node:assert/strict';
import { test } from 'node:test';

import { type PriceBookData, parsePriceBook } from '../rating/parse-price-book.ts';
import { plainEntry } from '../rating/testing/price-book-kit.ts';
import { composePriceBook, type Publication } from './compose-price-book.ts';

/** A book of entries such as `m-1 2026-01-01`, or `m-1 2026-01-01 2026-03-01` for one with an end. */
const bookOf = (...entries: readonly string[]): PriceBookData =>
  parsePriceBook({
    version: 'test',
    currency: 'USD',
    entries: entries.map((entry) => {
      const [model, effectiveFrom, effectiveUntil] = entry.split(' ');
      return plainEntry({ model, effectiveFrom, ...(effectiveUntil === undefined ? {} : { effectiveUntil }) });
    }),
  });

const tell = (book: PriceBookData): readonly string[] =>
  book.entries
    .map(({ model, effectiveFrom, effectiveUntil }) => [model, effectiveFrom, effectiveUntil].filter(Boolean).join(' '))
    .toSorted();

const compose = (publication: Partial<Publication>): readonly string[] => {
  const book = composePriceBook({
    inForce: bookOf('a 2026-01-01', 'b 2026-01-01', 'b 2026-06-01', 'c 2026-12-24'),
    published: undefined,
    file: bookOf('a 2026-05-01'),
    from: '2026-12-01',
    scope: 'override',
    endsOthers: false,
    ...publication,
  });
  return tell(parsePriceBook(book));
};

test('an override has the models of the file and of earlier publications, with all their earlier prices', () => {
  assert.deepEqual(compose({}), ['a 2026-01-01', 'a 2026-12-01']);
  assert.deepEqual(compose({ published: bookOf('b 2026-06-01') }), ['a 2026-01-01', 'a 2026-12-01', 'b 2026-01-01', 'b 2026-06-01']);
});

test('a whole book has every model, and ends the others on its day if requested, whatever windows they have', () => {
  assert.deepEqual(compose({ scope: 'whole' }), ['a 2026-01-01', 'a 2026-12-01', 'b 2026-01-01', 'b 2026-06-01', 'c 2026-12-24']);
  assert.deepEqual(compose({ scope: 'whole', endsOthers: true }), [
    'a 2026-01-01',
    'a 2026-12-01',
    'b 2026-01-01',
    'b 2026-06-01 2026-12-01',
  ]);
  const inForce = bookOf('a 2026-01-01', 'b 2026-01-01 2026-02-01', 'c 2026-01-01 2027-02-01');
  assert.deepEqual(compose({ scope: 'whole', endsOthers: true, inForce }), [
    'a 2026-01-01',
    'a 2026-12-01',
    'b 2026-01-01 2026-02-01',
    'c 2026-01-01 2026-12-01',
  ]);
});

import assert from 'node:assert/strict';
import { test } from 'node:test';

import { createPriceBook } from '../rating/price-book.ts';
import { bookOf, callOf, plainEntry } from '../rating/testing/price-book-kit.ts';
import { onlyModelsOf, stagePriceBook } from './stage-price-book.ts';

const prices = (input: string) => ({ tiers: [{ inputAbove: 0, prices: { input, output: '10' } }] });
const windowsOf = (entries: readonly { readonly model: string; readonly effectiveFrom: string; readonly effectiveUntil?: string }[]) =>
  entries.map(({ model, effectiveFrom, effectiveUntil = '' }) => `${model} ${effectiveFrom} ${effectiveUntil}`.trim());

test('the new prices are valid from the day on and earlier prices stay, so the cost of past calls does not change', () => {
  const inForce = bookOf(plainEntry(), plainEntry({ effectiveFrom: '2026-06-01', ...prices('3') }), plainEntry({ model: 'm-2' }));
  const stagedBook = stagePriceBook(inForce, bookOf(plainEntry({ ...prices('4') })), '2026-12-01');
  assert.deepEqual(windowsOf(stagedBook.entries), ['m-1 2026-01-01', 'm-1 2026-06-01', 'm-2 2026-01-01', 'm-1 2026-12-01']);
  const [before, after] = [inForce, stagedBook].map((book) => createPriceBook({ book }));
  const costOn = (book: typeof before, day: string) =>
    book?.rate(callOf({ inputTokens: 1_000_000 }, { acceptedAtMs: Date.parse(`${day}T12:00:00Z`) })).amountNanoUsd;
  for (const day of ['2025-01-01', '2026-03-01', '2026-06-01', '2026-11-30']) assert.equal(costOn(after, day), costOn(before, day), day);
  assert.equal(costOn(after, '2026-12-01'), 4_000_000_000n);
});

test('later windows of the book in force are removed, and one that would end later ends where the new one begins', () => {
  const inForce = bookOf(
    plainEntry({ effectiveUntil: '2027-01-01' }),
    plainEntry({ effectiveFrom: '2027-02-01', ...prices('9') }),
    plainEntry({ model: 'm-2', effectiveUntil: '2026-02-01' }),
  );
  const stagedBook = stagePriceBook(inForce, bookOf(plainEntry(), plainEntry({ model: 'm-2' })), '2026-12-01');
  assert.deepEqual(windowsOf(stagedBook.entries), ['m-1 2026-01-01', 'm-2 2026-01-01 2026-02-01', 'm-1 2026-12-01', 'm-2 2026-12-01']);
});

test('of a file with several windows the one of that day begins on it, earlier ones are omitted, and later ones keep their beginning', () => {
  const file = bookOf(
    plainEntry({ effectiveFrom: '2025-01-01' }),
    plainEntry({ effectiveFrom: '2026-07-01', ...prices('3') }),
    plainEntry({ effectiveFrom: '2027-03-01', ...prices('5') }),
    plainEntry({ model: 'm-3', effectiveFrom: '2027-05-01' }),
  );
  const stagedBook = stagePriceBook(bookOf(plainEntry({ model: 'm-3' })), file, '2026-12-01');
  assert.deepEqual(windowsOf(stagedBook.entries), ['m-3 2026-01-01', 'm-1 2026-12-01', 'm-1 2027-03-01', 'm-3 2027-05-01']);
});

test('windows that begin or end on that day are kept on the adjacent side', () => {
  const inForce = bookOf(plainEntry({ effectiveUntil: '2026-12-01' }), plainEntry({ effectiveFrom: '2026-12-01', ...prices('9') }));
  const file = bookOf(plainEntry(), plainEntry({ effectiveFrom: '2026-12-01', effectiveUntil: '2027-01-01', ...prices('4') }));
  const { entries } = stagePriceBook(inForce, file, '2026-12-01');
  assert.deepEqual(windowsOf(entries), ['m-1 2026-01-01 2026-12-01', 'm-1 2026-12-01 2027-01-01']);
  assert.equal(entries[1]?.tiers?.[0]?.prices.input, '4');
  const over = bookOf(plainEntry({ effectiveUntil: '2026-12-01' }));
  assert.throws(() => stagePriceBook(inForce, over, '2026-12-01'), /its prices end before 2026-12-01/);
});

test('prices that end before that day, and a name of another model, are refused', () => {
  const ended = bookOf(plainEntry({ effectiveUntil: '2026-06-01' }));
  assert.throws(() => stagePriceBook(bookOf(plainEntry()), ended, '2026-12-01'), /acme\/m-1: its prices end before 2026-12-01/);
  const claiming = bookOf(plainEntry({ model: 'm-9', aliases: ['m-1'] }));
  assert.throws(() => stagePriceBook(bookOf(plainEntry()), claiming, '2026-12-01'), /acme\/m-1 already belongs to m-1/);
});

test('only the models of a file are written into it', () => {
  const all = bookOf(plainEntry(), plainEntry({ model: 'm-2' }), plainEntry({ model: 'm-3' }));
  const named = [bookOf(plainEntry({ model: 'm-3' })), bookOf(plainEntry())];
  assert.deepEqual(windowsOf(onlyModelsOf(all, named).entries), ['m-1 2026-01-01', 'm-3 2026-01-01']);
});

import assert from 'node:assert/strict';
import { test } from 'node:test';

import type { PublishedPriceBook } from '../../src/billing/price-books/price-book-store.ts';
import { type StoreUnderTest, useEngine } from './store-under-test.ts';
import { changeAt } from '../../src/audit/testing/test-change.ts';

const createBook = (number: number, more: Partial<PublishedPriceBook> = {}): PublishedPriceBook => ({
  number,
  digest: `digest-${number}`,
  label: `ours-${number}`,
  scope: number % 2 === 0 ? 'whole' : 'override',
  effectiveFrom: '2026-12-01',
  publishedAtMs: 1000 + number,
  actor: 'ann',
  book: `{"number":${number}}`,
  ...more,
});

function summaryOf({ book: _book, ...summary }: PublishedPriceBook): Omit<PublishedPriceBook, 'book'> {
  return summary;
}

/** Published price books and the prices of each price version, on each engine. */
export function priceBookSuite(open: () => Promise<StoreUnderTest>): void {
  const engine = useEngine(open);
  const noted = createBook(2, { note: 'autumn “prices”\nas agreed' });

  test('a number is assigned once, however many processes request one, and the newest book is found by its content', async () => {
    assert.equal(await engine().store().newestPriceBook(), undefined);
    assert.deepEqual(await engine().store().listPriceBooks({ limit: 10 }), []);
    const another = await engine().openAnother();
    const rivals = [1, 2, 3, 4].map((rival) =>
      (rival % 2 === 0 ? another : engine().store()).insertPriceBook(createBook(1, { actor: `rival ${rival}` }), changeAt()),
    );
    assert.equal((await Promise.all(rivals)).filter(Boolean).length, 1);
    const first = await engine().store().findPriceBook(1);
    assert.equal(await another.insertPriceBook(createBook(1, { book: 'other' }), changeAt()), false);
    assert.equal(await another.insertPriceBook(noted, changeAt()), true);
    assert.deepEqual(await engine().store().newestPriceBook(), summaryOf(noted));
    assert.deepEqual(await engine().store().findPriceBook(2), noted);
    assert.deepEqual(await engine().store().findPriceBook(1), first);
    assert.equal(await engine().store().findPriceBook(3), undefined);
  });

  test('books are listed the newest first, page by page', async () => {
    await engine().store().insertPriceBook(createBook(3), changeAt());
    const numbers = async (page: { before?: number; limit: number }) =>
      (await engine().store().listPriceBooks(page)).map(({ number }) => number);
    assert.deepEqual(await numbers({ limit: 2 }), [3, 2]);
    assert.deepEqual(await numbers({ limit: 2, before: 2 }), [1]);
    assert.deepEqual((await engine().store().listPriceBooks({ limit: 2 }))[1], summaryOf(noted));
  });

  test('the prices of a version are kept as first written, of any size', async () => {
    const basis = JSON.stringify({ text: 'é “x” '.repeat(200_000) });
    assert.equal(await engine().store().findRecordedPrices('v+1'), undefined);
    await engine().store().recordPrices({ version: 'v+1', basis, recordedAtMs: 5 });
    await engine().store().recordPrices({ version: 'v+1', basis: 'other', recordedAtMs: 6 });
    await engine().reopen();
    assert.deepEqual(await engine().store().findRecordedPrices('v+1'), { version: 'v+1', basis, recordedAtMs: 5 });
  });

  test('a published book can be neither changed nor deleted, also not outside the store', async () => {
    const before = await engine().store().findPriceBook(2);
    for (const sql of [
      "update price_books set book = '{}'",
      'delete from price_books',
      "update price_versions set basis = '{}'",
      'delete from price_versions',
    ])
      await assert.rejects(engine().tamper(sql), /append-only/, sql);
    assert.deepEqual(await engine().store().findPriceBook(2), before);
  });
}

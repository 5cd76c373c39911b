import assert from 'node:assert/strict';
import { test } from 'node:test';

import { priceDraftsMax } from '../../src/billing/price-books/price-draft.ts';
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

  test('a draft is kept, changed with its version, deleted, and none is made beyond the limit', async () => {
    const store = engine().store();
    const draft = { name: 'December', book: '{"a":1}', createdAtMs: 5, changedAtMs: 5, actor: 'person:ann' };
    for (let each = 0; each < priceDraftsMax; each += 1)
      assert.equal(await store.insertPriceDraft({ ...draft, id: `pd_${String(each).padStart(3, '0')}` }, changeAt(5)), true);
    assert.equal(await store.insertPriceDraft({ ...draft, id: 'pd_more' }, changeAt(5)), false);
    assert.equal((await store.listPriceDrafts())[0]?.id, `pd_${priceDraftsMax - 1}`.replace('pd_99', 'pd_099'));
    const seen = await store.subjectVersion('price_draft:pd_000');
    assert.equal(await store.changePriceDraft('pd_000', { note: 'why', book: '{"a":2}' }, { ...changeAt(6), expectedVersion: seen }), true);
    const changed = { ...draft, id: 'pd_000', note: 'why', book: '{"a":2}', changedAtMs: 6 };
    assert.deepEqual(await store.findPriceDraft('pd_000'), changed);
    await assert.rejects(store.changePriceDraft('pd_000', { name: 'x' }, { ...changeAt(7), expectedVersion: seen }), {
      kind: 'version-mismatch',
    });
    assert.equal(await store.changePriceDraft('pd_000', { note: null }, changeAt(8)), true);
    assert.equal((await store.findPriceDraft('pd_000'))?.note, undefined);
    assert.equal(await store.deletePriceDraft('pd_000', changeAt(9)), true);
    assert.equal(await store.deletePriceDraft('pd_000', changeAt(9)), false);
    assert.equal(await store.changePriceDraft('pd_000', { name: 'x' }, changeAt(9)), false);
  });
}

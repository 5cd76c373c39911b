import { loadShippedPriceBook } from '../rating/load-shipped-price-book.ts';
import type { PriceBookData } from '../rating/parse-price-book.ts';
import { parsePriceBasis } from '../rating/price-basis.ts';
import type { PriceBookStore } from './price-book-store.ts';
import type { PriceDesk } from './price-desk.ts';
import { findNewestBook } from './publish-prices.ts';
import { readPublishedBook } from './published-book.ts';

/**
 * A book by its name: `in_force`, `shipped`, the number of a published book, or a price version of a receipt.
 * @returns undefined if there is none
 * @throws PriceBookError if the configuration has none that can be read
 */
export async function findNamedBook(
  name: string,
  {
    store,
    desk,
  }: { readonly store: Pick<PriceBookStore, 'newestPriceBook' | 'findPriceBook' | 'findRecordedPrices'>; readonly desk: PriceDesk },
): Promise<PriceBookData | undefined> {
  if (name === 'in_force') return desk.load(await findNewestBook(store)).book;
  if (name === 'shipped') return loadShippedPriceBook();
  const number = /^(?:store-)?([1-9]\d{0,14})$/.exec(name)?.[1];
  if (number !== undefined) {
    const found = await store.findPriceBook(Number(number));
    return found === undefined ? undefined : readPublishedBook(found);
  }
  const recorded = await store.findRecordedPrices(name);
  return recorded === undefined ? undefined : parsePriceBasis(recorded.basis).book;
}

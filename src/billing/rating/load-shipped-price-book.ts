import shipped from './price-book.json' with { type: 'json' };
import { parsePriceBook } from './parse-price-book.ts';
import type { PriceBookData } from './parse-price-book.ts';

/** The price book of this release: vendors' list prices, each with its source and the day it was checked. */
export function loadShippedPriceBook(): PriceBookData {
  return parsePriceBook(shipped);
}

import shipped from './price-book.json' with { type: 'json' };
import { parsePriceBook } from './parse-price-book.ts';
import type { PriceBookData } from './parse-price-book.ts';

let parsed: PriceBookData | undefined;

/**
 * The price book of this release: vendors' list prices, each with its source and the day it was checked. It is parsed
 * once, because a start reads the configuration several times.
 */
export function loadShippedPriceBook(): PriceBookData {
  return (parsed ??= parsePriceBook(shipped));
}

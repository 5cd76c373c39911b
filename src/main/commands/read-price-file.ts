import { readFileSync } from 'node:fs';

import { loadShippedPriceBook } from '../../billing/rating/load-shipped-price-book.ts';
import { type PriceBookData, PriceBookError } from '../../billing/rating/parse-price-book.ts';
import { readPriceBook } from '../../billing/price-books/read-price-book.ts';
import { StartError } from '../environment.ts';

/** Reads a price book file; `shipped` is the book of this release. @throws StartError naming every problem */
export function readPriceFile(file: string): PriceBookData {
  if (file === 'shipped') return loadShippedPriceBook();
  try {
    return readPriceBook(readFileSync(file, 'utf8'));
  } catch (error) {
    if (error instanceof PriceBookError) throw new StartError(`${file} cannot be used:\n  ${error.problems.join('\n  ')}`);
    throw new StartError(`${file} cannot be read: ${error instanceof Error ? error.message : String(error)}`);
  }
}

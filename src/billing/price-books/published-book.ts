import { createHash } from 'node:crypto';
import { type PriceBookData, PriceBookError, parsePriceBook } from '../rating/parse-price-book.ts';
import type { PriceBookSummary, PublishedPriceBook } from './price-book-store.ts';

/** The name of a book in the versions of rows and receipts. */
export function versionOfBook({ number }: Pick<PriceBookSummary, 'number'>): string {
  return `store-${number}`;
}

/** The digest of a published book. */
export function digestOfBook(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}

/** Creates the published form of a checked book. */
export function createPublishedBook(book: PriceBookData, about: Omit<PriceBookSummary, 'digest'>): PublishedPriceBook {
  const text = JSON.stringify({ ...book, version: versionOfBook(about) });
  return { ...about, digest: digestOfBook(text), book: text };
}

/** The prices of a published book. @throws PriceBookError if its digest differs, or this release cannot use it */
export function readPublishedBook({ number, digest, book }: PublishedPriceBook): PriceBookData {
  if (digestOfBook(book) !== digest)
    throw new PriceBookError([`Book ${number} of the store was changed after its publication: its digest differs.`]);
  return parsePriceBook(JSON.parse(book));
}

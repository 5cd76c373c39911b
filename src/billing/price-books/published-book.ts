import { createHash } from 'node:crypto';
import { type PriceBookData, PriceBookError, parsePriceBook } from '../rating/parse-price-book.ts';
import type { PriceBookSummary, PublishedPriceBook } from './price-book-store.ts';

/** How a book of the store is named in the versions of rows and receipts. */
export function versionOfBook({ number }: Pick<PriceBookSummary, 'number'>): string {
  return `store-${number}`;
}

/** The digest that a book is published with. */
export function digestOfBook(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}

/** Makes of a checked book what is published under a number. */
export function createPublishedBook(book: PriceBookData, about: Omit<PriceBookSummary, 'digest'>): PublishedPriceBook {
  const text = JSON.stringify({ ...book, version: versionOfBook(about) });
  return { ...about, digest: digestOfBook(text), book: text };
}

/** The prices of a published book. @throws PriceBookError where it is not what was published, or cannot be used by this release */
export function readPublishedBook({ number, digest, book }: PublishedPriceBook): PriceBookData {
  if (digestOfBook(book) !== digest)
    throw new PriceBookError([`Book ${number} of the store is not what was published: its digest differs.`]);
  return parsePriceBook(JSON.parse(book));
}

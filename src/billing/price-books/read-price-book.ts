import { parseDocument } from 'yaml';

import { type PriceBookData, PriceBookError, parsePriceBook } from '../rating/parse-price-book.ts';

/** A price book has some thousand lines; one that is larger is something else. */
const charactersMax = 16 * 1024 * 1024;

/**
 * Reads the text of a price book file, which is YAML or JSON (and so YAML too).
 * @throws PriceBookError naming every problem with its place
 */
export function readPriceBook(text: string): PriceBookData {
  if (text.length > charactersMax) throw new PriceBookError(['The file is larger than 16 MB.']);
  const document = parseDocument(text, { uniqueKeys: true });
  // The first line says what and where; the lines after it show the place.
  const problems = document.errors.map(({ message }) => `${message.split('\n')[0] ?? ''}.`);
  if (problems.length > 0) throw new PriceBookError(problems);
  return parsePriceBook(document.toJS({ maxAliasCount: 100 }));
}

import assert from 'node:assert/strict';

import type { JsonValue } from '../../../../platform/json/json-value.ts';
import { parsePriceBook } from '../../parse-price-book.ts';
import { detectFormat, importPrices } from '../import-prices.ts';

// For tests: price lists of other programs, imported into a book that must be valid.

export const importOptions = { effectiveFrom: '2026-02-03', checked: '2026-11-22' };

/** The detected format of a list, its entries, and the data that could not be imported. */
export function importSound(file: JsonValue, more: { readonly vendor?: string } = {}) {
  const format = detectFormat(file);
  assert.ok(format !== undefined);
  const { book, notCarried } = importPrices(file, format, { ...importOptions, ...more });
  const { entries } = parsePriceBook(book);
  return { entries, notCarried, format };
}

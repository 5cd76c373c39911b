import { readFileSync } from 'node:fs';

import { detectFormat, type ImportFormat, importFormats, importPrices } from '../../billing/rating/import/import-prices.ts';
import { dayOf } from '../../billing/rating/list-prices.ts';
import { PriceBookError, parsePriceBook } from '../../billing/rating/parse-price-book.ts';
import type { JsonValue } from '../../platform/json/json-value.ts';
import { parseJson } from '../../platform/json/parse-json.ts';
import { StartError } from '../environment.ts';

export type ImportCommandOptions = { readonly format?: string; readonly vendor?: string; readonly since?: string };

/**
 * `weir prices import`: writes a price book to standard output, and what it could not import to standard error.
 * @throws StartError if the file cannot be read or contains no price, or if the resulting book is not valid
 */
export function importPriceList(file: string, { format, vendor, since }: ImportCommandOptions, nowMs: number): void {
  const list = readList(file);
  const known = format === undefined ? detectFormat(list) : importFormats.find((name) => name === format);
  if (known === undefined)
    throw new StartError(`the format of ${file} is not recognised; give --format with one of ${importFormats.join(', ')}`);
  const { book, notCarried } = importPrices(list, known, { vendor, effectiveFrom: since ?? dayOf(nowMs), checked: dayOf(nowMs) });
  if (book.entries.length === 0) throw new StartError(`${file} has no price of a known model (read as ${known})`);
  try {
    parsePriceBook(book);
  } catch (error) {
    if (error instanceof PriceBookError)
      throw new StartError(`the prices of ${file} do not make a valid price book:\n  ${error.problems.join('\n  ')}`);
    throw error;
  }
  console.log(JSON.stringify(book, undefined, 2));
  console.error(describeOutcome(book.entries.length, known, notCarried));
}

function readList(file: string): JsonValue {
  try {
    return parseJson(readFileSync(file, 'utf8'));
  } catch (error) {
    throw new StartError(`${file} cannot be read as JSON: ${error instanceof Error ? error.message : String(error)}`);
  }
}

function describeOutcome(entries: number, format: ImportFormat, notCarried: readonly string[]): string {
  const rest = notCarried.length === 0 ? 'Everything was imported.' : `Not imported:\n  ${notCarried.join('\n  ')}`;
  return `${entries} entries were read as ${format}. ${rest}`;
}

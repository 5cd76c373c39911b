import { parseJson } from '../../platform/json/parse-json.ts';
import type { JsonValue } from '../../platform/json/json-value.ts';
import { detectFormat, type ImportFormat, importPrices } from '../rating/import/import-prices.ts';
import { parsePriceBook, type PriceBookData, PriceBookError } from '../rating/parse-price-book.ts';
import { readPriceBook } from './read-price-book.ts';

export type DraftText = {
  readonly text: string;
  /** `auto`: recognised from the text. */
  readonly format: 'auto' | 'book' | ImportFormat;
  /** The vendor of every model of an imported list. */
  readonly vendor?: string | undefined;
  /** The first day of imported prices that name none, and the day on which the list was read. */
  readonly since: string;
  readonly checked: string;
};

/** A checked book as JSON, or every problem with its place. */
export type ReadDraft =
  | { readonly type: 'book'; readonly json: string; readonly format: 'book' | ImportFormat; readonly notCarried: readonly string[] }
  | { readonly type: 'problems'; readonly problems: readonly string[] };

/** Reads the text of a price book in YAML or JSON, or of another program's list. Runs in threads only. */
export function run(draft: DraftText): ReadDraft {
  try {
    const { book, format, notCarried } = read(draft);
    return { type: 'book', json: JSON.stringify(book), format, notCarried };
  } catch (error) {
    if (error instanceof PriceBookError) return { type: 'problems', problems: error.problems };
    throw error;
  }
}

function read({ text, format, vendor, since, checked }: DraftText): {
  readonly book: PriceBookData;
  readonly format: 'book' | ImportFormat;
  readonly notCarried: readonly string[];
} {
  const list = format === 'book' ? undefined : readJson(text);
  const known = format === 'auto' && list !== undefined ? detectFormat(list) : format;
  if (known === 'auto' || known === 'book' || known === undefined) return { book: readPriceBook(text), format: 'book', notCarried: [] };
  if (list === undefined) throw new PriceBookError([`The text is not JSON, as lists of the form ${known} are.`]);
  const { book, notCarried } = importPrices(list, known, { vendor, effectiveFrom: since, checked });
  if (book.entries.length === 0) throw new PriceBookError([`The list has no price of a known model (read as ${known}).`]);
  return { book: parsePriceBook(book), format: known, notCarried };
}

/** The value of a JSON text; undefined for any other text, which may be YAML. */
function readJson(text: string): JsonValue | undefined {
  if (!/^\s*[[{]/.test(text)) return undefined;
  try {
    return parseJson(text);
  } catch {
    return undefined;
  }
}

import type { Cell } from '../../billing/workbook/cell.ts';
import { rememberTexts } from '../../billing/workbook/remember-texts.ts';
import type { Column, TableRow } from './table.ts';

/**
 * The starts of texts that spreadsheet programs read as formulas, also after blanks. Some programs read the full-width
 * forms too.
 */
const FORMULA_START = /^[\s\ufeff]*[=+\-@\uff1d\uff0b\uff0d\uff20]|^[\t\r\n]/;
const NEEDS_QUOTES = /[",\r\n]/;

/**
 * One value as a field of CSV (RFC 4180): in quotes if it has a comma, a quote or a line end. A text that a spreadsheet
 * program might read as a formula gets an apostrophe in front, which such programs show or remove, and never calculate.
 * Numbers stay unchanged.
 */
export function encodeCsvCell(value: Cell): string {
  if (typeof value !== 'string') return typeof value === 'object' ? value.rawJSON : String(value);
  const text = value.toWellFormed();
  const inert = FORMULA_START.test(text) ? `'${text}` : text;
  return NEEDS_QUOTES.test(inert) ? `"${inert.replaceAll('"', '""')}"` : inert;
}

export function encodeCsvHeader(columns: readonly { readonly field: string }[]): string {
  return `${columns.map(({ field }) => field).join(',')}\r\n`;
}

/** Writes the lines of one table. Repeated texts are encoded once. */
export function createCsvEncoder<Row extends TableRow>(columns: readonly Column<Row>[]): (row: Row) => string {
  const fields = columns.map(({ field }) => ({ field, textOf: rememberTexts(encodeCsvCell) }));
  return (row) => {
    let text = '';
    let comma = '';
    for (const { field, textOf } of fields) {
      const value: Cell = row[field] ?? '';
      text += comma + (typeof value === 'string' ? textOf(value) : encodeCsvCell(value));
      comma = ',';
    }
    return `${text}\r\n`;
  };
}

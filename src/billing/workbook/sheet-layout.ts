import type { CellKind, SheetColumn, TableRow } from './cell.ts';
import { cellStyles } from './workbook-parts.ts';

/** The page set-up of a sheet. */
export type PrintLayout = {
  readonly orientation: 'portrait' | 'landscape';
  /** Pages side by side. If there are several, each repeats the first column. */
  readonly pagesAcross: 1 | 2;
};

/** A column with its position and styles on a sheet. */
export type PlacedColumn = {
  readonly field: string;
  readonly kind: CellKind;
  readonly letter: string;
  readonly style: number;
  readonly headerStyle: number;
};

const styles: Readonly<Record<CellKind, number>> = {
  text: cellStyles.text,
  number: cellStyles.number,
  count: cellStyles.count,
  amount: cellStyles.amount,
  boolean: cellStyles.text,
  'local-time': cellStyles.time,
};

/** Headers align with their values: right over numbers, left over text. */
const headerStyles: Readonly<Record<CellKind, number>> = {
  text: cellStyles.header,
  number: cellStyles.headerRight,
  count: cellStyles.headerRight,
  amount: cellStyles.headerRight,
  boolean: cellStyles.header,
  'local-time': cellStyles.headerRight,
};

/** The minimum width of a column, in characters of the standard font. */
const widthsMin: Readonly<Record<CellKind, number>> = { text: 8, number: 10, count: 13, amount: 16, boolean: 9, 'local-time': 20 };
/** A longer text is wrapped. */
const textWidthMax = 38;
/** Space around a value: an indent on its left or a margin on its right. */
const room = 3;

export function placeColumns(columns: readonly SheetColumn<never>[]): readonly PlacedColumn[] {
  return columns.map(({ field, kind }, index) => ({
    field,
    kind,
    letter: columnLetter(index),
    style: styles[kind],
    headerStyle: headerStyles[kind],
  }));
}

/**
 * The widths of the columns: wide enough for their headers, and for the texts and plain numbers of the first rows.
 * @param firstRows rows that are known before the sheet begins
 */
export function encodeColumns(columns: readonly PlacedColumn[], firstRows: readonly TableRow[]): string {
  const cols = columns.map(({ field, kind }, index) => {
    // Bold letters are wider than the digits that are the unit of widths.
    const header = Math.ceil(field.length * 1.05) + 2;
    const longest = kind === 'text' || kind === 'number' ? Math.min(textWidthMax, longestText(firstRows, field) + room) : 0;
    return `<col min="${index + 1}" max="${index + 1}" width="${Math.max(header, longest, widthsMin[kind])}" customWidth="1"/>`;
  });
  return `<cols>${cols.join('')}</cols>`;
}

function longestText(rows: readonly TableRow[], field: string): number {
  let longest = 0;
  for (const row of rows) {
    const value = row[field];
    const { length } = typeof value === 'string' ? value : typeof value === 'number' ? String(value) : '';
    if (length > longest) longest = length;
  }
  return longest;
}

/** The start of every sheet, up to its columns. */
export function sheetStart(pane: string): string {
  return (
    '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n' +
    '<worksheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main">' +
    '<sheetPr><pageSetUpPr fitToPage="1"/></sheetPr>' +
    `<sheetViews><sheetView workbookViewId="0">${pane}</sheetView></sheetViews>`
  );
}

/** A4 has number 9 in the format. */
const paperSize = 9;

/**
 * The end of every sheet, after its rows: page set-up with as many pages as needed, and a footer with title and page
 * number.
 * @param title shown in the footer of each page
 */
export function sheetEnd({ orientation, pagesAcross }: PrintLayout, title: string): string {
  // In footers an ampersand begins a command unless it is doubled; in XML it must be escaped too.
  const text = title.replaceAll('&', '&&').replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
  return (
    '<pageMargins left="0.4" right="0.4" top="0.5" bottom="0.65" header="0.3" footer="0.3"/>' +
    `<pageSetup paperSize="${paperSize}" orientation="${orientation}" fitToWidth="${pagesAcross}" fitToHeight="0"${pagesAcross > 1 ? ' pageOrder="overThenDown"' : ''}/>` +
    `<headerFooter><oddFooter>&amp;L&amp;8${text}&amp;C&amp;8&amp;A&amp;R&amp;8Page &amp;P of &amp;N</oddFooter></headerFooter></worksheet>`
  );
}

/** The letter of one of the first 26 columns. */
export function columnLetter(index: number): string {
  return String.fromCharCode('A'.charCodeAt(0) + index);
}

import type { Batches } from '../tables/table-text.ts';
import type { Cell, CellKind, Column, TableRow } from '../tables/table.ts';
import { cellStyles } from './workbook-parts.ts';
import { encodeCellText } from './xml-text.ts';

const CHUNK_CHARACTERS = 64 * 1024;

/** Days from the zeroth day of spreadsheets (30 December 1899) to 1970. */
const DAYS_TO_1970 = 25_569;
const DAY_MS = 86_400_000;

/** In characters of the standard font: wide enough for usual values. */
const widths: Readonly<Record<CellKind, number>> = { text: 20, number: 16, count: 16, amount: 18, boolean: 12, 'local-time': 20 };

const styles: Readonly<Record<CellKind, number>> = {
  text: cellStyles.text,
  number: cellStyles.number,
  count: cellStyles.count,
  amount: cellStyles.amount,
  boolean: cellStyles.number,
  'local-time': cellStyles.time,
};

/** What a sheet has written when it is over. */
export type SheetEnd = {
  /** Its lines, without the header and the totals. */
  readonly rowCount: number;
  /** The cells of header and lines, for example `A1:L8`. */
  readonly range: string;
  /** Whether the lines have all been written. */
  readonly isLast: boolean;
};

/** The lines of a table as the sheets share them: every line is written once. */
export type RowSource<Row> = {
  readonly next: () => IteratorResult<Row> | Promise<IteratorResult<Row>>;
  readonly isOver: () => Promise<boolean>;
};

/** Lines to be written, one of them ahead, so that a sheet that is full knows whether another follows. */
export function createRowSource<Row>(rows: Batches<Row>): RowSource<Row> {
  const batches: { readonly next: () => IteratorResult<readonly Row[]> | Promise<IteratorResult<readonly Row[]>> } =
    Symbol.iterator in rows ? rows[Symbol.iterator]() : rows[Symbol.asyncIterator]();
  let batch: Iterator<Row> = [].values();
  let ahead: IteratorResult<Row> | undefined;
  const takeNext = (): IteratorResult<Row> | Promise<IteratorResult<Row>> => {
    const next = batch.next();
    return next.done === true ? takeBatch() : next;
  };
  const takeBatch = async (): Promise<IteratorResult<Row>> => {
    const next = await batches.next();
    if (next.done === true) return { done: true, value: undefined };
    batch = next.value.values();
    return await takeNext();
  };
  return {
    next: () => {
      const taken = ahead;
      ahead = undefined;
      return taken ?? takeNext();
    },
    isOver: async () => (ahead ??= await takeNext()).done === true,
  };
}

export type SheetOptions<Row> = {
  readonly columns: readonly Column<Row>[];
  /** Lines at most; what remains is for the next sheet. */
  readonly rowsMax: number;
  /** Values for a last line in bold, written on the sheet that writes the last line of the table. */
  readonly totals?: () => TableRow;
};

/**
 * One worksheet as XML, in pieces. The header row is frozen and has filters, which leave the totals out.
 * @param onEnd told once what was written
 */
export async function* writeSheetXml<Row extends TableRow>(
  source: RowSource<Row>,
  options: SheetOptions<Row>,
  onEnd: (end: SheetEnd) => void,
): AsyncGenerator<string> {
  const { columns, rowsMax, totals } = options;
  const laidOut = columns.map(({ field, kind }, index) => ({ field, kind, letter: columnLetter(index), style: styles[kind] }));
  let text = sheetHead(columns);
  let row = 1;
  while (row <= rowsMax) {
    const taken = source.next();
    // Lines that are at hand are not waited for: a turn of the loop for each would take longer than writing it.
    const next = taken instanceof Promise ? await taken : taken;
    if (next.done === true) break;
    row += 1;
    text += tableRow(laidOut, next.value, row);
    if (text.length >= CHUNK_CHARACTERS) {
      yield text;
      text = '';
    }
  }
  const isLast = row <= rowsMax || (await source.isOver());
  const range = `A1:${columnLetter(columns.length - 1)}${row}`;
  if (isLast && totals !== undefined) text += totalsRow(laidOut, totals(), row + 1);
  yield `${text}</sheetData><autoFilter ref="${range}"/>${sheetEnd}`;
  onEnd({ rowCount: row - 1, range, isLast });
}

type LaidOut = { readonly field: string; readonly kind: CellKind; readonly letter: string; readonly style: number };

function sheetHead(columns: readonly Column<never>[]): string {
  const cols = columns.map(({ field, kind }, index) => {
    // The header has a filter button beside its text.
    const width = Math.max(field.length + 5, field === 'modelName' || field === 'requestId' ? 34 : widths[kind]);
    return `<col min="${index + 1}" max="${index + 1}" width="${width}" customWidth="1"/>`;
  });
  const headers = columns.map(({ field }, index) => textCell(`${columnLetter(index)}1`, cellStyles.header, field));
  return (
    `${sheetStart('<pane ySplit="1" topLeftCell="A2" activePane="bottomLeft" state="frozen"/>')}<cols>${cols.join('')}</cols>` +
    `<sheetData><row r="1">${headers.join('')}</row>`
  );
}

/** How every sheet begins, up to its columns. */
export function sheetStart(pane: string): string {
  return (
    '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n' +
    '<worksheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main">' +
    '<sheetPr><pageSetUpPr fitToPage="1"/></sheetPr>' +
    `<sheetViews><sheetView workbookViewId="0">${pane}</sheetView></sheetViews>`
  );
}

/** How every sheet ends, after its rows: printed across, as wide as one page and as long as it takes. */
export const sheetEnd = '<pageSetup orientation="landscape" fitToWidth="1" fitToHeight="0"/></worksheet>';

function tableRow(columns: readonly LaidOut[], values: TableRow, row: number): string {
  let cells = '';
  for (const { field, kind, letter, style } of columns) cells += encodeCell(letter + row, style, values[field], kind);
  return `<row r="${row}">${cells}</row>`;
}

function totalsRow(columns: readonly LaidOut[], totals: TableRow, row: number): string {
  const cells = columns.map(({ field, kind, letter }, index) => {
    if (index === 0) return textCell(`${letter}${row}`, cellStyles.header, 'TOTAL');
    return encodeCell(`${letter}${row}`, kind === 'amount' ? cellStyles.amountTotal : cellStyles.countTotal, totals[field], kind);
  });
  return `<row r="${row}">${cells.join('')}</row>`;
}

/** A cell of the type that its value has; none where there is no value. */
export function encodeCell(reference: string, style: number, value: Cell | undefined, kind: CellKind): string {
  if (value === undefined) return '';
  if (typeof value === 'string') {
    if (kind === 'local-time') return `<c r="${reference}" s="${style}"><v>${spreadsheetDays(value)}</v></c>`;
    return textCell(reference, style, value);
  }
  if (typeof value === 'boolean') return `<c r="${reference}" s="${style}" t="b"><v>${value ? 1 : 0}</v></c>`;
  return `<c r="${reference}" s="${style}"><v>${typeof value === 'number' ? value : value.rawJSON}</v></c>`;
}

/** A local time `YYYY-MM-DD HH:MM:SS` as spreadsheets count: days and a fraction. */
function spreadsheetDays(time: string): number {
  return Date.parse(`${time.replace(' ', 'T')}Z`) / DAY_MS + DAYS_TO_1970;
}

/** Always an inline string: a program never takes it for a formula or a number, whatever its first character is. */
function textCell(reference: string, style: number, text: string): string {
  return `<c r="${reference}" s="${style}" t="inlineStr"><is><t xml:space="preserve">${encodeCellText(text)}</t></is></c>`;
}

/** The letter of one of the first 26 columns. */
function columnLetter(index: number): string {
  return String.fromCharCode('A'.charCodeAt(0) + index);
}

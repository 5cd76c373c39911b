import type { Batches } from '../tables/table-text.ts';
import { type CellText, rememberTexts } from '../tables/remember-texts.ts';
import type { Cell, CellKind, Column, TableRow } from '../tables/table.ts';
import { type PlacedColumn, type PrintLayout, columnLetter, encodeColumns, placeColumns, sheetEnd, sheetStart } from './sheet-layout.ts';
import { cellStyles } from './workbook-parts.ts';
import { encodeCellText } from './xml-text.ts';

const CHUNK_CHARACTERS = 256 * 1024;

/** Days from the zeroth day of spreadsheets (30 December 1899) to 1970. */
const DAYS_TO_1970 = 25_569;
const DAY_MS = 86_400_000;

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
  /** Some of the next lines, which stay where they are. */
  readonly peek: () => Promise<readonly Row[]>;
};

/** Lines to be written, one of them ahead, so that a sheet that is full knows whether another follows. */
export function createRowSource<Row>(rows: Batches<Row>): RowSource<Row> {
  const batches: { readonly next: () => IteratorResult<readonly Row[]> | Promise<IteratorResult<readonly Row[]>> } =
    Symbol.iterator in rows ? rows[Symbol.iterator]() : rows[Symbol.asyncIterator]();
  let batch: readonly Row[] = [];
  let taken = 0;
  let ahead: IteratorResult<Row> | undefined;
  const takeNext = (): IteratorResult<Row> | Promise<IteratorResult<Row>> => {
    if (taken === batch.length) return takeBatch();
    taken += 1;
    return { done: false, value: batch[taken - 1] as Row };
  };
  const takeBatch = async (): Promise<IteratorResult<Row>> => {
    const next = await batches.next();
    if (next.done === true) return { done: true, value: undefined };
    [batch, taken] = [next.value, 0];
    return await takeNext();
  };
  return {
    next: () => {
      const next = ahead ?? takeNext();
      ahead = undefined;
      return next;
    },
    isOver: async () => (ahead ??= await takeNext()).done === true,
    peek: async () => {
      ahead ??= await takeNext();
      return ahead.done === true ? [] : [ahead.value, ...batch.slice(taken)];
    },
  };
}

export type SheetOptions<Row> = {
  readonly columns: readonly Column<Row>[];
  /** Lines at most; what remains is for the next sheet. */
  readonly rowsMax: number;
  readonly printing: PrintLayout;
  /** For the foot of each printed page. */
  readonly title: string;
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
  const { columns, rowsMax, totals, printing, title } = options;
  const laidOut = placeColumns(columns);
  const encodeRow = createRowEncoder(laidOut);
  let text = sheetHead(laidOut, await source.peek());
  let row = 1;
  while (row <= rowsMax) {
    const taken = source.next();
    // Lines that are at hand are not waited for: a turn of the loop for each would take longer than writing it.
    const next = taken instanceof Promise ? await taken : taken;
    if (next.done === true) break;
    row += 1;
    text += encodeRow(next.value, row);
    if (text.length >= CHUNK_CHARACTERS) {
      yield text;
      text = '';
    }
  }
  const isLast = row <= rowsMax || (await source.isOver());
  const range = `A1:${columnLetter(columns.length - 1)}${row}`;
  if (isLast && totals !== undefined) text += totalsRow(laidOut, totals(), row + 1);
  yield `${text}</sheetData><autoFilter ref="${range}"/>${sheetEnd(printing, title)}`;
  onEnd({ rowCount: row - 1, range, isLast });
}

function sheetHead(columns: readonly PlacedColumn[], firstRows: readonly TableRow[]): string {
  const headers = columns.map(({ field, letter, headerStyle }) => textCell(`${letter}1`, headerStyle, field));
  return (
    sheetStart('<pane ySplit="1" topLeftCell="A2" activePane="bottomLeft" state="frozen"/>') +
    encodeColumns(columns, firstRows) +
    // High enough for the buttons of the filters to stand under the names.
    `<sheetData><row r="1" ht="32" customHeight="1">${headers.join('')}</row>`
  );
}

/** Writes rows as encodeCell writes their cells, in a fraction of the time: what does not change from row to row is put together once. */
function createRowEncoder(columns: readonly PlacedColumn[]): (values: TableRow, row: number) => string {
  const cells: readonly SheetColumn[] = columns.map(({ field, kind, letter, style }) => ({
    field,
    kind,
    start: `<c r="${letter}`,
    numberStart: `" s="${style}"><v>`,
    textEnd: rememberTexts((value) => cellEnd(style, value, kind)),
    style,
  }));
  return (values, row) => {
    const number = String(row);
    let text = `<row r="${number}">`;
    for (const { field, kind, start, numberStart, textEnd, style } of cells) {
      const value = values[field];
      if (typeof value === 'string') text += start + number + textEnd(value);
      else if (typeof value === 'number') text += `${start + number + numberStart + value}</v></c>`;
      else if (value !== undefined) text += start + number + cellEnd(style, value, kind);
    }
    return `${text}</row>`;
  };
}

type SheetColumn = {
  readonly field: string;
  readonly kind: CellKind;
  /** Up to the number of the row. */
  readonly start: string;
  /** From there to the number in the cell. */
  readonly numberStart: string;
  readonly textEnd: CellText;
  readonly style: number;
};

function totalsRow(columns: readonly PlacedColumn[], totals: TableRow, row: number): string {
  const cells = columns.map(({ field, kind, letter }, index) => {
    if (index === 0) return textCell(`${letter}${row}`, cellStyles.textTotal, 'TOTAL');
    const value = totals[field];
    // The line above the sums goes all the way across.
    if (value === undefined) return `<c r="${letter}${row}" s="${cellStyles.textTotal}"/>`;
    return encodeCell(`${letter}${row}`, kind === 'amount' ? cellStyles.amountTotal : cellStyles.countTotal, value, kind);
  });
  return `<row r="${row}" ht="20" customHeight="1">${cells.join('')}</row>`;
}

/** A cell of the type that its value has; none where there is no value. */
export function encodeCell(reference: string, style: number, value: Cell | undefined, kind: CellKind): string {
  return value === undefined ? '' : `<c r="${reference}${cellEnd(style, value, kind)}`;
}

function cellEnd(style: number, value: Cell, kind: CellKind): string {
  if (typeof value === 'string') {
    if (kind === 'local-time') return `" s="${style}"><v>${spreadsheetDays(value)}</v></c>`;
    return textEnd(style, value);
  }
  // A word, which every program shows and prints as it is.
  if (typeof value === 'boolean') return textEnd(style, value ? 'yes' : 'no');
  return `" s="${style}"><v>${typeof value === 'number' ? value : value.rawJSON}</v></c>`;
}

/** A local time `YYYY-MM-DD HH:MM:SS` as spreadsheets count: days and a fraction. */
function spreadsheetDays(time: string): number {
  return Date.parse(`${time.replace(' ', 'T')}Z`) / DAY_MS + DAYS_TO_1970;
}

function textCell(reference: string, style: number, text: string): string {
  return `<c r="${reference}${textEnd(style, text)}`;
}

/** Always an inline string: a program never takes it for a formula or a number, whatever its first character is. */
function textEnd(style: number, text: string): string {
  return `" s="${style}" t="inlineStr"><is><t xml:space="preserve">${encodeCellText(text)}</t></is></c>`;
}

import type { Batches, Cell, CellKind, SheetColumn, TableRow } from './cell.ts';
import { type CellText, rememberTexts } from './remember-texts.ts';
import { type PlacedColumn, type PrintLayout, columnLetter, encodeColumns, placeColumns, sheetEnd, sheetStart } from './sheet-layout.ts';
import { cellStyles } from './workbook-parts.ts';
import { encodeCellText } from './xml-text.ts';

const CHUNK_CHARACTERS = 256 * 1024;

/** Days from the zeroth day of spreadsheets (30 December 1899) to 1970. */
const DAYS_TO_1970 = 25_569;
const DAY_MS = 86_400_000;

/** The result of writing a sheet. */
export type SheetEnd = {
  /** Its rows, without the header and the totals. */
  readonly rowCount: number;
  /** The cells of header and rows, for example `A1:L8`. */
  readonly range: string;
  /** Whether this sheet has the last row of the table. */
  readonly isLast: boolean;
};

/** The rows of a table, shared by its sheets: every row is written once. */
export type RowSource<Row> = {
  readonly next: () => IteratorResult<Row> | Promise<IteratorResult<Row>>;
  readonly isOver: () => Promise<boolean>;
  /** Some of the next rows, without consuming them. */
  readonly peek: () => Promise<readonly Row[]>;
};

/** Reads rows one ahead, so that a full sheet knows whether another one follows. */
export function createRowSource<Row>(rows: Batches<Row>): RowSource<Row> {
  const batches: { readonly next: () => IteratorResult<readonly Row[]> | Promise<IteratorResult<readonly Row[]>> } =
    Symbol.iterator in rows ? rows[Symbol.iterator]() : rows[Symbol.asyncIterator]();
  let batch: readonly Row[] = [];
  let consumed = 0;
  let ahead: IteratorResult<Row> | undefined;
  const takeNext = (): IteratorResult<Row> | Promise<IteratorResult<Row>> => {
    if (consumed === batch.length) return takeBatch();
    consumed += 1;
    return { done: false, value: batch[consumed - 1] as Row };
  };
  const takeBatch = async (): Promise<IteratorResult<Row>> => {
    const next = await batches.next();
    if (next.done === true) return { done: true, value: undefined };
    [batch, consumed] = [next.value, 0];
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
      return ahead.done === true ? [] : [ahead.value, ...batch.slice(consumed)];
    },
  };
}

export type SheetOptions<Row> = {
  readonly columns: readonly SheetColumn<Row>[];
  /** The most rows of this sheet; the others go to the next sheet. */
  readonly rowsMax: number;
  readonly printing: PrintLayout;
  /** Shown in the footer of each printed page. */
  readonly title: string;
  /** Values for a last row in bold, written on the sheet that has the last row of the table. */
  readonly totals?: () => TableRow;
};

/**
 * One worksheet as XML, in pieces. The header row is frozen and has filters, which exclude the totals.
 * @param onEnd called once with the result
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
    const upcoming = source.next();
    // Rows in memory are not awaited: a turn of the event loop for each would take longer than writing it.
    const next = upcoming instanceof Promise ? await upcoming : upcoming;
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
    // High enough for the buttons of the filters below the names.
    `<sheetData><row r="1" ht="32" customHeight="1">${headers.join('')}</row>`
  );
}

/** Writes the same text as encodeCell for each cell, in a fraction of the time: constant parts are built once. */
function createRowEncoder(columns: readonly PlacedColumn[]): (values: TableRow, row: number) => string {
  const cells: readonly CellTexts[] = columns.map(({ field, kind, letter, style }) => ({
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

type CellTexts = {
  readonly field: string;
  readonly kind: CellKind;
  /** The text up to the number of the row. */
  readonly start: string;
  /** The text from there to the number in the cell. */
  readonly numberStart: string;
  readonly textEnd: CellText;
  readonly style: number;
};

function totalsRow(columns: readonly PlacedColumn[], totals: TableRow, row: number): string {
  const cells = columns.map(({ field, kind, letter }, index) => {
    if (index === 0) return textCell(`${letter}${row}`, cellStyles.textTotal, 'TOTAL');
    const value = totals[field];
    // The border above the totals crosses all columns.
    if (value === undefined) return `<c r="${letter}${row}" s="${cellStyles.textTotal}"/>`;
    return encodeCell(`${letter}${row}`, kind === 'amount' ? cellStyles.amountTotal : cellStyles.countTotal, value, kind);
  });
  return `<row r="${row}" ht="20" customHeight="1">${cells.join('')}</row>`;
}

/** A cell of the type of its value; empty without a value. */
export function encodeCell(reference: string, style: number, value: Cell | undefined, kind: CellKind): string {
  return value === undefined ? '' : `<c r="${reference}${cellEnd(style, value, kind)}`;
}

function cellEnd(style: number, value: Cell, kind: CellKind): string {
  if (typeof value === 'string') {
    if (kind === 'local-time') return `" s="${style}"><v>${spreadsheetDays(value)}</v></c>`;
    return textEnd(style, value);
  }
  // A text, which every program shows and prints unchanged.
  if (typeof value === 'boolean') return textEnd(style, value ? 'yes' : 'no');
  return `" s="${style}"><v>${typeof value === 'number' ? value : value.rawJSON}</v></c>`;
}

/** A local time `YYYY-MM-DD HH:MM:SS` as a number of days with a fraction, as spreadsheets count. */
function spreadsheetDays(time: string): number {
  return Date.parse(`${time.replace(' ', 'T')}Z`) / DAY_MS + DAYS_TO_1970;
}

function textCell(reference: string, style: number, text: string): string {
  return `<c r="${reference}${textEnd(style, text)}`;
}

/** Always an inline string: no program reads it as a formula or a number, whatever its first character. */
function textEnd(style: number, text: string): string {
  return `" s="${style}" t="inlineStr"><is><t xml:space="preserve">${encodeCellText(text)}</t></is></c>`;
}

import { type BillingRecord, billingRecordFields } from '../../billing/statistics/billing-record.ts';
import { cellStyles } from './workbook-parts.ts';
import { encodeCellText } from './xml-text.ts';

const CHUNK_CHARACTERS = 64 * 1024;

type Column = {
  readonly letter: string;
  readonly field: keyof BillingRecord;
  /** In characters of the standard font. */
  readonly width: number;
  readonly style: number;
};

const textFields: ReadonlySet<keyof BillingRecord> = new Set(['time', 'userName', 'tokenName', 'modelName']);

const columns: readonly Column[] = billingRecordFields.map((field, index) => ({
  letter: String.fromCharCode('A'.charCodeAt(0) + index),
  field,
  // Wide enough for the header with its filter button, a time and usual names.
  width: Math.max(field.length + 5, field === 'modelName' ? 32 : 20),
  style: styleOf(field),
}));

const lastLetter = columns.at(-1)?.letter ?? 'A';

function styleOf(field: keyof BillingRecord): number {
  if (textFields.has(field)) return cellStyles.text;
  return field === 'totalAmount' ? cellStyles.amount : cellStyles.integer;
}

/** The cells that a sheet of so many records fills, header included: `A1:L8`. */
export function sheetRange(recordCount: number): string {
  return `A1:${lastLetter}${recordCount + 1}`;
}

/**
 * One worksheet as XML, in pieces. It takes its records from the iterator that it shares with the sheets after it, so every record is
 * written once. The header row is frozen and has filters.
 */
export function* writeSheetXml(records: Iterator<BillingRecord>, recordCount: number): Generator<string> {
  let text = sheetHead(recordCount);
  for (let row = 2; row <= recordCount + 1; row += 1) {
    const next = records.next();
    if (next.done === true) throw new Error('The answer has fewer records than it announced.');
    text += recordRow(next.value, row);
    if (text.length >= CHUNK_CHARACTERS) {
      yield text;
      text = '';
    }
  }
  yield `${text}</sheetData><autoFilter ref="${sheetRange(recordCount)}"/></worksheet>`;
}

function sheetHead(recordCount: number): string {
  const widths = columns.map(({ width }, index) => `<col min="${index + 1}" max="${index + 1}" width="${width}" customWidth="1"/>`);
  const headers = columns.map(({ letter, field }) => textCell(`${letter}1`, cellStyles.header, field));
  return (
    '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n' +
    '<worksheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main">' +
    `<dimension ref="${sheetRange(recordCount)}"/>` +
    '<sheetViews><sheetView workbookViewId="0"><pane ySplit="1" topLeftCell="A2" activePane="bottomLeft" state="frozen"/></sheetView></sheetViews>' +
    `<cols>${widths.join('')}</cols><sheetData><row r="1">${headers.join('')}</row>`
  );
}

function recordRow(record: BillingRecord, row: number): string {
  let cells = '';
  for (const { letter, field, style } of columns) {
    const value = record[field];
    const reference = `${letter}${row}`;
    if (typeof value === 'string') cells += textCell(reference, style, value);
    else cells += `<c r="${reference}" s="${style}"><v>${typeof value === 'number' ? value : value.rawJSON}</v></c>`;
  }
  return `<row r="${row}">${cells}</row>`;
}

/** Always an inline string: a program never takes it for a formula or a number, whatever its first character is. */
function textCell(reference: string, style: number, text: string): string {
  return `<c r="${reference}" s="${style}" t="inlineStr"><is><t xml:space="preserve">${encodeCellText(text)}</t></is></c>`;
}

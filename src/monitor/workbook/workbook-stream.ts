import type { Readable } from 'node:stream';
import type { BillingRecords } from '../../billing/statistics/billing-record.ts';
import { type ArchiveFile, createArchiveStream } from './archive-stream.ts';
import { sheetRange, writeSheetXml } from './sheet-xml.ts';
import {
  type SheetPart,
  encodeContentTypes,
  encodePackageRelationships,
  encodeStyles,
  encodeWorkbook,
  encodeWorkbookRelationships,
  sheetPath,
} from './workbook-parts.ts';

/** Rows of one sheet in the .xlsx format, less the header. */
const RECORDS_PER_SHEET = 1_048_576 - 1;

export type WorkbookOptions = {
  /** Recorded in the archive. */
  readonly modifiedAtMs: number;
  readonly recordsPerSheet?: number;
};

/**
 * Billing records as an .xlsx workbook, byte by byte while it is read: sheet `Bill` with one column per field and the field names on top,
 * then `Bill 2` and so on when one sheet is full. Without records there is the header alone.
 */
export function createWorkbookStream(records: BillingRecords, options: WorkbookOptions): Readable {
  const sheetSizes = splitIntoSheets(records.count, options.recordsPerSheet ?? RECORDS_PER_SHEET);
  const sheets = sheetSizes.map((size, index) => ({ name: index === 0 ? 'Bill' : `Bill ${index + 1}`, range: sheetRange(size) }));
  return createArchiveStream(listFiles(records, sheets, sheetSizes), options.modifiedAtMs);
}

function splitIntoSheets(recordCount: number, recordsPerSheet: number): number[] {
  const sizes: number[] = [];
  let rest = recordCount;
  do {
    sizes.push(Math.min(rest, recordsPerSheet));
    rest -= recordsPerSheet;
  } while (rest > 0);
  return sizes;
}

function* listFiles(records: BillingRecords, sheets: readonly SheetPart[], sheetSizes: readonly number[]): Generator<ArchiveFile> {
  yield { name: '[Content_Types].xml', content: [encodeContentTypes(sheets.length)] };
  yield { name: '_rels/.rels', content: [encodePackageRelationships()] };
  yield { name: 'xl/workbook.xml', content: [encodeWorkbook(sheets)] };
  yield { name: 'xl/_rels/workbook.xml.rels', content: [encodeWorkbookRelationships(sheets.length)] };
  yield { name: 'xl/styles.xml', content: [encodeStyles()] };
  const iterator = records[Symbol.iterator]();
  for (const [index, size] of sheetSizes.entries()) {
    yield { name: sheetPath(index + 1), content: writeSheetXml(iterator, size) };
  }
}

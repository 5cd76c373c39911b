import type { BilledCallRecord } from '../../billing/statistics/billed-call-record.ts';
import type { BillingRecord, BillingTotals } from '../../billing/statistics/billing-record.ts';
import { formatBucketTime } from '../../billing/statistics/format-bucket-time.ts';
import { granularityNames } from '../../billing/statistics/granularity.ts';
import type { Batches } from '../tables/table-text.ts';
import { type Column, type TableRow, billColumns, callColumns } from '../tables/table.ts';
import { type About, type WrittenSheet, writeAboutXml } from './about-sheet.ts';
import { type ArchiveFile, createArchiveStream } from './archive-stream.ts';
import type { PrintLayout } from './sheet-layout.ts';
import { type SheetEnd, createRowSource, writeSheetXml } from './sheet-xml.ts';
import {
  type SheetPart,
  encodeAppProperties,
  encodeContentTypes,
  encodeCoreProperties,
  encodePackageRelationships,
  encodeStyles,
  encodeWorkbook,
  encodeWorkbookRelationships,
  sheetPath,
} from './workbook-parts.ts';

/** The most rows of a sheet in the .xlsx format, without the header. */
const RECORDS_PER_SHEET = 1_048_576 - 1;

export type WorkbookOptions = {
  /** The time of modification in the archive. */
  readonly modifiedAtMs: number;
  readonly recordsPerSheet?: number;
  /** Facts for a last sheet that describes the others; undefined: no such sheet. */
  readonly about?: About;
  /** Returns the totals for a last line, called after the records were written. */
  readonly totals?: () => BillingTotals;
  /** Single calls, for sheets after those of the records. */
  readonly calls?: Batches<BilledCallRecord>;
};

/**
 * Billing records as an .xlsx workbook, byte by byte while it is read: sheet `Bill` with one column per field, then
 * `Bill 2` and so on when a sheet is full. On request, the single calls follow on `Calls`, `Calls 2` and so on, and
 * then `About`. Without records there is only the header. No cell has a formula.
 */
export function createWorkbookStream(records: Batches<BillingRecord>, options: WorkbookOptions): AsyncGenerator<Buffer, undefined> {
  return createArchiveStream(listFiles(records, options), options.modifiedAtMs);
}

/** The files in the order in which their content is known: the lists of sheets come after the last sheet. */
function* listFiles(records: Batches<BillingRecord>, options: WorkbookOptions): Generator<ArchiveFile> {
  const { about, calls, totals, recordsPerSheet = RECORDS_PER_SHEET } = options;
  const written: (SheetPart & WrittenSheet)[] = [];
  const title = about === undefined ? 'Billing statistics' : titleOf(about);
  // The totals need a row of the last sheet.
  const rowsMax = totals === undefined ? recordsPerSheet : recordsPerSheet - 1;
  const bill = { name: 'Bill', columns: billColumns, rows: records, rowsMax, title, printing: billPrinting };
  yield* listTable({ ...bill, ...(totals === undefined ? {} : { totals }) }, written);
  if (calls !== undefined) {
    const detail = { name: 'Calls', columns: callColumns, rows: calls, rowsMax: recordsPerSheet, title, printing: callsPrinting };
    yield* listTable(detail, written);
  }
  if (about !== undefined) {
    yield { name: sheetPath(written.length + 1), content: writeAboutXml(about, [...written], { title, hasDetail: calls !== undefined }) };
    written.push({ name: 'About', rowCount: 0 });
  }
  yield { name: 'docProps/core.xml', content: [encodeCoreProperties(title, options.modifiedAtMs)] };
  yield { name: 'docProps/app.xml', content: [encodeAppProperties()] };
  yield { name: 'xl/styles.xml', content: [encodeStyles()] };
  yield { name: 'xl/workbook.xml', content: [encodeWorkbook(written)] };
  yield { name: 'xl/_rels/workbook.xml.rels', content: [encodeWorkbookRelationships(written.length)] };
  yield { name: '_rels/.rels', content: [encodePackageRelationships()] };
  yield { name: '[Content_Types].xml', content: [encodeContentTypes(written.length)] };
}

/** The records fit on one page across; the calls have too many columns for readable letters. */
const billPrinting: PrintLayout = { orientation: 'landscape', pagesAcross: 1 };
const callsPrinting: PrintLayout = { orientation: 'landscape', pagesAcross: 2 };

/** `Billing statistics by day, 2026-01-27 to 2026-01-29 (UTC)`; the end is exclusive. */
function titleOf({ request, timeZone }: About): string {
  const at = (seconds: number): string => formatBucketTime(seconds, timeZone).replace(/ 00:00:00$/, '');
  return `Billing statistics by ${granularityNames[request.granularity]}, ${at(request.startSeconds)} to ${at(request.endSeconds)} (${timeZone})`;
}

type Table<Row> = {
  readonly name: string;
  readonly title: string;
  readonly printing: PrintLayout;
  readonly columns: readonly Column<Row>[];
  readonly rows: Batches<Row>;
  readonly rowsMax: number;
  readonly totals?: () => TableRow;
};

/** The sheets of one table. */
function* listTable<Row extends TableRow>(table: Table<Row>, written: (SheetPart & WrittenSheet)[]): Generator<ArchiveFile> {
  const { name, rows, ...options } = table;
  const source = createRowSource(rows);
  for (let number = 1; ; number += 1) {
    let end: SheetEnd | undefined;
    yield { name: sheetPath(written.length + 1), content: writeSheetXml(source, options, (ended) => (end = ended)) };
    if (end === undefined) throw new Error('The next sheet was requested before the end of this one.');
    const titles = options.printing.pagesAcross > 1 ? 'both' : 'rows';
    written.push({ name: number === 1 ? name : `${name} ${number}`, range: end.range, rowCount: end.rowCount, titles });
    if (end.isLast) return;
  }
}

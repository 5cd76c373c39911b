import type { BilledCallRecord } from '../../billing/statistics/billed-call-record.ts';
import type { BillingRecord, BillingTotals } from '../../billing/statistics/billing-record.ts';
import { formatBucketTime } from '../../billing/statistics/format-bucket-time.ts';
import { granularityNames } from '../../billing/statistics/granularity.ts';
import { type ArchiveFile, createArchiveStream } from '../../billing/workbook/archive-stream.ts';
import type { Batches } from '../../billing/workbook/cell.ts';
import { listParts, listSheets, rowsPerSheetMax, type WrittenSheet } from '../../billing/workbook/list-sheets.ts';
import type { PrintLayout } from '../../billing/workbook/sheet-layout.ts';
import { sheetPath } from '../../billing/workbook/workbook-parts.ts';
import { billColumns, callColumns } from '../tables/table.ts';
import { type About, writeAboutXml } from './about-sheet.ts';

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
  const { about, calls, totals, recordsPerSheet = rowsPerSheetMax } = options;
  const written: WrittenSheet[] = [];
  const title = about === undefined ? 'Billing statistics' : titleOf(about);
  // The totals need a row of the last sheet.
  const rowsMax = totals === undefined ? recordsPerSheet : recordsPerSheet - 1;
  const bill = { name: 'Bill', columns: billColumns, rows: records, rowsMax, title, printing: billPrinting };
  yield* listSheets({ ...bill, ...(totals === undefined ? {} : { totals }) }, written);
  if (calls !== undefined) {
    const detail = { name: 'Calls', columns: callColumns, rows: calls, rowsMax: recordsPerSheet, title, printing: callsPrinting };
    yield* listSheets(detail, written);
  }
  if (about !== undefined) {
    yield { name: sheetPath(written.length + 1), content: writeAboutXml(about, [...written], { title, hasDetail: calls !== undefined }) };
    written.push({ name: 'About', rowCount: 0 });
  }
  yield* listParts(written, title, options.modifiedAtMs);
}

/** The records fit on one page across; the calls have too many columns for readable letters. */
const billPrinting: PrintLayout = { orientation: 'landscape', pagesAcross: 1 };
const callsPrinting: PrintLayout = { orientation: 'landscape', pagesAcross: 2 };

/** `Billing statistics by day, 2026-01-27 to 2026-01-29 (UTC)`; the end is exclusive. */
function titleOf({ request, timeZone }: About): string {
  const at = (seconds: number): string => formatBucketTime(seconds, timeZone).replace(/ 00:00:00$/, '');
  return `Billing statistics by ${granularityNames[request.granularity]}, ${at(request.startSeconds)} to ${at(request.endSeconds)} (${timeZone})`;
}

import { type ArchiveFile, createArchiveStream } from './archive-stream.ts';
import type { Batches, SheetColumn, TableRow } from './cell.ts';
import { listParts, listSheets, rowsPerSheetMax, type WrittenSheet } from './list-sheets.ts';

export type WorkbookTable<Row> = {
  /** The name of its first sheet; the next ones have a number. */
  readonly name: string;
  readonly title: string;
  readonly columns: readonly SheetColumn<Row>[];
  readonly rows: Batches<Row>;
  readonly modifiedAtMs: number;
  /** 1,048,575 unless given, which is the most of the format. */
  readonly rowsPerSheet?: number;
};

/** The media type of a workbook. */
export const workbookType = 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet';

/**
 * One table as an .xlsx workbook, byte by byte while it is read: what does not fit on a sheet follows on further ones.
 * Texts are never formulas. A reader that stops must return the iterator.
 */
export function writeTable<Row extends TableRow>(table: WorkbookTable<Row>): AsyncGenerator<Buffer, undefined> {
  return createArchiveStream(listFiles(table), table.modifiedAtMs);
}

function* listFiles<Row extends TableRow>(table: WorkbookTable<Row>): Generator<ArchiveFile> {
  const { name, title, columns, rows, modifiedAtMs, rowsPerSheet = rowsPerSheetMax } = table;
  const written: WrittenSheet[] = [];
  yield* listSheets({ name, title, columns, rows, rowsMax: rowsPerSheet, printing: { orientation: 'landscape', pagesAcross: 2 } }, written);
  yield* listParts(written, title, modifiedAtMs);
}

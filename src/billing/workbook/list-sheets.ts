import type { ArchiveFile } from './archive-stream.ts';
import type { Batches, SheetColumn, TableRow } from './cell.ts';
import type { PrintLayout } from './sheet-layout.ts';
import { createRowSource, type SheetEnd, writeSheetXml } from './sheet-xml.ts';
import {
  encodeAppProperties,
  encodeContentTypes,
  encodeCoreProperties,
  encodePackageRelationships,
  encodeStyles,
  encodeWorkbook,
  encodeWorkbookRelationships,
  type SheetPart,
  sheetPath,
} from './workbook-parts.ts';

/** The most rows of a sheet in the .xlsx format, without the header. */
export const rowsPerSheetMax = 1_048_576 - 1;

/** A sheet that was written, and the number of its rows without header and totals. */
export type WrittenSheet = SheetPart & { readonly rowCount: number };

export type Table<Row> = {
  readonly name: string;
  readonly title: string;
  readonly printing: PrintLayout;
  readonly columns: readonly SheetColumn<Row>[];
  readonly rows: Batches<Row>;
  readonly rowsMax: number;
  readonly totals?: () => TableRow;
};

/** The sheets of one table: `Bill`, then `Bill 2` and so on when a sheet is full. Each is added to `written`. */
export function* listSheets<Row extends TableRow>(table: Table<Row>, written: WrittenSheet[]): Generator<ArchiveFile> {
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

/** The files of a workbook besides its sheets, which must be written before. */
export function* listParts(written: readonly WrittenSheet[], title: string, modifiedAtMs: number): Generator<ArchiveFile> {
  yield { name: 'docProps/core.xml', content: [encodeCoreProperties(title, modifiedAtMs)] };
  yield { name: 'docProps/app.xml', content: [encodeAppProperties()] };
  yield { name: 'xl/styles.xml', content: [encodeStyles()] };
  yield { name: 'xl/workbook.xml', content: [encodeWorkbook(written)] };
  yield { name: 'xl/_rels/workbook.xml.rels', content: [encodeWorkbookRelationships(written.length)] };
  yield { name: '_rels/.rels', content: [encodePackageRelationships()] };
  yield { name: '[Content_Types].xml', content: [encodeContentTypes(written.length)] };
}

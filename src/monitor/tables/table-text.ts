import { setImmediate } from 'node:timers/promises';
import { encodeCsvHeader, encodeCsvLine } from './csv-text.ts';
import type { Column, TableRow } from './table.ts';

const CHUNK_CHARACTERS = 64 * 1024;

/** Lines of a table, whether they are at hand or still to be read. */
export type Rows<Row> = Iterable<Row> | AsyncIterable<Row>;

/** A table as CSV (RFC 4180, UTF-8 without a byte order mark), its field names first, piece by piece while it is read. */
export function createCsvText<Row extends TableRow>(columns: readonly Column<Row>[], rows: Rows<Row>): AsyncGenerator<string> {
  return joinLines(encodeCsvHeader(columns), rows, (row) => encodeCsvLine(columns, row));
}

/** A table as one JSON object per line, piece by piece while it is read. */
export function createJsonLines(rows: Rows<TableRow>): AsyncGenerator<string> {
  return joinLines('', rows, (row) => `${JSON.stringify(row)}\n`);
}

async function* joinLines<Row>(head: string, rows: Rows<Row>, encode: (row: Row) => string): AsyncGenerator<string> {
  let text = head;
  for await (const row of rows) {
    text += encode(row);
    if (text.length < CHUNK_CHARACTERS) continue;
    yield text;
    text = '';
    // A fast reader must not keep the event loop from everybody else while a million lines are written.
    await setImmediate();
  }
  yield text;
}

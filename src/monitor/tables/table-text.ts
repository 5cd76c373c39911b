import { setImmediate } from 'node:timers/promises';
import { createCsvEncoder, encodeCsvHeader } from './csv-text.ts';
import { createJsonEncoder } from './record-json.ts';
import type { Batches } from '../../billing/workbook/cell.ts';
import type { Column, TableRow } from './table.ts';

const CHUNK_CHARACTERS = 128 * 1024;

/** A table as CSV (RFC 4180, UTF-8 without a byte order mark) with a header line, piece by piece while it is read. */
export function createCsvText<Row extends TableRow>(columns: readonly Column<Row>[], rows: Batches<Row>): AsyncGenerator<string> {
  return joinLines(rows, { head: encodeCsvHeader(columns), encode: createCsvEncoder(columns) });
}

/** A table as one JSON object per line, piece by piece while it is read. */
export function createJsonLines<Row extends TableRow>(columns: readonly Column<Row>[], rows: Batches<Row>): AsyncGenerator<string> {
  const encode = createJsonEncoder(columns.map(({ field }) => field));
  return joinLines(rows, { encode: (row) => `${encode(row)}\n` });
}

/**
 * The answer of /bill/stats as JSON text, piece by piece while it is read. The closing bracket comes last, so an
 * interrupted answer is never valid JSON.
 */
export function createStatsText<Row extends TableRow>(columns: readonly Column<Row>[], rows: Batches<Row>): AsyncGenerator<string> {
  const encode = createJsonEncoder(columns.map(({ field }) => field));
  return joinLines(rows, { head: '{"code":200,"message":"success","data":[', separator: ',', encode, tail: ']}' });
}

type Form<Row> = {
  readonly head?: string;
  readonly separator?: string;
  readonly encode: (row: Row) => string;
  readonly tail?: string;
};

async function* joinLines<Row>(rows: Batches<Row>, { head = '', separator = '', encode, tail = '' }: Form<Row>): AsyncGenerator<string> {
  let text = head;
  let between = '';
  for await (const batch of rows) {
    for (const row of batch) {
      text += between + encode(row);
      between = separator;
      if (text.length < CHUNK_CHARACTERS) continue;
      yield text;
      text = '';
      // A fast reader must not block the event loop while a million lines are written.
      await setImmediate();
    }
  }
  yield text + tail;
}

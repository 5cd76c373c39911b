import { ExportError } from './vendor-usage.ts';

/**
 * The rows of a CSV text (RFC 4180): fields in double quotes may contain commas, line breaks and doubled quotes. A byte
 * order mark and empty lines are ignored.
 * @throws ExportError if a quote is not closed
 */
export function parseCsv(text: string): string[][] {
  const rows: string[][] = [];
  let row: string[] = [];
  const field = /(?:"((?:[^"]|"")*)"|([^",\r\n]*))(,|\r?\n|$)/y;
  const start = text.startsWith('\ufeff') ? 1 : 0;
  for (field.lastIndex = start; field.lastIndex < text.length;) {
    const at = field.lastIndex;
    const match = field.exec(text);
    if (match === null) throw new ExportError(`the table cannot be read as CSV at character ${at}`);
    row.push(match[1]?.replaceAll('""', '"') ?? match[2] ?? '');
    if (match[3] === ',' && field.lastIndex < text.length) continue;
    if (match[3] === ',') row.push('');
    if (row.length > 1 || row[0] !== '') rows.push(row);
    row = [];
  }
  return rows;
}

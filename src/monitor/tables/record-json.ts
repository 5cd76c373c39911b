import type { Cell } from '../../billing/workbook/cell.ts';
import { type CellText, rememberTexts } from '../../billing/workbook/remember-texts.ts';
import type { TableRow } from './table.ts';

/**
 * Writes records of one kind as JSON: the same text as JSON.stringify in a fraction of its time, because field names
 * and repeated texts are encoded once.
 * @param fields the fields of every record, in order
 */
export function createJsonEncoder(fields: readonly string[]): (row: TableRow) => string {
  const columns: readonly JsonColumn[] = fields.map((field, index) => {
    const key = `${index === 0 ? '{' : ','}${JSON.stringify(field)}:`;
    return { field, key, textOf: rememberTexts((value) => key + JSON.stringify(value)) };
  });
  return (row) => {
    let text = '';
    for (const { field, key, textOf } of columns) {
      const value = row[field];
      if (typeof value === 'string') text += textOf(value);
      else text += key + encodeValue(value);
    }
    return `${text}}`;
  };
}

type JsonColumn = { readonly field: string; readonly key: string; readonly textOf: CellText };

function encodeValue(value: Exclude<Cell, string> | undefined): string {
  if (typeof value === 'number' && Number.isFinite(value)) return String(value);
  return typeof value === 'object' ? value.rawJSON : JSON.stringify(value ?? null);
}

import type { Cell, TableRow } from './table.ts';

/** Texts of one column that are remembered; names repeat from record to record. */
const rememberedMax = 1000;

/**
 * Writes records of one kind as JSON, the same text as JSON.stringify in a fraction of its time: the names of the fields are written down once, and texts are quoted once.
 * @param fields of every record, in their order
 */
export function createJsonEncoder(fields: readonly string[]): (row: TableRow) => string {
  const keys = fields.map((field, index) => `${index === 0 ? '{' : ','}${JSON.stringify(field)}:`);
  const quoted = fields.map(() => new Map<string, string>());
  return (row) => {
    let text = '';
    for (let index = 0; index < fields.length; index += 1) {
      text += (keys[index] ?? '') + encodeValue(row[fields[index] ?? ''], quoted[index]);
    }
    return `${text}}`;
  };
}

function encodeValue(value: Cell | undefined, quoted: Map<string, string> | undefined): string {
  if (typeof value === 'number' && Number.isFinite(value)) return String(value);
  if (typeof value === 'object') return value.rawJSON;
  if (typeof value !== 'string' || quoted === undefined) return JSON.stringify(value ?? null);
  const known = quoted.get(value);
  if (known !== undefined) return known;
  if (quoted.size >= rememberedMax) quoted.clear();
  const text = JSON.stringify(value);
  quoted.set(value, text);
  return text;
}

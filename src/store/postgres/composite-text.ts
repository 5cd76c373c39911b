import type { SqlParameter } from '../operations/database.ts';

/**
 * The fields of a row as the server writes one as text, `(1,word,"two ""words""",)`: one without a character is null. The driver reads such a text for half of what it costs to read
 * the same values in columns of their own. Source: https://www.postgresql.org/docs/15/rowtypes.html#ROWTYPES-IO-SYNTAX
 * @throws Error for what the server does not write
 */
export function readComposite(text: string): SqlParameter[] {
  if (!text.startsWith('(') || !text.endsWith(')')) throw new Error('The database has written a row that is none.');
  if (text.includes('"')) return readQuoted(text);
  const fields: SqlParameter[] = text.slice(1, -1).split(',');
  for (let at = 0; at < fields.length; at += 1) if (fields[at] === '') fields[at] = null;
  return fields;
}

/** The same where a field is in quotes. Inside them, quotes and backslashes are doubled. */
function readQuoted(text: string): SqlParameter[] {
  const fields: SqlParameter[] = [];
  for (let at = 1; at < text.length; at += 1) {
    if (text[at] === '"') {
      const end = endOfQuotes(text, at + 1);
      fields.push(text.slice(at + 1, end).replaceAll(/""|\\\\/g, (pair) => pair.slice(1)));
      at = end + 1;
    } else {
      const end = endOfField(text, at);
      fields.push(end === at ? null : text.slice(at, end));
      at = end;
    }
  }
  return fields;
}

function endOfQuotes(text: string, start: number): number {
  for (let at = text.indexOf('"', start); at !== -1; at = text.indexOf('"', at + 2)) if (text[at + 1] !== '"') return at;
  throw new Error('The database has written a row that does not end.');
}

function endOfField(text: string, start: number): number {
  const comma = text.indexOf(',', start);
  return comma === -1 ? text.length - 1 : comma;
}

import { createHash } from 'node:crypto';
import type { SqlParameter, SqlRow } from '../operations/sql-values.ts';
import { readInteger, readText } from '../operations/read-column.ts';

/** Runs a query with `?` for its parameters, on any engine. */
export type Query = (sql: string, parameters: readonly SqlParameter[]) => Promise<readonly SqlRow[]>;

/** A table of the schema as SQLite describes it. */
export type Table = {
  readonly name: string;
  readonly columns: readonly string[];
  readonly key: readonly string[];
  readonly hasBytes: boolean;
};

/** Tables that each engine has for itself: the list of migrations, and SQLite's full-text index. */
const engineTables = /^(?:sqlite_|schema_migrations$|chunk_terms)/;
/** Tables that are derived from others: copied calls are followed again, and copied days are packed again. */
const derivedTables = /^(?:call_facts|call_spans|call_follow|fact_names|fact_tags|service_(?:minutes|hours|days)|usage_packs|call_packs)$/;

/** The tables of a SQLite database. A table comes after those that it refers to. */
export async function listTables(sqlite: Query): Promise<readonly Table[]> {
  const names = (await sqlite("select name from sqlite_schema where type = 'table' order by name", [])).map((row) => readText(row, 'name'));
  const waiting = names.filter((name) => !engineTables.test(name) && !derivedTables.test(name));
  const ordered: string[] = [];
  while (waiting.length > 0) {
    const next: string[] = [];
    for (const name of waiting) {
      const parents = await sqlite('select "table" as parent from pragma_foreign_key_list(?)', [name]);
      if (parents.every((row) => ordered.includes(readText(row, 'parent')) || readText(row, 'parent') === name)) next.push(name);
    }
    if (next.length === 0) throw new RangeError(`The tables ${waiting.join(', ')} refer to each other in a circle.`);
    ordered.push(...next);
    for (const name of next) waiting.splice(waiting.indexOf(name), 1);
  }
  return await Promise.all(ordered.map((name) => describeTable(sqlite, name)));
}

async function describeTable(sqlite: Query, name: string): Promise<Table> {
  const columns = await sqlite('select name, type, pk from pragma_table_info(?) order by cid', [name]);
  const key = columns
    .filter((column) => readInteger(column, 'pk') > 0)
    .toSorted((left, right) => readInteger(left, 'pk') - readInteger(right, 'pk'));
  return {
    name,
    columns: columns.map((column) => readText(column, 'name')),
    key: key.map((column) => readText(column, 'name')),
    hasBytes: columns.some((column) => readText(column, 'type').toLowerCase() === 'blob'),
  };
}

/** Rows in memory at a time. Bytes may be megabytes each. */
const rowsAtOnce = 500;
const rowsWithBytesAtOnce = 16;

/** All rows of a table in the order of its key, piece by piece. */
export async function* readPieces(query: Query, { name, columns, key, hasBytes }: Table): AsyncGenerator<readonly SqlRow[]> {
  const limit = hasBytes ? rowsWithBytesAtOnce : rowsAtOnce;
  const order = key.length === 0 ? '' : `order by ${key.join(', ')}`;
  let after: readonly SqlParameter[] | undefined;
  for (;;) {
    const where = after === undefined ? '' : `where (${key.join(', ')}) > (${key.map(() => '?').join(', ')})`;
    // A table without a key has only one or two rows.
    const bound = key.length === 0 ? '' : `limit ${limit}`;
    const rows = await query(`select ${columns.join(', ')} from ${name} ${where} ${order} ${bound}`, after ?? []);
    if (rows.length > 0) yield rows;
    const last = rows.at(-1);
    if (last === undefined || key.length === 0 || rows.length < limit) return;
    after = key.map((column) => last[column] ?? null);
  }
}

/** The number of rows of a table, and a sum that changes with any value. */
export type TableSum = { readonly rows: number; readonly sum: string };

/** Computes a sum of rows that depends on their order, but not on how they are split into pieces. */
export function createTableSum(columns: readonly string[]) {
  const hash = createHash('sha256');
  let rows = 0;
  return {
    add: (row: SqlRow): void => {
      rows += 1;
      for (const column of columns) addValue(hash, row[column] ?? null);
    },
    result: (): TableSum => ({ rows, sum: hash.digest('hex') }),
  };
}

/** Type and length come first, so that no two different rows have the same input. */
function addValue(hash: ReturnType<typeof createHash>, value: SqlParameter): void {
  if (value === null) {
    hash.update('n;');
    return;
  }
  const bytes = value instanceof Uint8Array ? value : Buffer.from(String(value));
  const type = value instanceof Uint8Array ? 'b' : typeof value === 'string' ? 't' : 'd';
  hash.update(`${type}${bytes.length};`);
  hash.update(bytes);
}

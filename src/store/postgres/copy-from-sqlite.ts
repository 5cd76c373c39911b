import type { SqlParameter, SqlRow } from '../operations/sql-values.ts';
import { readInteger, readText } from '../operations/read-column.ts';
import { openStoreDatabase } from '../sqlite/open-store-database.ts';
import { createSqliteDatabase } from '../sqlite/sqlite-database.ts';
import { StoreError } from '../store-error.ts';
import { migrateDatabase } from './migrate-database.ts';
import { oneConnection } from './migrate-postgres.ts';
import { openPool } from './open-pool.ts';
import type { Session } from './open-pool.ts';
import { createTransaction } from './postgres-database.ts';
import { createTableSum, listTables, readPieces } from './read-tables.ts';
import type { Query, Table, TableSum } from './read-tables.ts';

/** What was copied of a table. */
export type CopiedTable = TableSum & { readonly name: string };

/** Tables that have rows as soon as they are made. Those of the copy take their place. */
const seeded = new Set(['settings', 'counters', 'database_identity', 'usage_day_zone']);

/**
 * Copies all that a file of SQLite holds into a PostgreSQL database, whose schema is made first: all of it or, when anything fails, nothing. What was written is read again, and numbers of rows
 * and sums of every table compared, before it is kept. Nobody else may write to the file in the meantime. Rejects with StoreError, `constraint` for a database that is not empty.
 * @param onTable told of each table when it has been copied
 */
export async function copyFromSqlite(options: {
  readonly path: string;
  readonly url: string;
  readonly onTable?: (table: CopiedTable) => void;
}): Promise<readonly CopiedTable[]> {
  const connection = openStoreDatabase({ path: options.path, readOnly: false, busyTimeoutMs: 5000 });
  const pool = openPool({ url: options.url, ...oneConnection });
  try {
    const source = createSqliteDatabase(connection);
    const read: Query = (sql, parameters) => source.all(sql, ...parameters);
    await migrateDatabase(pool);
    return await pool.use(async (session) => {
      await session.execute('begin isolation level read committed');
      const copied = await copyAll({ read, session, ...options });
      if ((await session.execute('commit')) !== 'COMMIT') throw new StoreError('internal', 'The server did not keep what was copied.');
      return copied;
    });
  } finally {
    await pool.close();
    connection.close();
  }
}

type Copying = { readonly read: Query; readonly session: Session; readonly onTable?: (table: CopiedTable) => void };

/** A connection that is given up in the middle undoes everything. */
async function copyAll({ read, session, onTable }: Copying): Promise<readonly CopiedTable[]> {
  const tables = await listTables(read);
  await refuseWhatIsThere(session, tables);
  const copied: CopiedTable[] = [];
  for (const table of tables) {
    if (seeded.has(table.name)) await session.execute(`delete from ${table.name}`);
    const sum = await copyTable(read, session, table);
    await verify(session, table, sum);
    copied.push({ name: table.name, ...sum });
    onTable?.({ name: table.name, ...sum });
  }
  await copyTerms(read, session);
  await continueNumbers(session);
  return copied;
}

async function refuseWhatIsThere(session: Session, tables: readonly Table[]): Promise<void> {
  for (const { name } of tables) {
    if (seeded.has(name)) continue;
    await session.execute(`lock table ${name} in share row exclusive mode`);
    const { rows } = await session.query(`select 1 as found from ${name} limit 1`, []);
    if (rows.length > 0) throw new StoreError('constraint', `The database is not empty: ${name} has rows. Copy into a new one.`);
  }
}

/** Parameters of one statement at most; the protocol has room for 65535. */
const parametersMax = 5000;

async function copyTable(read: Query, session: Session, table: Table): Promise<TableSum> {
  const sum = createTableSum(table.columns);
  const rowsAtOnce = Math.floor(parametersMax / table.columns.length);
  for await (const rows of readPieces(read, table)) {
    for (let at = 0; at < rows.length; at += rowsAtOnce) {
      const part = rows.slice(at, at + rowsAtOnce);
      await session.query(
        insertOf(table, part.length),
        part.flatMap((row) => valuesOf(table, row)),
      );
    }
    for (const row of rows) sum.add(row);
  }
  return sum.result();
}

function insertOf({ name, columns }: Table, rows: number): string {
  const values = `(${columns.map(() => '?').join(', ')})`;
  return `insert into ${name} (${columns.join(', ')}) values ${Array.from({ length: rows }, () => values).join(', ')}`;
}

function valuesOf({ columns }: Table, row: SqlRow): readonly SqlParameter[] {
  return columns.map((column) => row[column] ?? null);
}

/** Reads back what was written. */
async function verify(session: Session, table: Table, expected: TableSum): Promise<void> {
  const query: Query = async (sql, parameters) => (await session.query(sql, parameters)).rows;
  const sum = createTableSum(table.columns);
  for await (const rows of readPieces(query, table)) for (const row of rows) sum.add(row);
  const found = sum.result();
  if (found.rows === expected.rows && found.sum === expected.sum) return;
  throw new StoreError(
    'corrupt',
    `What arrived in ${table.name} is not what was sent: ${found.rows} of ${expected.rows} rows, or other values. Nothing was kept.`,
  );
}

const termsAtOnce = 200;

/** The index of words is each engine's own: it is made anew from the words. */
async function copyTerms(read: Query, session: Session): Promise<void> {
  const target = createTransaction(session);
  for (let after = 0; ;) {
    const sql = `select chunks.id as id, store_id, terms from chunks join chunk_terms on chunk_terms.rowid = chunks.id where chunks.id > ? and store_id <> '' order by chunks.id limit ?`;
    const rows = await read(sql, [after, termsAtOnce]);
    for (const row of rows) {
      after = readInteger(row, 'id');
      await target.termIndex.add(target, { id: after, storeId: readText(row, 'store_id'), terms: readText(row, 'terms') });
    }
    if (rows.length < termsAtOnce) return;
  }
}

/** Columns that count up go on behind what was copied. */
async function continueNumbers(session: Session): Promise<void> {
  const sql =
    "select table_name, column_name from information_schema.columns where table_schema = current_schema() and is_identity = 'YES'";
  const { rows } = await session.query(sql, []);
  for (const row of rows) {
    const [table, column] = [readText(row, 'table_name'), readText(row, 'column_name')];
    await session.execute(
      `select setval(pg_get_serial_sequence('${table}', '${column}'), (select coalesce(max(${column}), 0) + 1 from ${table}), false)`,
    );
  }
}

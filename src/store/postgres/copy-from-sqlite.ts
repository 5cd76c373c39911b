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

/** A table that was copied. */
export type CopiedTable = TableSum & { readonly name: string };

/** Tables that have rows after the migration. The copied rows replace them. */
const seeded = new Set(['call_retention', 'settings', 'counters', 'database_identity', 'usage_day_zone', 'audit_head', 'organization']);

/**
 * Copies all rows of a SQLite file into a PostgreSQL database, and creates the schema first. It copies everything or,
 * if anything fails, nothing. Before the commit it reads the copied rows again and compares the number of rows and a
 * sum of every table. No other process may write to the file meanwhile. Rejects with StoreError, `constraint` if the
 * database is not empty.
 * @param onTable called for each table when it has been copied
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
      if ((await session.execute('commit')) !== 'COMMIT') throw new StoreError('internal', 'The server did not commit the copy.');
      return copied;
    });
  } finally {
    await pool.close();
    connection.close();
  }
}

type Copying = { readonly read: Query; readonly session: Session; readonly onTable?: (table: CopiedTable) => void };

/** Closing the connection before the commit undoes everything. */
async function copyAll({ read, session, onTable }: Copying): Promise<readonly CopiedTable[]> {
  await refuseArchives(read);
  const tables = await listTables(read);
  await assertEmpty(session, tables);
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

async function assertEmpty(session: Session, tables: readonly Table[]): Promise<void> {
  for (const { name } of tables) {
    if (seeded.has(name)) continue;
    await session.execute(`lock table ${name} in share row exclusive mode`);
    const { rows } = await session.query(`select 1 as found from ${name} limit 1`, []);
    if (rows.length > 0) throw new StoreError('constraint', `The database is not empty: ${name} has rows. Copy into a new one.`);
  }
}

/** The most parameters of one statement; the protocol allows 65535. */
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

/** Reads the copied rows and compares them. */
async function verify(session: Session, table: Table, expected: TableSum): Promise<void> {
  const query: Query = async (sql, parameters) => (await session.query(sql, parameters)).rows;
  const sum = createTableSum(table.columns);
  for await (const rows of readPieces(query, table)) for (const row of rows) sum.add(row);
  const found = sum.result();
  if (found.rows === expected.rows && found.sum === expected.sum) return;
  throw new StoreError(
    'corrupt',
    `The copy of ${table.name} differs: ${found.rows} of ${expected.rows} rows, or other values. Nothing was committed.`,
  );
}

const termsAtOnce = 200;

/** The full-text index differs between engines: it is built again from the text. */
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

/** Facts of archived calls cannot be made again from the copied ledger. */
async function refuseArchives(read: Query): Promise<void> {
  const [first] = await read('select id from call_archives limit 1', []);
  if (first === undefined) return;
  throw new StoreError(
    'constraint',
    'Calls of this database were archived, and archived calls cannot be copied to PostgreSQL yet: begin a new database there, and keep this one for its months.',
  );
}

/** Counting columns continue after the copied numbers. */
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

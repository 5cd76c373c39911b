import type { Query } from '../backup/backup-figures.ts';
import { readSqlite } from '../backup/copy-sqlite.ts';
import { readSnapshot } from '../backup/dump-postgres.ts';
import type { AppliedMigration } from '../migrations/schema-versions.ts';
import { readInteger, readText } from '../operations/read-column.ts';

/** The migrations of a database, and a function that counts rows. Nothing is changed. */
export type SchemaView = {
  readonly applied: readonly AppliedMigration[];
  /** Rows by table, for the tables that exist. PostgreSQL's are its own estimate, which costs nothing. */
  readonly rows: ReadonlyMap<string, number>;
  /**
   * Rows of the largest table that were read in a second just now; undefined if it is too small for a measurement. A
   * migration in the database also writes, but does not carry rows to a program, which takes about as long.
   */
  readonly rowsPerSecond: number | undefined;
};

/** Enough for a stable figure, and read within a second even by a slow disk. */
const measuredRows = 20_000;
const measuredRowsMin = 2000;

async function measureRate(query: Query, rows: ReadonlyMap<string, number>): Promise<number | undefined> {
  const [name, count] = [...rows].toSorted(([, one], [, other]) => other - one)[0] ?? ['', 0];
  if (count < measuredRowsMin) return undefined;
  const beganMs = performance.now();
  const read = await query(`select * from ${name} limit ${measuredRows}`, []);
  return Math.round((read.length * 1000) / Math.max(1, performance.now() - beganMs));
}

async function readApplied(query: Query): Promise<readonly AppliedMigration[]> {
  const rows = await query('select version, name from schema_migrations', []);
  return rows.map((row) => ({ version: readInteger(row, 'version'), name: readText(row, 'name') }));
}

/** Reads the file of a data directory. Rejects with StoreError. */
export async function readSqliteSchema(path: string): Promise<SchemaView> {
  return await readSqlite(path, async (query, schema) => {
    if (schema === 0) return { applied: [], rows: new Map(), rowsPerSecond: undefined };
    const rows = new Map<string, number>();
    for (const row of await query(
      "select name from sqlite_schema where type = 'table' and name not like 'sqlite_%' and sql like 'create table%'",
      [],
    )) {
      const name = readText(row, 'name');
      const [count] = await query(`select count(*) as rows from ${name}`, []);
      if (count !== undefined) rows.set(name, readInteger(count, 'rows'));
    }
    return { applied: await readApplied(query), rows, rowsPerSecond: await measureRate(query, rows) };
  });
}

/** Reads a PostgreSQL database. Rejects with StoreError. */
export async function readPostgresSchema(url: string): Promise<SchemaView> {
  return await readSnapshot(url, async (_session, query, schema) => {
    if (schema === 0) return { applied: [], rows: new Map(), rowsPerSecond: undefined };
    const tables = await query(
      "select relname as name, greatest(reltuples, 0)::bigint as rows from pg_class where relnamespace = current_schema()::regnamespace and relkind in ('r', 'p')",
      [],
    );
    const rows = new Map(tables.map((row) => [readText(row, 'name'), readInteger(row, 'rows')]));
    return { applied: await readApplied(query), rows, rowsPerSecond: await measureRate(query, rows) };
  });
}

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
};

async function readApplied(query: Query): Promise<readonly AppliedMigration[]> {
  const rows = await query('select version, name from schema_migrations', []);
  return rows.map((row) => ({ version: readInteger(row, 'version'), name: readText(row, 'name') }));
}

/** Reads the file of a data directory. Rejects with StoreError. */
export async function readSqliteSchema(path: string): Promise<SchemaView> {
  return await readSqlite(path, async (query, schema) => {
    if (schema === 0) return { applied: [], rows: new Map() };
    const rows = new Map<string, number>();
    for (const row of await query(
      "select name from sqlite_schema where type = 'table' and name not like 'sqlite_%' and sql like 'create table%'",
      [],
    )) {
      const name = readText(row, 'name');
      const [count] = await query(`select count(*) as rows from ${name}`, []);
      if (count !== undefined) rows.set(name, readInteger(count, 'rows'));
    }
    return { applied: await readApplied(query), rows };
  });
}

/** Reads a PostgreSQL database. Rejects with StoreError. */
export async function readPostgresSchema(url: string): Promise<SchemaView> {
  return await readSnapshot(url, async (_session, query, schema) => {
    if (schema === 0) return { applied: [], rows: new Map() };
    const tables = await query(
      "select relname as name, greatest(reltuples, 0)::bigint as rows from pg_class where relnamespace = current_schema()::regnamespace and relkind in ('r', 'p')",
      [],
    );
    return { applied: await readApplied(query), rows: new Map(tables.map((row) => [readText(row, 'name'), readInteger(row, 'rows')])) };
  });
}

import { readText } from '../operations/read-column.ts';
import { oneConnection } from '../postgres/migrate-postgres.ts';
import { openPool, type Session } from '../postgres/open-pool.ts';
import { StoreError } from '../store-error.ts';
import { runTool } from './postgres-tools.ts';

/** What a restore finds in its target. */
export type PostgresTarget = { readonly schema: string; readonly tables: number; readonly sessions: readonly string[] };

/** Reads what is in the schema of a database, and which programs of Weir use it. Rejects with StoreError. */
export async function describeTarget(url: string): Promise<PostgresTarget> {
  return await useOwner(url, describe);
}

async function describe(session: Session): Promise<PostgresTarget> {
  const [schema] = (await session.query('select current_schema() as name', [])).rows;
  if (schema === undefined || schema['name'] === null)
    throw new StoreError('unavailable', 'The database has no schema in which the role of its URL could create tables.');
  const tables = await session.query(
    "select c.relname as name from pg_class c where c.relnamespace = current_schema()::regnamespace and c.relkind in ('r', 'p', 'v')",
    [],
  );
  const sessions = await session.query(
    "select distinct application_name as name from pg_stat_activity where datname = current_database() and application_name like 'weir%' and pid <> pg_backend_pid()",
    [],
  );
  return { schema: readText(schema, 'name'), tables: tables.rows.length, sessions: sessions.rows.map((row) => readText(row, 'name')) };
}

/**
 * Restores a dump of `dumpPostgres` with pg_restore, in one transaction. Rejects with StoreError.
 * @param path PATH, where pg_restore is
 * @param aside the name under which a schema with content is kept; without it, the schema must be empty
 */
export async function restorePostgres(options: {
  readonly url: string;
  readonly from: string;
  readonly path: string | undefined;
  readonly aside?: string;
}): Promise<void> {
  const { url, from, path, aside } = options;
  // Fails before anything is changed if the tool is absent or cannot read the dump.
  await runTool('pg_restore', ['--list', from], { url, path });
  if (aside !== undefined) await useOwner(url, (session) => moveAside(session, aside));
  const words = ['--exit-on-error', '--single-transaction', '--no-owner', '--no-privileges'];
  await runTool('pg_restore', [...words, `--dbname=${databaseOf(url)}`, from], { url, path });
}

/** The tables stay as they are under another name, so that nothing is lost if the restore was a mistake. */
async function moveAside(session: Session, aside: string): Promise<void> {
  const { schema } = await describe(session);
  await session.execute(`begin; alter schema ${quote(schema)} rename to ${quote(aside)}; create schema ${quote(schema)}; commit`);
}

const quote = (name: string): string => `"${name.replaceAll('"', '""')}"`;

const databaseOf = (url: string): string => decodeURIComponent(new URL(url).pathname.slice(1)) || 'weir';

async function useOwner<Result>(url: string, use: (session: Session) => Promise<Result>): Promise<Result> {
  const pool = openPool({ ...oneConnection, url, applicationName: 'restore' });
  try {
    return await pool.use(use);
  } finally {
    await pool.close();
  }
}

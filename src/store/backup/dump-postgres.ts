import { readText } from '../operations/read-column.ts';
import { oneConnection } from '../postgres/migrate-postgres.ts';
import { openPool, type Session } from '../postgres/open-pool.ts';
import { StoreError } from '../store-error.ts';
import { type BackupFigures, type DatabaseContent, type Query, readContent, readFigures, readVersion } from './backup-figures.ts';
import { refuseNewer } from './copy-sqlite.ts';
import { runTool } from './postgres-tools.ts';

/**
 * Dumps a PostgreSQL database with pg_dump while gateways use it. The dump and its figures have one moment, because
 * pg_dump reads the snapshot of the connection that reads the figures. The role of the URL must be able to read every
 * table. Rejects with StoreError.
 * @param path PATH, where pg_dump is
 * @param journalCalls see readContent
 */
export async function dumpPostgres(options: {
  readonly url: string;
  readonly to: string;
  readonly path: string | undefined;
  readonly journalCalls: readonly string[];
}): Promise<DatabaseContent> {
  const { url, to, path, journalCalls } = options;
  return await readSnapshot(url, async (session, query, schema) => {
    if (schema === 0) throw new StoreError('corrupt', 'The database has no tables of Weir.');
    refuseNewer(schema);
    const content = await readContent(query, schema, journalCalls);
    const { rows } = await session.query('select pg_export_snapshot() as snapshot', []);
    const snapshot = rows[0] === undefined ? '' : readText(rows[0], 'snapshot');
    await runTool('pg_dump', ['--format=custom', '--no-owner', '--no-privileges', `--snapshot=${snapshot}`], { url, path, output: to });
    return content;
  });
}

/** The figures of a database, which is not migrated. Rejects with StoreError. */
export async function readPostgresFigures(url: string): Promise<BackupFigures> {
  return await readSnapshot(url, (_session, query, schema) => readFigures(query, schema));
}

/** Reads a database, which is not migrated, in one snapshot. Rejects with StoreError. */
export async function readSnapshot<Result>(
  url: string,
  read: (session: Session, query: Query, schema: number) => Promise<Result>,
): Promise<Result> {
  const pool = openPool({ ...oneConnection, url, readOnly: true, applicationName: 'weir backup' });
  try {
    return await pool.use(async (session) => {
      await session.execute('begin isolation level repeatable read read only; set local idle_in_transaction_session_timeout = 0');
      const query: Query = async (sql, parameters) => (await session.query(sql, parameters)).rows;
      const schema = await readVersion(
        query,
        async (name) => (await query('select 1 as found where to_regclass(?) is not null', [name])).length > 0,
      );
      const result = await read(session, query, schema);
      await session.execute('commit');
      return result;
    });
  } finally {
    await pool.close();
  }
}

import { closeSync, openSync } from 'node:fs';

import { latestVersion } from '../migrations/migrations.ts';
import { openDatabase, type SqliteConnection } from '../sqlite/open-database.ts';
import { StoreError } from '../store-error.ts';
import { type BackupFigures, type DatabaseContent, type Query, readContent, readFigures, readVersion } from './backup-figures.ts';

const busyTimeoutMs = 30_000;

/**
 * Copies a database into a new file while other processes write to it, at one moment: that at which the statement
 * began. Bookings go on meanwhile; only their log cannot shrink before the end. A copy of a file would be torn, and the
 * engine's other interface for backups begins again with each booking. Blocks its thread. Throws StoreError.
 * @param to must not exist; only its owner may read it
 * @param journalCalls see readContent
 */
export async function copySqlite(options: {
  readonly from: string;
  readonly to: string;
  readonly journalCalls: readonly string[];
}): Promise<DatabaseContent> {
  const source = openDatabase(options.from, { readOnly: true, busyTimeoutMs });
  try {
    const version = await schemaOf(source);
    if (version === 0) throw new StoreError('corrupt', `${options.from} is not a database of Weir.`);
    refuseNewer(version);
    closeSync(openSync(options.to, 'wx', 0o600));
    source.run('vacuum into ?', [options.to]);
  } finally {
    source.close();
  }
  return await readSqlite(options.to, (query, schema) => readContent(query, schema, options.journalCalls));
}

/** The figures of a file that no process uses. It is not migrated. Throws StoreError. */
export async function readSqliteFigures(path: string): Promise<BackupFigures> {
  return await readSqlite(path, readFigures);
}

/** Reads a file, which is not migrated. Throws StoreError. */
export async function readSqlite<Result>(path: string, read: (query: Query, schema: number) => Promise<Result>): Promise<Result> {
  const copy = openDatabase(path, { readOnly: true, busyTimeoutMs });
  try {
    return await read(queryOf(copy), await schemaOf(copy));
  } finally {
    copy.close();
  }
}

const queryOf =
  (connection: SqliteConnection): Query =>
  (sql, parameters) =>
    Promise.resolve(connection.all(sql, parameters));

async function schemaOf(connection: SqliteConnection): Promise<number> {
  return await readVersion(queryOf(connection), (name) =>
    Promise.resolve(connection.first("select 1 as found from sqlite_schema where type = 'table' and name = ?", [name]) !== undefined),
  );
}

/** A backup of a newer schema could leave out what this program does not know. */
export function refuseNewer(version: number): void {
  if (version <= latestVersion) return;
  throw new StoreError(
    'too-new',
    `The database has schema version ${version}, and this program knows versions up to ${latestVersion}: use the Weir that the gateways run.`,
  );
}

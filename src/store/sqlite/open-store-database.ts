import { randomBytes } from 'node:crypto';
import { latestVersion, migrations } from '../migrations/migrations.ts';
import { StoreError } from '../store-error.ts';
import { openDatabase } from './open-database.ts';
import type { SqliteConnection } from './open-database.ts';
import { readInteger } from '../operations/read-column.ts';

/** What the worker is started with. */
export type SqliteWorkerData = { readonly path: string; readonly readOnly: boolean; readonly busyTimeoutMs: number };

/**
 * Opens the store's database, creating or migrating it first where needed, also for a store that is to be read only. Any number of
 * processes may do so at the same moment. Blocks its thread for up to twice the busy time-out. Throws StoreError, `too-new` among others.
 */
export function openStoreDatabase(data: SqliteWorkerData): SqliteConnection {
  if (!data.readOnly) return openForWriting(data);
  if (readSchemaVersion(data) < latestVersion) openForWriting(data).close();
  const database = openDatabase(data.path, { readOnly: true, busyTimeoutMs: data.busyTimeoutMs });
  return closeOnFailure(database, () => checkVersion(schemaVersion(database), data.path));
}

function openForWriting(data: SqliteWorkerData): SqliteConnection {
  const database = openDatabase(data.path, { readOnly: false, busyTimeoutMs: data.busyTimeoutMs });
  return closeOnFailure(database, () => {
    // Looked at before anything is written: an older program leaves no trace in a newer database.
    checkVersion(schemaVersion(database), data.path);
    // Switching to the write-ahead log needs the file alone for a moment and fails at once, without waiting, when another process does the same.
    retryWhileBusy(data.busyTimeoutMs, () => database.execute('pragma journal_mode = wal'));
    // Full: a commit has reached the disk when it returns. The journal forgets entries on that promise, and commits are batched.
    database.execute('pragma synchronous = full; pragma foreign_keys = on; pragma trusted_schema = off');
    // What is deleted is overwritten, so that no free page keeps it.
    database.execute('pragma secure_delete = on');
    // Booking touches the same pages again and again: those of indexes stay in memory (16 MB), and what a few batches change goes from the log into the file once (16 MB).
    database.execute('pragma cache_size = -16384; pragma wal_autocheckpoint = 4000');
    // After a burst the log file shrinks back to 64 MB.
    database.execute('pragma journal_size_limit = 67108864');
    retryWhileBusy(data.busyTimeoutMs, () => migrate(database, data.path));
  });
}

/** Brings the schema up to date in one transaction, so that a process that dies in it leaves the old schema. */
function migrate(database: SqliteConnection, path: string): void {
  if (schemaVersion(database) === latestVersion) return;
  database.transact(() => {
    database.execute('create table if not exists schema_migrations (version bigint not null primary key, name text not null)');
    const current = schemaVersion(database);
    checkVersion(current, path);
    for (const migration of migrations) {
      if (migration.version <= current) continue;
      for (const statement of [...migration.shared, ...migration.sqlite]) database.execute(statement);
      database.run('insert into schema_migrations (version, name) values (?, ?)', migration.version, migration.name);
    }
    const pepper = randomBytes(32).toString('hex');
    database.run("insert into settings (name, value) values ('pepper', ?) on conflict (name) do nothing", pepper);
  });
}

function readSchemaVersion(data: SqliteWorkerData): number {
  const database = openDatabase(data.path, { readOnly: true, busyTimeoutMs: data.busyTimeoutMs });
  try {
    return schemaVersion(database);
  } finally {
    database.close();
  }
}

/** 0 for a database without our tables. */
function schemaVersion(database: SqliteConnection): number {
  const table = database.first("select 1 from sqlite_schema where type = 'table' and name = 'schema_migrations'");
  if (table === undefined) return 0;
  const row = database.first('select coalesce(max(version), 0) as version from schema_migrations');
  return row === undefined ? 0 : readInteger(row, 'version');
}

function checkVersion(version: number, path: string): void {
  if (version <= latestVersion) return;
  throw new StoreError(
    'too-new',
    `The database ${path} has schema version ${version}, and this program knows versions up to ${latestVersion}. ` +
      'A newer Weir has used it: start that version, or restore a backup from before.',
  );
}

/** How long a busy database is left alone between two attempts. */
const busyPauseMs = 20;

function retryWhileBusy(timeoutMs: number, work: () => void): void {
  const deadline = performance.now() + timeoutMs;
  for (;;) {
    try {
      work();
      return;
    } catch (error) {
      if (!(error instanceof StoreError) || error.kind !== 'busy' || performance.now() > deadline) throw error;
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, busyPauseMs);
    }
  }
}

function closeOnFailure(database: SqliteConnection, prepare: () => void): SqliteConnection {
  try {
    prepare();
    return database;
  } catch (error) {
    database.close();
    throw error;
  }
}

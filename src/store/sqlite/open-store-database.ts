import { randomBytes } from 'node:crypto';
import { latestVersion, migrations } from '../migrations/migrations.ts';
import { StoreError } from '../store-error.ts';
import { openDatabase } from './open-database.ts';
import type { SqliteConnection } from './open-database.ts';
import { type AppliedMigration, checkVersion, recordedName, versionOf } from '../migrations/schema-versions.ts';
import { readInteger, readText } from '../operations/read-column.ts';

/** The start parameters of the worker. */
export type SqliteWorkerData = { readonly path: string; readonly readOnly: boolean; readonly busyTimeoutMs: number };

/**
 * Opens the store's database, and creates or migrates it first if needed, also for a read-only store. Any number of
 * processes may do so at the same moment. Blocks its thread for up to twice the busy time-out. Throws StoreError, for
 * example `too-new`.
 * @param announceMigration called before an existing database is migrated, which can take minutes
 */
export function openStoreDatabase(data: SqliteWorkerData, announceMigration: () => void = () => {}): SqliteConnection {
  if (!data.readOnly) return openForWriting(data, announceMigration);
  if (readVersionOnly(data) < latestVersion) openForWriting(data, announceMigration).close();
  const database = openDatabase(data.path, { readOnly: true, busyTimeoutMs: data.busyTimeoutMs });
  return closeOnFailure(database, () => checkVersion(readApplied(database), `The database ${data.path}`));
}

function openForWriting(data: SqliteWorkerData, announceMigration: () => void): SqliteConnection {
  const database = openDatabase(data.path, { readOnly: false, busyTimeoutMs: data.busyTimeoutMs });
  return closeOnFailure(database, () => {
    // Checked before anything is written: an older program must not change a newer database.
    checkVersion(readApplied(database), `The database ${data.path}`);
    // Switching to the write-ahead log needs the file exclusively for a moment, and fails at once if another process
    // does the same.
    retryWhileBusy(data.busyTimeoutMs, () => database.execute('pragma journal_mode = wal'));
    // Full: a commit is on the disk when it returns. The journal deletes entries because of that, and commits are
    // batched.
    database.execute('pragma synchronous = full; pragma foreign_keys = on; pragma trusted_schema = off');
    // Deleted rows are overwritten, so that no free page contains them.
    database.execute('pragma secure_delete = on');
    // Booking uses the same pages repeatedly: index pages stay in memory (16 MB), and the changes of a few batches move
    // from the log into the file at once (16 MB).
    database.execute('pragma cache_size = -16384; pragma wal_autocheckpoint = 4000');
    // After a burst the log file shrinks to 64 MB.
    database.execute('pragma journal_size_limit = 67108864');
    const version = versionOf(readApplied(database));
    if (version > 0 && version < latestVersion) announceMigration();
    retryWhileBusy(data.busyTimeoutMs, () => migrate(database, data.path));
    // A statement that changes many pages keeps their old content, and would write it to the system's folder for
    // temporary files: bookings must not depend on that. Migrations sort whole tables, for which files are right.
    database.execute('pragma temp_store = memory');
  });
}

/** Brings the schema up to date in one transaction, so that a process that dies in it leaves the old schema. */
function migrate(database: SqliteConnection, path: string): void {
  if (versionOf(readApplied(database)) >= latestVersion) return;
  database.transact(() => {
    database.execute('create table if not exists schema_migrations (version bigint not null primary key, name text not null)');
    const applied = readApplied(database);
    checkVersion(applied, `The database ${path}`);
    const current = versionOf(applied);
    for (const migration of migrations) {
      if (migration.version <= current) continue;
      for (const statement of [...migration.shared, ...migration.sqlite]) database.execute(statement);
      database.run('insert into schema_migrations (version, name) values (?, ?)', [migration.version, recordedName(migration)]);
    }
    const pepper = randomBytes(32).toString('hex');
    database.run("insert into settings (name, value) values ('pepper', ?) on conflict (name) do nothing", [pepper]);
  });
}

function readVersionOnly(data: SqliteWorkerData): number {
  const database = openDatabase(data.path, { readOnly: true, busyTimeoutMs: data.busyTimeoutMs });
  try {
    return versionOf(readApplied(database));
  } finally {
    database.close();
  }
}

/** Empty for a database without our tables. */
function readApplied(database: SqliteConnection): readonly AppliedMigration[] {
  const table = database.first("select 1 from sqlite_schema where type = 'table' and name = 'schema_migrations'");
  if (table === undefined) return [];
  const rows = database.all('select version, name from schema_migrations');
  return rows.map((row) => ({ version: readInteger(row, 'version'), name: readText(row, 'name') }));
}

/** The pause between two attempts on a busy database. */
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

import { randomBytes } from 'node:crypto';
import { setTimeout } from 'node:timers/promises';

import { latestVersion, migrations } from '../migrations/migrations.ts';
import { type AppliedMigration, checkVersion, recordedName, versionOf } from '../migrations/schema-versions.ts';
import { readInteger, readText } from '../operations/read-column.ts';
import { StoreError } from '../store-error.ts';
import type { ConnectionPool, Session } from './open-pool.ts';

/**
 * Brings the schema up to date, in one transaction. Any number of processes may do so at the same time. A schema that
 * is up to date is only read, which every role may do. Rejects with StoreError: `too-new` for the database of a newer
 * program, `read-only` if the role may not change the schema.
 */
export async function migrateDatabase(pool: ConnectionPool): Promise<void> {
  await pool.use(async (session) => {
    const { rows } = await session.query("select current_setting('server_encoding') as encoding", []);
    const encoding = rows[0] === undefined ? '' : readText(rows[0], 'encoding');
    if (encoding !== 'UTF8') throw new StoreError('corrupt', `The database has the encoding ${encoding}, and Weir needs UTF8.`);
    const applied = await readApplied(session);
    checkVersion(applied, 'The database');
    if (versionOf(applied) < latestVersion) await migrateWhenFree(session, versionOf(applied));
  });
}

/** Two numbers that identify migrations among the server's advisory locks. */
const lockId = '1466263922, 1';
/** Creating a large index may take long. */
const migrationTimeoutMs = 110_000;
/**
 * How long a statement waits for a table. What other programs ask of the table waits behind it, so the migration
 * ends early, and is repeated after a pause in which they work.
 */
const tableWaitMs = 3000;
const pauseMs = 500;

/** Migrates, again and again while running programs hold a table that must change. */
async function migrateWhenFree(session: Session, before: number): Promise<void> {
  const deadline = performance.now() + migrationTimeoutMs;
  for (;;) {
    try {
      await migrate(session, before);
      return;
    } catch (error) {
      if (!(error instanceof StoreError) || error.kind !== 'busy' || performance.now() > deadline) throw error;
      await setTimeout(pauseMs);
    }
  }
}

async function migrate(session: Session, before: number): Promise<void> {
  try {
    await session.execute('begin isolation level read committed');
    await session.execute(`set local statement_timeout = ${migrationTimeoutMs}; set local lock_timeout = ${migrationTimeoutMs}`);
    await session.execute(`select pg_advisory_xact_lock(${lockId})`);
    await session.execute(`set local lock_timeout = ${tableWaitMs}`);
    // A process that waited for the lock finds the migrations done.
    const applied = await readApplied(session);
    checkVersion(applied, 'The database');
    const current = versionOf(applied);
    await session.execute('create table if not exists schema_migrations (version bigint not null primary key, name text not null)');
    for (const migration of migrations) {
      if (migration.version <= current) continue;
      for (const statement of [...migration.shared, ...migration.postgres]) await session.execute(compareBytes(statement));
      await session.query('insert into schema_migrations (version, name) values (?, ?)', [migration.version, recordedName(migration)]);
    }
    const pepper = randomBytes(32).toString('hex');
    await session.query("insert into settings (name, value) values ('pepper', ?) on conflict (name) do nothing", [pepper]);
    await session.execute('commit');
  } catch (error) {
    await session.execute('rollback').catch(() => undefined);
    if (!(error instanceof StoreError) || error.kind !== 'read-only') throw error;
    throw new StoreError(
      'read-only',
      `The database has schema version ${before}, this program needs ${latestVersion}, and the role of its URL may not change the schema: run \`weir migrate\` with the URL of the owner.`,
      { cause: error },
    );
  }
}

/**
 * Texts compare by their bytes, as in SQLite, whatever the language of the server: lists and cursors have the same
 * order everywhere.
 */
function compareBytes(statement: string): string {
  if (!/^(?:create|alter) table /.test(statement)) return statement;
  return statement.replaceAll(/^((?:\s*|alter table \w+ add column )\w+) text\b/gm, '$1 text collate "C"');
}

/** Empty for a database without our tables. */
async function readApplied(session: Session): Promise<readonly AppliedMigration[]> {
  const table = await session.query("select 1 as found from pg_class where oid = to_regclass('schema_migrations')", []);
  if (table.rows.length === 0) return [];
  const { rows } = await session.query('select version, name from schema_migrations', []);
  return rows.map((row) => ({ version: readInteger(row, 'version'), name: readText(row, 'name') }));
}

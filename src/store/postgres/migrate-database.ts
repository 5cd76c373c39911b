import { randomBytes } from 'node:crypto';
import { latestVersion, migrations } from '../migrations/migrations.ts';
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
    const version = await readSchemaVersion(session);
    checkVersion(version);
    if (version < latestVersion) await migrate(session, version);
  });
}

/** Two numbers that identify migrations among the server's advisory locks. */
const lockId = '1466263922, 1';
/** Creating a large index may take long. */
const migrationTimeoutMs = 110_000;

async function migrate(session: Session, before: number): Promise<void> {
  try {
    await session.execute('begin isolation level read committed');
    await session.execute(`set local statement_timeout = ${migrationTimeoutMs}; set local lock_timeout = ${migrationTimeoutMs}`);
    await session.execute(`select pg_advisory_xact_lock(${lockId})`);
    // A process that waited for the lock finds the migrations done.
    const current = await readSchemaVersion(session);
    checkVersion(current);
    await session.execute('create table if not exists schema_migrations (version bigint not null primary key, name text not null)');
    for (const migration of migrations) {
      if (migration.version <= current) continue;
      for (const statement of [...migration.shared, ...migration.postgres]) await session.execute(compareBytes(statement));
      await session.query('insert into schema_migrations (version, name) values (?, ?)', [migration.version, migration.name]);
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

/** 0 for a database without our tables. */
async function readSchemaVersion(session: Session): Promise<number> {
  const table = await session.query("select 1 as found from pg_class where oid = to_regclass('schema_migrations')", []);
  if (table.rows.length === 0) return 0;
  const { rows } = await session.query('select coalesce(max(version), 0) as version from schema_migrations', []);
  return rows[0] === undefined ? 0 : readInteger(rows[0], 'version');
}

function checkVersion(version: number): void {
  if (version <= latestVersion) return;
  throw new StoreError(
    'too-new',
    `The database has schema version ${version}, and this program knows versions up to ${latestVersion}. A newer Weir has used it: start that version.`,
  );
}

import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';

import { openPostgresStore } from '../../src/store/postgres/open-postgres-store.ts';
import { runCommand } from '../programs/run-command.ts';
import { type PostgresServer, skipPostgres, startPostgres } from '../support/start-postgres.ts';
import { removal } from '../support/start-weir.ts';
import { type Block, readPage } from './read-page.ts';
import { runPage } from './run-page.ts';
import { type ServedCommands, serveCommands } from './serve-commands.ts';

const suite = 'conformance/guides/guides-postgres.deep.test.ts';
const guides = join(import.meta.dirname, '../../docs/guide');

/** The blocks of a page that this suite runs. */
const blocksOf = (page: string): readonly Block[] =>
  readPage(readFileSync(join(guides, page), 'utf8')).filter(({ marker }) => marker?.value === suite);

/** As one that a page runs. */
const plain = ({ language, text, line }: Block): Block => ({ language, text, line });

describe('commands of guides that need a PostgreSQL server, as they stand', { skip: skipPostgres }, () => {
  const base = mkdtempSync(join(tmpdir(), 'weir-guides-'));
  let server: PostgresServer;
  let commands: ServedCommands;
  let socket = '';

  before(async () => {
    server = await startPostgres(['fsync=off']);
    socket = new URL(server.url()).searchParams.get('host') ?? '';
    await server.query('create role weir_owner login; create role postgres superuser login');
    await server.query('drop database weir', { database: 'postgres' });
    commands = await serveCommands(base);
  });
  after(async () => {
    await commands?.[Symbol.asyncDispose]();
    await server?.close();
    rmSync(base, removal);
  });

  /** Runs blocks in a directory of their own with the data directory of the same name. */
  async function run(name: string, blocks: readonly Block[], environment: Readonly<Record<string, string>> = {}): Promise<void> {
    const directory = join(base, name);
    const surroundings = {
      directory,
      replacements: [['db.example.com/weir', `localhost/weir?host=${encodeURIComponent(socket)}`]] as const,
      environment: {
        WEIR_DATA_DIR: join(directory, 'data'),
        WEIR_LOG_LEVEL: 'warn',
        WEIR_PROOF_KEY: 'ab'.repeat(32),
        // Where the server's own tools find it.
        PGHOST: socket,
        PGUSER: 'owner',
        ...environment,
      },
      prelude: commands.shellFunction,
    };
    assert.deepEqual(await runPage(blocks, surroundings), []);
  }

  const owner = (database: string): string => server.url(database, 'weir_owner');

  async function keyNames(database: string): Promise<readonly string[]> {
    const store = await openPostgresStore({ url: owner(database) });
    const keys = await store.listApiKeys();
    await store.close();
    return keys.map(({ name }) => name);
  }

  test('postgresql.md: a database, its schema and its roles are made, and made again', async () => {
    const [roles] = blocksOf('postgresql.md');
    assert.ok(roles);
    await run('roles', [plain(roles)]);
    const made = await server.query("select rolname from pg_roles where rolname like 'weir%' order by 1");
    assert.equal(made, 'weir_console\nweir_gateway\nweir_monitor\nweir_operator\nweir_owner');
    const again = { ...plain(roles), text: roles.text.replace(/^createdb .*\n/, '') };
    await run('roles again', [again]);
  });

  test('postgresql.md: everything moves from SQLite', async () => {
    const [, move] = blocksOf('postgresql.md');
    assert.ok(move);
    const data = join(base, 'move/data');
    mkdirSync(data, { recursive: true });
    const made = await runCommand(['keys', 'create', '--user', 'ada', '--name', 'moved'], { WEIR_DATA_DIR: data });
    assert.equal(made.code, 0, made.stderr);
    await server.createDatabase('moved');
    await server.query('alter database moved owner to weir_owner');
    await run('move', [plain(move)], { WEIR_OWNER_URL: owner('moved') });
    assert.ok((await keyNames('moved')).includes('moved'));
  });

  test('backup.md: a backup is made, and is restored after the loss of the database and of the data directory', async () => {
    const [backup, restore] = blocksOf('backup.md');
    assert.ok(backup && restore);
    const config = join(base, 'weir.yaml');
    writeFileSync(config, JSON.stringify({ database: { url: owner('weir') } }));
    const data = join(base, 'backup/data');
    mkdirSync(data, { recursive: true });
    const made = await runCommand(['keys', 'create', '--user', 'ada', '--name', 'kept'], { WEIR_DATA_DIR: data, WEIR_CONFIG: config });
    assert.equal(made.code, 0, made.stderr);
    await run('backup', [plain(backup)]);
    await server.query('drop database weir with (force)', { database: 'postgres' });
    await server.query('create database weir owner weir_owner', { database: 'postgres' });
    const copied = { ...plain(restore), text: `cp ${join(base, 'backup/monday.tar.gz')} .\n${restore.text}` };
    await run('restore', [copied], { WEIR_OWNER_URL: owner('weir') });
    assert.ok((await keyNames('weir')).includes('kept'));
  });

  test('move-in.md: the rows of a LiteLLM database become the file that the page shows, and the same accounts', async () => {
    const page = readPage(readFileSync(join(guides, 'move-in.md'), 'utf8'));
    const [read] = blocksOf('move-in.md');
    const shown = page.find(({ marker }) => marker?.value === 'accounts.json');
    const at = page.findIndex(({ text }) => text.startsWith('weir import litellm'));
    const config = page.find(({ marker }) => marker?.value === 'config.yaml');
    assert.ok(read && shown && config && at > 0);
    await server.createDatabase('litellm');
    const rows = JSON.parse(shown.text) as Readonly<Record<'teams' | 'users' | 'keys', readonly Readonly<Record<string, unknown>>[]>>;
    const tables = { teams: 'LiteLLM_TeamTable', users: 'LiteLLM_UserTable', keys: 'LiteLLM_VerificationToken' } as const;
    for (const [name, table] of Object.entries(tables) as readonly ['teams' | 'users' | 'keys', string][]) {
      const json = JSON.stringify(rows[name]).replaceAll("'", "''");
      const columns = Object.entries(rows[name][0] ?? {}).map(
        ([column, value]) => `"${column}" ${typeof value === 'number' ? 'double precision' : 'text'}`,
      );
      const into = `create table "${table}" (${columns.join(', ')}); insert into "${table}"`;
      await server.query(`${into} select * from json_populate_recordset(null::"${table}", '${json}')`, { database: 'litellm' });
    }
    await server.query('create table "LiteLLM_BudgetTable" (budget_id text)', { database: 'litellm' });
    const blocks = [config, plain(read), ...page.slice(at, at + 2)];
    await run('litellm', blocks, { DATABASE_URL: server.url('litellm') });
    const written = JSON.parse(readFileSync(join(base, 'litellm/accounts.json'), 'utf8')) as object;
    assert.deepEqual(written, { ...rows, budgets: null });
  });
});

import { existsSync } from 'node:fs';

import type { Command } from 'commander';

import { applyRoles } from '../../store/postgres/apply-roles.ts';
import { copyFromSqlite } from '../../store/postgres/copy-from-sqlite.ts';
import { migratePostgres } from '../../store/postgres/migrate-postgres.ts';
import { describeRoles, type RoleNames, type RoleOptions } from '../../store/postgres/roles.ts';
import { DataDirectoryLockedError, lockDataDirectory } from '../../store/sqlite/data-directory-lock.ts';
import { readDatabaseConfig } from '../config/find-config.ts';
import { type Environment, StartError } from '../environment.ts';
import { databasePath, openDatabase } from '../assembly/open-data-directory.ts';

export type UrlOption = { readonly url?: string | undefined };
export const urlText =
  'URL of the database with the role that owns its tables, if the configuration names another role; "-" reads it from WEIR_OWNER_URL';

/** Adds `weir migrate …`. */
export function addMigrateCommand(program: Command, environment: Environment): void {
  program
    .command('migrate')
    .description(
      'brings the schema up to date; `weir migrate sqlite postgres` copies everything from the data directory into an empty PostgreSQL database',
    )
    .argument('[from]', 'sqlite')
    .argument('[to]', 'postgres')
    .option('--url <url>', urlText)
    .action((from: string | undefined, to: string | undefined, options: UrlOption) => {
      if (from === undefined) return migrateSchema(environment, options);
      if (from === 'sqlite' && to === 'postgres') return copy(environment, options);
      throw new StartError('write `weir migrate`, or `weir migrate sqlite postgres`');
    });
}

/** Adds `weir database …`. */
export function addDatabaseCommands(program: Command, environment: Environment): void {
  const database = program.command('database').description('the PostgreSQL database that several gateways share');
  database
    .command('roles')
    .description(
      'prints SQL that creates roles with only the rights that the gateway, the monitor, the console and price publication need; run it in psql as the owner, or add --apply',
    )
    .option('--apply', 'runs the SQL instead, all or nothing')
    .option('--url <url>', `with --apply: ${urlText}`)
    .option('--gateway <role>', "the gateway's role", 'weir_gateway')
    .option('--monitor <role>', "the monitor's role", 'weir_monitor')
    .option('--operator <role>', 'the role of `weir prices publish`', 'weir_operator')
    .option('--console <role>', "the console's role, which is also that of `weir people`", 'weir_console')
    .option('--console-publishes', 'lets the console publish prices too')
    .option('--console-edits-config', 'lets the console publish layers of the configuration')
    .option('--console-archives', 'lets the console move old calls to archives')
    .action(async ({ apply, url, ...options }: RoleNames & RoleOptions & UrlOption & { readonly apply?: true }) => {
      if (url !== undefined && apply !== true) throw new StartError('--url is only for --apply');
      try {
        if (apply === true) await applyRolesHere(environment, { url }, options);
        else console.log(describeRoles(options, options));
      } catch (error) {
        throw error instanceof RangeError ? new StartError(error.message) : error;
      }
    });
}

async function applyRolesHere(environment: Environment, { url: option }: UrlOption, options: RoleNames & RoleOptions): Promise<void> {
  const url = findUrl(environment, { url: option });
  if (url === undefined) throw new StartError('name the PostgreSQL database: `database.url` in the configuration, or --url');
  await applyRoles(url, options, options);
  console.log(`the roles ${[options.gateway, options.monitor, options.operator, options.console].join(', ')} have their rights`);
}

export function findUrl(environment: Environment, { url }: UrlOption): string | undefined {
  return url === '-' ? environment.variable('WEIR_OWNER_URL') : (url ?? readDatabaseConfig(environment)?.url);
}

async function migrateSchema(environment: Environment, options: UrlOption): Promise<void> {
  const url = findUrl(environment, options);
  if (url === undefined) {
    // Opening the file of the data directory brings it up to date.
    await (await openDatabase(environment)).close();
    console.log('the schema is up to date');
    return;
  }
  console.log(`the schema is up to date: version ${await migratePostgres(url)}`);
}

async function copy(environment: Environment, options: UrlOption): Promise<void> {
  const url = findUrl(environment, options);
  if (url === undefined) throw new StartError('name the PostgreSQL database: `database.url` in the configuration, or --url');
  const path = databasePath(environment.dataDirectory);
  if (!existsSync(path)) throw new StartError(`there is no database ${path} to copy; WEIR_DATA_DIR names the data directory`);
  const lock = lockForCopy(environment.dataDirectory);
  try {
    const tables = await copyFromSqlite({ path, url, onTable: ({ name, rows }) => console.log(`${name}: ${rows}`) });
    const rows = tables.reduce((sum, table) => sum + table.rows, 0);
    console.log(
      `copied and compared: ${rows} rows of ${tables.length} tables. The journal stays in the data directory; the next start ships it to the new database.`,
    );
  } finally {
    lock.release();
  }
}

/** Without the lock, a running gateway would write to the data while it is copied. */
function lockForCopy(dataDirectory: string): ReturnType<typeof lockDataDirectory> {
  try {
    return lockDataDirectory(dataDirectory);
  } catch (error) {
    throw error instanceof DataDirectoryLockedError ? new StartError(error.message, { cause: error }) : error;
  }
}

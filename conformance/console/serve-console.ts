import { DatabaseSync } from 'node:sqlite';
import { join } from 'node:path';

import { openPostgresStore } from '../../src/store/postgres/open-postgres-store.ts';
import { openSqliteStore } from '../../src/store/sqlite/open-sqlite-store.ts';
import type { WorkerStore } from '../../src/store/worker/connect-store-worker.ts';
import { serveWeir } from '../support/serve-weir.ts';
import { type PostgresServer, startPostgres } from '../support/start-postgres.ts';
import type { ServedWeir } from '../support/start-weir.ts';

export type ServedConsole = ServedWeir & {
  /** The database server; undefined on SQLite. */
  readonly postgres: PostgresServer | undefined;
  /** Runs a statement of both engines in the database, without the triggers of a table, as an intruder would. */
  readonly tamper: (table: string, sql: string) => Promise<void>;
};

export type ServeConsoleOptions = {
  /** Text of weir.yaml, without `database`. */
  readonly config?: string;
  readonly store?: 'sqlite' | 'postgres';
  /** Members of `database` beside the address. */
  readonly database?: object;
  readonly environment?: Readonly<Record<string, string>>;
};

/** Suites of pages run on SQLite. With WEIR_TEST_STORE=postgres all of them run on PostgreSQL. */
const usualStore = process.env['WEIR_TEST_STORE'] === 'postgres' ? 'postgres' : 'sqlite';

/** A gateway and a console in the test's own process, on the engine of the store that is asked for. */
export async function serveConsole(options: ServeConsoleOptions = {}): Promise<ServedConsole> {
  const { config = '', store = usualStore, database = {}, environment } = options;
  const opened = new AsyncDisposableStack();
  try {
    const postgres = store === 'postgres' ? await startPostgres(['fsync=off']) : undefined;
    if (postgres !== undefined) opened.defer(() => postgres.close());
    const databaseLine = postgres === undefined ? '' : `database: ${JSON.stringify({ url: postgres.url(), ...database })}\n`;
    const weir = opened.use(
      await serveWeir({ environment: { WEIR_CONSOLE_PORT: '0', ...environment }, config: `${config}${databaseLine}`, monitor: false }),
    );
    return {
      ...weir,
      postgres,
      tamper: async (table, sql) => {
        if (postgres === undefined) tamperWithSqlite(join(weir.dataDirectory, 'weir.sqlite'), table, sql);
        else await postgres.query(`alter table "${table}" disable trigger user; ${sql}`);
      },
      [Symbol.asyncDispose]: () => opened.disposeAsync(),
    };
  } catch (error) {
    await opened.disposeAsync();
    throw error;
  }
}

/** The store of a served console, for what no test can make through a gateway: calls that were made long ago. */
export async function openStore({ postgres, dataDirectory }: ServedConsole): Promise<WorkerStore> {
  const callTimeoutMs = 60_000;
  return postgres === undefined
    ? await openSqliteStore({ path: join(dataDirectory, 'weir.sqlite'), callTimeoutMs })
    : await openPostgresStore({ url: postgres.url(), callTimeoutMs });
}

function tamperWithSqlite(path: string, table: string, sql: string): void {
  using database = new DatabaseSync(path);
  database.exec('pragma busy_timeout = 5000');
  const triggers = database.prepare("select name from sqlite_master where type = 'trigger' and tbl_name = ?").all(table);
  const drops = triggers.map(({ name }) => `drop trigger "${String(name)}";`).join(' ');
  database.exec(`begin immediate; ${drops} ${sql}; commit`);
}

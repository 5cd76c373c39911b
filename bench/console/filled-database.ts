import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { startPostgres } from '../../conformance/support/start-postgres.ts';
import { openPostgresStore } from '../../src/store/postgres/open-postgres-store.ts';
import { openDatabase } from '../../src/store/sqlite/open-database.ts';
import { openSqliteStore } from '../../src/store/sqlite/open-sqlite-store.ts';
import type { WorkerStore } from '../../src/store/worker/connect-store-worker.ts';

/** An empty database of the benchmark's own, in a temporary folder, with a shell beside the store. */
export type BenchDatabase = {
  readonly name: 'SQLite' | 'PostgreSQL';
  readonly dataDirectory: string;
  /** Text of weir.yaml. */
  readonly config: string;
  readonly openStore: () => Promise<WorkerStore>;
  readonly execute: (sql: string) => Promise<void>;
  /** The first column of each row as text. */
  readonly list: (sql: string) => Promise<readonly string[]>;
  /** Definitions of the indexes of a table that can be made again. */
  readonly indexesOf: (table: string) => Promise<readonly { readonly name: string; readonly sql: string }[]>;
  /** Deletes everything. */
  readonly end: () => Promise<void>;
};

const callTimeoutMs = 600_000;

/** @param folder an existing one, which is kept; otherwise a temporary one */
export function makeSqlite(folder?: string): BenchDatabase {
  const dataDirectory = folder ?? mkdtempSync(join(tmpdir(), 'weir-console-'));
  const path = join(dataDirectory, 'weir.sqlite');
  const use = <Result>(work: (shell: ReturnType<typeof openDatabase>) => Result): Result => {
    const shell = openDatabase(path, { readOnly: false, busyTimeoutMs: 60_000 });
    try {
      for (const setting of ['synchronous = off', 'cache_size = -400000', 'temp_store = memory']) shell.execute(`pragma ${setting}`);
      return work(shell);
    } finally {
      shell.close();
    }
  };
  return {
    name: 'SQLite',
    dataDirectory,
    config: '{}',
    openStore: () => openSqliteStore({ path, callTimeoutMs }),
    execute: async (sql) => use((shell) => shell.execute(sql)),
    list: async (sql) => use((shell) => shell.rows(sql).map((row) => String(row[0]))),
    indexesOf: async (table) =>
      use((shell) =>
        shell
          .rows(`select name, sql from sqlite_schema where type = 'index' and tbl_name = '${table}' and sql is not null`)
          .map(([name, sql]) => ({ name: String(name), sql: String(sql) })),
      ),
    end: async () => {
      if (folder === undefined) rmSync(dataDirectory, { recursive: true, force: true });
    },
  };
}

/** Settings of a server that has the memory of a small machine. */
const serverSettings = [
  'shared_buffers=2GB',
  'maintenance_work_mem=512MB',
  'max_wal_size=8GB',
  'synchronous_commit=on',
  'effective_cache_size=4GB',
];

export async function makePostgres(): Promise<BenchDatabase> {
  const server = await startPostgres(serverSettings);
  const dataDirectory = mkdtempSync(join(tmpdir(), 'weir-console-'));
  const list: BenchDatabase['list'] = async (sql) => (await server.query(sql)).split('\n').filter((line) => line !== '');
  return {
    name: 'PostgreSQL',
    dataDirectory,
    config: JSON.stringify({ database: { url: server.url() } }),
    openStore: () => openPostgresStore({ url: server.url(), callTimeoutMs }),
    execute: async (sql) => void (await server.query(`set synchronous_commit = off; ${sql}`)),
    list,
    indexesOf: async (table) => {
      const sql = `select indexname || '~' || indexdef from pg_indexes where schemaname = current_schema() and tablename = '${table}'
        and indexdef not like 'CREATE UNIQUE%_pkey%'`;
      return (await list(sql)).map((line) => ({ name: line.slice(0, line.indexOf('~')), sql: line.slice(line.indexOf('~') + 1) }));
    },
    end: async () => {
      await server.close();
      rmSync(dataDirectory, { recursive: true, force: true });
    },
  };
}

import { existsSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { startPostgres } from '../../conformance/support/start-postgres.ts';
import { openPostgresStore } from '../../src/store/postgres/open-postgres-store.ts';
import { openDatabase } from '../../src/store/sqlite/open-database.ts';
import { openSqliteStore } from '../../src/store/sqlite/open-sqlite-store.ts';
import { cpuSecondsOf } from '../cpu-seconds.ts';
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
  /** After everything was filled in: leaves the database as one that has served for long. */
  readonly settle: () => Promise<void>;
  /** Processor time of the database's own processes so far, of all their threads. */
  readonly serverCpuSeconds: () => number;
  /** Closes it, and deletes everything unless it is in a folder that is kept. */
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
    settle: async () => use((shell) => shell.execute('pragma wal_checkpoint(truncate)')),
    serverCpuSeconds: () => 0,
    end: async () => {
      if (folder === undefined) rmSync(dataDirectory, { recursive: true, force: true });
    },
  };
}

/** Settings of a server that has the memory of a small machine. */
const memorySettings = ['shared_buffers=2GB', 'maintenance_work_mem=512MB', 'max_wal_size=8GB', 'effective_cache_size=4GB'];
const servingSettings = [...memorySettings, 'synchronous_commit=on'];
/** Ten million calls are written once: a log of them, and waiting for the disk, take most of the time. */
const fillingSettings = [
  ...memorySettings,
  'fsync=off',
  'full_page_writes=off',
  'wal_level=minimal',
  'max_wal_senders=0',
  'autovacuum=off',
  'checkpoint_timeout=1h',
];

/** @param folder an existing one, which is kept; otherwise a temporary one */
export async function makePostgres(folder?: string): Promise<BenchDatabase> {
  const parent = folder ?? mkdtempSync(join(tmpdir(), 'weir-console-'));
  const [serverFolder, dataDirectory] = [join(parent, 'server'), join(parent, 'weir')];
  const isFilled = existsSync(dataDirectory);
  for (const each of [serverFolder, dataDirectory]) mkdirSync(each, { recursive: true });
  let server = await startPostgres(isFilled ? servingSettings : fillingSettings, serverFolder);
  const list: BenchDatabase['list'] = async (sql) => (await server.query(sql)).split('\n').filter((line) => line !== '');
  const execute = async (sql: string): Promise<void> => void (await server.query(sql));
  return {
    name: 'PostgreSQL',
    dataDirectory,
    // The address is that of the folder, and so the same after a new start.
    config: JSON.stringify({ database: { url: server.url() } }),
    openStore: () => openPostgresStore({ url: server.url(), callTimeoutMs }),
    execute,
    list,
    indexesOf: async (table) => {
      const sql = `select indexname || '~' || indexdef from pg_indexes where schemaname = current_schema() and tablename = '${table}'
        and indexdef not like 'CREATE UNIQUE%_pkey%'`;
      return (await list(sql)).map((line) => ({ name: line.slice(0, line.indexOf('~')), sql: line.slice(line.indexOf('~') + 1) }));
    },
    settle: async () => {
      await execute('vacuum analyze');
      await server.close();
      server = await startPostgres(servingSettings, serverFolder);
    },
    serverCpuSeconds: () => server.processIds().reduce((sum, pid) => sum + cpuSecondsOf(pid, true), 0),
    end: async () => {
      await server.close();
      if (folder === undefined) rmSync(parent, { recursive: true, force: true });
    },
  };
}

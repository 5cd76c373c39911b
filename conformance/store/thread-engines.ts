import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { openPostgresStore } from '../../src/store/postgres/open-postgres-store.ts';
import type { ReadDatabase } from '../../src/store/reading/open-reading.ts';
import { openSqliteStore } from '../../src/store/sqlite/open-sqlite-store.ts';
import type { Store } from '../../src/store/store.ts';
import { skipPostgres, startPostgres } from '../support/start-postgres.ts';

/** An empty database, and what a thread needs to open it. */
export type ThreadEngine = {
  readonly store: Store;
  readonly database: ReadDatabase;
  /** Of other files. */
  readonly folder: string;
  readonly close: () => Promise<void>;
};

async function openSqlite(): Promise<ThreadEngine> {
  const folder = mkdtempSync(join(tmpdir(), 'weir-threads-'));
  const path = join(folder, 'weir.db');
  const store = await openSqliteStore({ path });
  return {
    store,
    database: { path, busyTimeoutMs: 5000 },
    folder,
    close: async () => {
      await store.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

const patience = { connectTimeoutMs: 60_000, statementTimeoutMs: 60_000, lockTimeoutMs: 60_000 };

async function openPostgres(): Promise<ThreadEngine> {
  const folder = mkdtempSync(join(tmpdir(), 'weir-threads-'));
  const server = await startPostgres(['fsync=off']);
  const url = await server.createDatabase('threads');
  const store = await openPostgresStore({ url, ...patience, callTimeoutMs: 120_000 });
  return {
    store,
    database: { url, ...patience, poolMax: 4, readOnly: true, mayBeAway: false, applicationName: 'threads' },
    folder,
    close: async () => {
      await store.close();
      await server.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** Both engines, for suites of threads that open a database by themselves. */
export const threadEngines = [
  { name: 'on SQLite', skip: false, open: openSqlite },
  { name: 'on PostgreSQL', skip: skipPostgres, open: openPostgres },
] as const;

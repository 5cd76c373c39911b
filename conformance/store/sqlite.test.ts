import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openDatabase } from '../../src/store/sqlite/open-database.ts';
import { openSqliteSnapshots } from '../../src/store/sqlite/sqlite-snapshots.ts';
import { openSqliteStore } from '../../src/store/sqlite/open-sqlite-store.ts';
import type { Store } from '../../src/store/store.ts';
import { runStoreSuite } from './store-suite.ts';
import type { StoreUnderTest } from './store-under-test.ts';

async function open(): Promise<StoreUnderTest> {
  const directory = await mkdtemp(join(tmpdir(), 'weir-store-'));
  const path = join(directory, 'weir.db');
  const others: Store[] = [];
  let store: Store = await openSqliteStore({ path });
  return {
    store: () => store,
    reopen: async () => {
      await store.close();
      store = await openSqliteStore({ path });
    },
    openAnother: async () => {
      const another = await openSqliteStore({ path });
      others.push(another);
      return another;
    },
    openSnapshots: () => openSqliteSnapshots({ path, busyTimeoutMs: 30_000 }),
    tamper: async (sql) => {
      const database = openDatabase(path, { readOnly: false, busyTimeoutMs: 30_000 });
      try {
        database.execute(sql);
      } finally {
        database.close();
      }
    },
    close: async () => {
      await Promise.all([store, ...others].map((opened) => opened.close()));
      await rm(directory, { recursive: true, force: true });
    },
  };
}

runStoreSuite('sqlite', open);

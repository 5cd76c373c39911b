import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';

import type { Database } from '../../src/store/operations/database.ts';
import { openPool } from '../../src/store/postgres/open-pool.ts';
import { openPostgresStore } from '../../src/store/postgres/open-postgres-store.ts';
import { openPostgresSnapshots } from '../../src/store/postgres/postgres-snapshots.ts';
import { createPostgresDatabase } from '../../src/store/postgres/postgres-database.ts';
import { CollisionError } from '../../src/store/postgres/postgres-error.ts';
import type { SnapshotSource } from '../../src/store/reading/answer-reader.ts';
import type { Store } from '../../src/store/store.ts';
import { eventually } from '../support/http.ts';
import { isDeep } from '../support/scale.ts';
import { type PostgresServer, skipPostgres, startPostgres } from '../support/start-postgres.ts';
import { runStoreSuite } from './store-suite.ts';
import type { StoreUnderTest } from './store-under-test.ts';

const crowdOptions = {
  connectTimeoutMs: 60_000,
  statementTimeoutMs: 60_000,
  lockTimeoutMs: 60_000,
  readOnly: false,
  mayBeAway: false,
  applicationName: 'crowd',
};

describe('on a real server', { skip: skipPostgres }, () => {
  let server: Promise<PostgresServer> | undefined;
  let databases = 0;
  before(async () => {
    // A test's data need not survive the machine.
    server = startPostgres(['fsync=off']);
    const { createDatabase } = await server;
    // Creating the schema takes longer than copying it.
    await (await openPostgresStore({ url: await createDatabase('schema') })).close();
  });
  after(async () => (await server)?.close());

  async function open(): Promise<StoreUnderTest> {
    if (server === undefined) throw new Error('The server was not started.');
    const { createDatabase, query } = await server;
    const database = `suite_${(databases += 1)}`;
    const url = await createDatabase(database, 'schema');
    const others: Store[] = [];
    const snapshots: SnapshotSource[] = [];
    // A transaction that waits for a lock, or a connection, while the machine stalls must not time out.
    const patience = { connectTimeoutMs: 60_000, lockTimeoutMs: 60_000, statementTimeoutMs: 60_000, callTimeoutMs: 120_000 };
    const openOne = (): Promise<Store> => openPostgresStore({ url, poolMax: 4, ...patience });
    let store = await openOne();
    return {
      store: () => store,
      reopen: async () => {
        await store.close();
        store = await openOne();
      },
      openAnother: async () => {
        const another = await openOne();
        others.push(another);
        return another;
      },
      openSnapshots: () => {
        const source = openPostgresSnapshots({ ...crowdOptions, url, poolMax: 4 });
        snapshots.push(source);
        return source;
      },
      tamper: async (sql) => {
        await query(sql, { database });
      },
      close: async () => {
        await Promise.all([store, ...others, ...snapshots].map((opened) => opened.close()));
      },
    };
  }

  runStoreSuite('postgres', open, isDeep() ? 'others' : 'written');

  test('a database of a newer program is used unless a migration is a contract; then it is refused, and no connection remains that would keep the refused program alive', async () => {
    if (server === undefined) throw new Error('The server was not started.');
    const { createDatabase, query } = await server;
    const url = await createDatabase('newer', 'schema');
    await query("insert into schema_migrations (version, name) values (998, 'a-column-more')", { database: 'newer' });
    const store = await openPostgresStore({ url });
    assert.deepEqual(await store.listUsers(), []);
    await store.close();
    await query("insert into schema_migrations (version, name) values (999, 'contract:a-column-less')", { database: 'newer' });
    await assert.rejects(openPostgresStore({ url }), { kind: 'too-new', message: /schema version 999.*999: a-column-less/ });
    await eventually(
      () => query("select count(*) from pg_stat_activity where datname = 'newer'"),
      (connections) => connections === '0',
    );
  });

  test('transactions that all conflict with each other are all executed, none twice', async () => {
    if (server === undefined) throw new Error('The server was not started.');
    const { createDatabase, query } = await server;
    const url = await createDatabase('crowd');
    await query('create table numbers (value bigint not null primary key)', { database: 'crowd' });
    const pools = [1, 2, 3].map(() => openPool({ ...crowdOptions, url, poolMax: 10 }));
    const databases = pools.map(createPostgresDatabase);
    const addNext = (database: Database): Promise<number> =>
      database.transact(async (transaction) => {
        const row = await transaction.first('select count(*) as count from numbers');
        return await transaction.run(
          'insert into numbers (value) select coalesce(max(value), 0) + 1 from numbers where ? >= 0',
          row?.['count'] ?? 0n,
        );
      });
    const added = await Promise.all(databases.flatMap((database) => Array.from({ length: 60 }, () => addNext(database))));
    assert.equal(added.length, 180);
    assert.equal(await query('select count(*) || max(value)::text from numbers', { database: 'crowd' }), '180180');
    await Promise.all(pools.map((pool) => pool.close()));
  });

  test('a transaction that waits too long gets an error, and its connection stays usable', async () => {
    if (server === undefined) throw new Error('The server was not started.');
    const url = await (await server).createDatabase('turns');
    const [first, second] = [
      openPool({ ...crowdOptions, url, poolMax: 1 }),
      openPool({ ...crowdOptions, url, poolMax: 1, lockTimeoutMs: 100 }),
    ];
    const [begun, mayEnd] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    let attempts = 0;
    const alone = createPostgresDatabase(first).transact(async () => {
      attempts += 1;
      if (attempts < 3) throw new CollisionError('busy', 'conflicted with another transaction');
      begun.resolve();
      await mayEnd.promise;
    });
    await begun.promise;
    const connection = (): Promise<unknown> => second.use(({ query }) => query('select pg_backend_pid() as pid', []));
    const before = await connection();
    const database = createPostgresDatabase(second);
    const one = (): Promise<unknown> => database.transact((transaction) => transaction.first('select 1 as one'));
    await assert.rejects(one(), { kind: 'busy' });
    mayEnd.resolve();
    await alone;
    assert.deepEqual(await one(), { one: 1n });
    assert.deepEqual(await connection(), before);
    await Promise.all([first.close(), second.close()]);
  });
});

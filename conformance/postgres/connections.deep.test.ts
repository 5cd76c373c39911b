import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';

import { readBigInt } from '../../src/store/operations/read-column.ts';
import { openPool, type ConnectionPool } from '../../src/store/postgres/open-pool.ts';
import { createPostgresDatabase } from '../../src/store/postgres/postgres-database.ts';
import { StoreError } from '../../src/store/store-error.ts';
import { eventually, patienceMs } from '../support/http.ts';
import { type PostgresServer, skipPostgres, startPostgres } from '../support/start-postgres.ts';

describe('transactions and connections of PostgreSQL', { skip: skipPostgres }, () => {
  let server: PostgresServer | undefined;
  let pool: ConnectionPool | undefined;
  const postgres = (): PostgresServer => server ?? assert.fail();
  const openDatabase = () => createPostgresDatabase(pool ?? assert.fail());
  /** A pool without time-outs for a stalled machine, except those of a test. */
  const open = (url: string, limits: Partial<Parameters<typeof openPool>[0]> = {}): ConnectionPool =>
    openPool({
      url,
      poolMax: 8,
      connectTimeoutMs: patienceMs,
      statementTimeoutMs: patienceMs,
      lockTimeoutMs: patienceMs,
      readOnly: false,
      mayBeAway: false,
      applicationName: 'test',
      ...limits,
    });
  before(async () => {
    server = await startPostgres(['fsync=off', 'deadlock_timeout=50ms']);
    await server.query('create table numbers (name text primary key, value bigint not null check (value < 1000))');
    await server.query("insert into numbers values ('a', 0), ('b', 0)");
    pool = open(server.url());
  });
  after(async () => {
    await pool?.close();
    await server?.close();
  });

  test('transactions that read and then write are retried until none is lost', async () => {
    const database = openDatabase();
    const add = (): Promise<unknown> =>
      database.transact(async (transaction) => {
        const row = await transaction.first("select value from numbers where name = 'a'");
        await transaction.run("update numbers set value = ? where name = 'a'", readBigInt(row ?? {}, 'value') + 1n);
      });
    await Promise.all(Array.from({ length: 8 }, add));
    assert.equal((await database.first("select value from numbers where name = 'a'"))?.['value'], 8n);
  });

  test('two transactions in a deadlock both succeed', async () => {
    const database = openDatabase();
    const addTo = (names: readonly string[]): Promise<void> =>
      database.transact(async (transaction) => {
        for (const name of names) {
          await transaction.run('update numbers set value = value + 100 where name = ?', name);
          await transaction.first('select cast(pg_sleep(0.02) as text)');
        }
      }, 'read-committed');
    await Promise.all([addTo(['a', 'b']), addTo(['b', 'a'])]);
    assert.equal((await database.first("select value from numbers where name = 'b'"))?.['value'], 200n);
  });

  test('a part that fails is rolled back alone, and an unreported failure stores nothing', async () => {
    const database = openDatabase();
    const tooMuch = "update numbers set value = 5000 where name = 'a'";
    await database.transact(async (transaction) => {
      await transaction.run("insert into numbers values ('c', 1)");
      await assert.rejects(
        transaction.transact(async (part) => {
          await part.run("insert into numbers values ('d', 1)");
          await part.run(tooMuch);
        }),
        { kind: 'constraint' },
      );
    });
    assert.deepEqual(
      (await database.all("select name from numbers where name in ('c', 'd')")).map((row) => row['name']),
      ['c'],
    );
    const swallowing = database.transact(async (transaction) => {
      await transaction.run("insert into numbers values ('e', 1)");
      await transaction.run(tooMuch).catch(() => 0);
    });
    await assert.rejects(swallowing, { kind: 'internal' });
    assert.equal(await database.first("select 1 from numbers where name = 'e'"), undefined);
  });

  test('a connection that is lost between two statements fails its transaction and nothing else', async () => {
    const database = openDatabase();
    const broken = database.transact(async (transaction) => {
      await transaction.run("insert into numbers values ('f', 1)");
      await postgres().query("select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'test'");
      // The end of the connection arrives while it is idle.
      await eventually(
        () => postgres().query("select count(*) from pg_stat_activity where application_name = 'test'"),
        (connections) => connections === '0',
      );
      await new Promise((resolve) => setTimeout(resolve, 50));
      await transaction.run("insert into numbers values ('g', 1)");
    });
    await assert.rejects(broken, { kind: 'unavailable' });
    assert.equal((await database.all("select 1 from numbers where name in ('f', 'g')")).length, 0);
  });

  test('errors have kinds, and their messages contain no values', async (context) => {
    const openImpatient = (limits: Partial<Parameters<typeof openPool>[0]>) => {
      const opened = open(postgres().url(), limits);
      context.after(() => opened.close());
      return createPostgresDatabase(opened);
    };
    const kindOf = async (sql: string, database = openDatabase()): Promise<string> => {
      const error: unknown = await database.all(sql).catch((reason: unknown) => reason);
      assert.ok(error instanceof StoreError, sql);
      assert.doesNotMatch(error.message, /secret/);
      return error.kind;
    };
    assert.equal(await kindOf("select cast('secret' as bigint)"), 'constraint');
    assert.equal(await kindOf("insert into numbers values ('a', 1)"), 'constraint');
    assert.equal(await kindOf('select nothing from nowhere'), 'internal');
    assert.equal(await kindOf('select cast(pg_sleep(100) as text)', openImpatient({ statementTimeoutMs: 1000 })), 'unavailable');
    const database = openImpatient({ lockTimeoutMs: 300 });
    await database.transact(async (transaction) => {
      await transaction.first("select value from numbers where name = 'a' for update");
      assert.equal(await kindOf("update numbers set value = 1 where name = 'a'", database), 'busy');
    }, 'read-committed');
    await assert.rejects(
      open('postgresql://nobody@127.0.0.1:1/none').use((session) => session.execute('select 1')),
      { kind: 'unavailable' },
    );
    for (const url of ['mysql://a@b/c', 'secret', 'postgresql://a:secret@b/c?sslmode=maybe']) {
      assert.throws(
        () => open(url),
        (error) => error instanceof StoreError && error.kind === 'unavailable' && !error.message.includes('secret'),
      );
    }
  });

  test('values are read as they were written, to the last digit', async () => {
    const database = openDatabase();
    const row = await database.first(
      'select cast(? as bigint) as large, cast(? as bigint) as power, cast(? as double precision) as real, cast(? as bytea) as bytes, cast(? as text) as text, sum(cast(? as bigint)) as sum',
      9_223_372_036_854_775_807n,
      2 ** 62,
      0.1 + 0.2,
      Uint8Array.of(0, 92, 255),
      '?\'"\\ 模型 🐟',
      2n ** 62n,
    );
    const { large, power, real, bytes, text, sum } = row ?? {};
    assert.deepEqual(
      [large, power, real, bytes, text, sum],
      [2n ** 63n - 1n, 2n ** 62n, 0.1 + 0.2, Uint8Array.of(0, 92, 255), '?\'"\\ 模型 🐟', 2n ** 62n],
    );
  });
});

import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';

import fc from 'fast-check';

import { migrations } from '../../migrations/migrations.ts';
import { openDatabase } from '../../sqlite/open-database.ts';
import { openStoreDatabase } from '../../sqlite/open-store-database.ts';
import { createSqliteDatabase } from '../../sqlite/sqlite-database.ts';
import { callsInSpans, CallSpans, refInSpans } from './call-spans.ts';

function openFolder() {
  const folder = mkdtempSync(join(tmpdir(), 'weir-spans-'));
  const connection = openStoreDatabase({ path: join(folder, 'weir.db'), readOnly: false, busyTimeoutMs: 0 });
  return {
    connection,
    [Symbol.dispose]: () => {
      connection.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

const startMs = Date.UTC(2026, 0, 5);

test('each call is in exactly one span of each of its names, whatever the order of steps', async () => {
  const call = fc.record({ afterMs: fc.nat(40_000), refs: fc.uniqueArray(fc.integer({ min: 1, max: 4 }), { minLength: 1, maxLength: 4 }) });
  const step = fc.record({ added: fc.array(call, { maxLength: 400 }), old: fc.array(call, { maxLength: 40 }) });
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 4 }), async (steps) => {
      using folder = openFolder();
      const [number, calls] = [{ next: 2000, back: 1999 }, new Map<number, { atMs: number; refs: readonly number[] }>()];
      for (const { added, old } of steps) {
        const spans = new CallSpans();
        const add = (at: number, { afterMs, refs }: { afterMs: number; refs: readonly number[] }): void => {
          calls.set(at, { atMs: startMs + afterMs, refs });
          spans.add(at, startMs + afterMs, refs);
        };
        for (const each of added) add(number.next++, each);
        for (const each of old) add(number.back--, each);
        await spans.write(createSqliteDatabase(folder.connection));
      }
      for (const [at, { atMs, refs }] of calls) {
        const sql = 'select ref from call_spans where slot = ? and first_number <= ? and last_number >= ? order by ref';
        const found = folder.connection.all(sql, [Math.trunc(atMs / 10_000), at, at]).map(({ ref }) => Number(ref));
        for (const ref of refs) assert.equal(found.filter((each) => each === ref).length, 1);
      }
    }),
    { numRuns: 20 },
  );
});

test('facts that a follower of an earlier version writes have their spans, also those without a name', () => {
  using folder = openFolder();
  const sql = `insert into call_facts values (?, ?, null, ?, ?, 7, 8, 0, 0, 0, 0, 0, 0, 200, 1, 0, 10, 20, 0, 0, 5, null, 1000, 0, 1000, 10, 20, 0, 0, 0)`;
  folder.connection.run(sql, [1, 'call-1', startMs, 6]);
  folder.connection.run(sql, [2, 'call-2', startMs, 0]);
  folder.connection.execute('update call_follow set writes_spans = 1');
  folder.connection.run(sql, [3, 'call-3', startMs, 6]);
  const spans = folder.connection.all('select ref, first_number, last_number from call_spans where slot = ? order by 1, 2', [
    startMs / 10_000,
  ]);
  assert.deepEqual(
    spans.map((row) => Object.values(row).map(Number)),
    [
      [-4, 1, 1],
      [-4, 2, 2],
      [-1, 2, 2],
      [6, 1, 1],
      [7, 1, 1],
      [7, 2, 2],
      [8, 1, 1],
      [8, 2, 2],
    ],
  );
});

test('calls that have facts before the upgrade have spans after it, each in one of each name', () => {
  const folder = mkdtempSync(join(tmpdir(), 'weir-spans-'));
  const path = join(folder, 'weir.db');
  try {
    const before = openDatabase(path, { readOnly: false, busyTimeoutMs: 0 });
    before.execute('create table schema_migrations (version bigint not null primary key, name text not null)');
    for (const { version, name, shared, sqlite } of migrations.filter((migration) => migration.version < 48)) {
      for (const statement of [...shared, ...sqlite]) before.execute(statement);
      before.run('insert into schema_migrations (version, name) values (?, ?)', [version, name]);
    }
    before.run(
      `with recursive numbers (n) as (select 1 union all select n + 1 from numbers where n < 3000)
        insert into call_facts select n, 'call-' || n, null, ? + n * 37 - n % 7 * 5000, n % 5, 10 + n % 3, 20, 0, n % 2 * 30, 0, 0, 0, 0, 200, 1, 0,
          10, 20, 0, 0, 5, null, 1000, 0, 1000, 10, 20, 0, 0, 0 from numbers`,
      [startMs],
    );
    before.close();
    const after = openStoreDatabase({ path, readOnly: false, busyTimeoutMs: 0 });
    const listed = (sql: string, ...parameters: readonly number[]) => after.all(sql, parameters).map(({ number }) => Number(number));
    const names = [0, 1, 2, 3, 4].map((number) => ['user_ref', number] as const);
    for (const [column, number] of [...names, ['key_ref', 11], ['model_ref', 20], ['upstream_ref', 0], ['upstream_ref', 30]] as const) {
      const sql = `select facts.number from ${callsInSpans('facts')} and ${column} = ? order by 1`;
      const expected = listed(`select number from call_facts where ${column} = ? order by 1`, number);
      assert.ok(expected.length > 0);
      assert.deepEqual(listed(sql, refInSpans(column, number), number), expected);
    }
    after.close();
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});

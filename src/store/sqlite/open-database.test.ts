import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import type { TestContext } from 'node:test';
import { openDatabase } from './open-database.ts';

function createPath(context: TestContext): string {
  const directory = mkdtempSync(join(tmpdir(), 'weir-database-'));
  context.after(() => rmSync(directory, { recursive: true, force: true }));
  return join(directory, 'test.db');
}

const writable = { readOnly: false, busyTimeoutMs: 0 };

test('integers are read as they were written, with all 64 bits', (context) => {
  const database = openDatabase(createPath(context), writable);
  context.after(() => database.close());
  database.execute('create table numbers (value bigint)');
  for (const value of [2n ** 63n - 1n, -(2n ** 63n), 0n]) {
    assert.equal(database.run('insert into numbers (value) values (?)', [value]), 1);
    assert.equal(database.first('select value from numbers where value = ?', [value])?.value, value);
  }
  assert.equal(database.all('select value from numbers').length, 3);
});

test('a transaction that throws changes nothing, and the connection stays usable', (context) => {
  const database = openDatabase(createPath(context), writable);
  context.after(() => database.close());
  database.execute('create table names (name text unique)');
  const failure = new Error('stop');
  const insertAndThrow = (): never => {
    database.run("insert into names (name) values ('a')");
    throw failure;
  };
  assert.throws(() => database.transact(insertAndThrow), failure);
  assert.equal(
    database.transact(() => database.run("insert into names (name) values ('a')")),
    1,
  );
  assert.throws(() => database.run("insert into names (name) values ('a')"), { name: 'StoreError', kind: 'constraint' });
});

test('an error of SQLite has a kind: busy, read-only, disk or corrupt', (context) => {
  const path = createPath(context);
  const database = openDatabase(path, writable);
  context.after(() => database.close());
  database.execute('create table names (name text); begin immediate');
  const other = openDatabase(path, writable);
  assert.throws(() => other.execute('begin immediate'), { kind: 'busy' });
  other.close();
  database.execute('rollback');
  const reader = openDatabase(path, { readOnly: true, busyTimeoutMs: 0 });
  assert.throws(() => reader.run("insert into names (name) values ('a')"), { kind: 'read-only' });
  reader.close();
  assert.throws(() => openDatabase(join(path, 'below a file'), writable), { kind: 'disk' });
  const notADatabase = `${path}.txt`;
  writeFileSync(notADatabase, 'this is a text of some length and surely not a database at all'.repeat(10));
  const wrong = openDatabase(notADatabase, writable);
  assert.throws(() => wrong.first('select 1 from sqlite_schema'), { kind: 'corrupt' });
  wrong.close();
});

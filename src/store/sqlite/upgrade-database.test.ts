import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';

import { migrations } from '../migrations/migrations.ts';
import { openDatabase } from './open-database.ts';
import { openSqliteStore } from './open-sqlite-store.ts';

test('a database of the first version is brought up to date with everything in it, and its keys are lenient and unlimited', async (context) => {
  const directory = mkdtempSync(join(tmpdir(), 'weir-upgrade-'));
  context.after(() => rmSync(directory, { recursive: true, force: true }));
  const path = join(directory, 'weir.db');
  const [first] = migrations;
  assert.ok(first !== undefined);
  const database = openDatabase(path, { readOnly: false, busyTimeoutMs: 0 });
  database.execute('create table schema_migrations (version bigint not null primary key, name text not null)');
  for (const statement of [...first.shared, ...first.sqlite]) database.execute(statement);
  database.execute(`
    insert into schema_migrations (version, name) values (1, 'initial-schema');
    insert into settings (name, value) values ('pepper', 'the old pepper');
    insert into users (id, name, created_at_ms) values ('user-1', 'alice', 1);
    insert into api_keys (id, user_id, name, hash, hint, created_at_ms) values ('key-1', 'user-1', 'ci', 'hash-1', 'abcd', 2)`);
  database.close();

  const store = await openSqliteStore({ path });
  context.after(() => store.close());
  const key = { id: 'key-1', userId: 'user-1', userName: 'alice', name: 'ci', hash: 'hash-1', hint: 'abcd', createdAtMs: 2 };
  assert.deepEqual(await store.listApiKeys(), [{ ...key, strictTranslation: false }]);
  assert.equal(await store.pepper(), 'the old pepper');
  await store.putProofs([{ lookup: 'a', sealed: 'AAAA', expiresAtMs: 10 }]);
  assert.equal(await store.sweepProofs({ nowMs: 10, bytesMax: 0, rowsMax: 10 }), 1);
});

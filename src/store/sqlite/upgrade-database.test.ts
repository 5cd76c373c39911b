import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';

import type { CallEntry } from '../../billing/ledger/call-entry.ts';
import { encodeEntry } from '../../billing/ledger/entry-json.ts';
import { migrations } from '../migrations/migrations.ts';
import { openDatabase } from './open-database.ts';
import { openSqliteStore } from './open-sqlite-store.ts';
import { changeAt } from '../../audit/testing/test-change.ts';

test('a database of the first version is migrated with all its rows, and its keys are lenient and unlimited', async (context) => {
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
  await store.changeApiKeyLimits('key-1', { concurrency: 2 }, changeAt());
  assert.deepEqual((await store.listApiKeys())[0]?.limits, { concurrency: 2 });
  await store.putProofs([{ lookup: 'a', sealed: 'AAAA', expiresAtMs: 10 }]);
  assert.equal(await store.sweepProofs({ nowMs: 10, bytesMax: 0, rowsMax: 10 }), 1);
});

test('a database from before video tasks keeps its rows, gets the new tables, and is migrated by a reader too', async (context) => {
  const directory = mkdtempSync(join(tmpdir(), 'weir-upgrade-'));
  context.after(() => rmSync(directory, { recursive: true, force: true }));
  const path = join(directory, 'weir.db');
  const database = openDatabase(path, { readOnly: false, busyTimeoutMs: 0 });
  database.execute('create table schema_migrations (version bigint not null primary key, name text not null)');
  for (const { version, name, shared, sqlite } of migrations) {
    if (version > 6) break;
    for (const statement of [...shared, ...sqlite]) database.execute(statement);
    database.run('insert into schema_migrations (version, name) values (?, ?)', [version, name]);
  }
  database.execute(`
    insert into settings (name, value) values ('pepper', 'the old pepper');
    insert into files (id, user_name, filename, purpose, media_type, bytes, created_at_ms, is_finished)
      values ('file-1', 'alice', 'a.txt', 'assistants', 'text/plain', 3, 1, 1)`);
  database.close();

  const monitor = await openSqliteStore({ path, readOnly: true });
  context.after(() => monitor.close());
  assert.deepEqual(await monitor.countTasks(0), { open: 0, alerted: 0, latenessMs: 0 });
  assert.deepEqual(await monitor.claimTasks({ owner: 'me', nowMs: 1, leaseUntilMs: 2, limit: 1 }), []);
  await assert.rejects(monitor.putCallbackSecrets({ userName: 'alice', current: new Uint8Array(1) }), { kind: 'read-only' });
  const store = await openSqliteStore({ path });
  context.after(() => store.close());
  assert.equal(await store.pepper(), 'the old pepper');
  assert.equal((await store.findFile({ userName: 'alice', fileId: 'file-1', nowMs: 2 }))?.filename, 'a.txt');
  await store.putCallbackSecrets({ userName: 'alice', current: Uint8Array.from([1]) });
  assert.deepEqual(await monitor.findCallbackSecrets('alice'), { userName: 'alice', current: Uint8Array.from([1]) });
});

test('limits that cannot be read are an error, and never count as no limits', async (context) => {
  const directory = mkdtempSync(join(tmpdir(), 'weir-limits-'));
  context.after(() => rmSync(directory, { recursive: true, force: true }));
  const path = join(directory, 'weir.db');
  const store = await openSqliteStore({ path });
  context.after(() => store.close());
  const user = await store.ensureUser({ id: 'user-1', name: 'alice', createdAtMs: 1 }, changeAt());
  const key = {
    id: 'key-1',
    userId: user.id,
    userName: 'alice',
    name: 'ci',
    hash: 'h',
    hint: 'x',
    createdAtMs: 2,
    strictTranslation: false,
  };
  await store.insertApiKey(key, changeAt());
  const database = openDatabase(path, { readOnly: false, busyTimeoutMs: 1000 });
  context.after(() => database.close());
  for (const written of ['{"concurrency":0}', '{"addresses":["10.0.0.0/99"]}', '{"unheardOf":1}', '{}x', '[]', '1']) {
    database.run('update api_keys set limits = ?', [written]);
    await assert.rejects(store.findApiKeyByHash('h'), { name: 'StoreError', kind: 'corrupt' }, written);
    await assert.rejects(store.listApiKeys(), { kind: 'corrupt' }, written);
  }
});

const callAt = (callId: string, acceptedAtMs: number): CallEntry => ({
  callId,
  acceptedAtMs,
  userName: 'alice',
  keyId: 'key-1',
  keyName: 'ci',
  dialect: 'openai-chat',
  requestedModel: 'm',
  upstream: 'openai',
  vendor: 'openai',
  upstreamModel: 'm',
  stream: false,
  inputCharacters: 40,
  priceVersion: '1',
  end: 'finished',
  upstreamStatus: 200,
  usage: { inputTokens: 10, outputTokens: 5 },
  estimated: false,
  durationMs: 120,
  charge: { amountNanoUsd: 1500n, lines: [], priceId: 'm' },
});

test('calls of a database from before shared texts are read beside later ones, and a shared text cannot be changed', async (context) => {
  const directory = mkdtempSync(join(tmpdir(), 'weir-upgrade-'));
  context.after(() => rmSync(directory, { recursive: true, force: true }));
  const path = join(directory, 'weir.db');
  const database = openDatabase(path, { readOnly: false, busyTimeoutMs: 0 });
  database.execute('create table schema_migrations (version bigint not null primary key, name text not null)');
  for (const { version, name, shared, sqlite } of migrations) {
    if (version > 17) break;
    for (const statement of [...shared, ...sqlite]) database.execute(statement);
    database.run('insert into schema_migrations (version, name) values (?, ?)', [version, name]);
  }
  const old = callAt('old', 1);
  database.run(
    `insert into calls (call_id, accepted_at_ms, user_name, key_name, requested_model, amount_nano_usd, billed, prompt_tokens,
      completion_tokens, cache_tokens, cache_creation_tokens, use_time_ms, entry, key_id, held_pots)
      values ('old', 1, 'alice', 'ci', 'm', 1500, 1, 10, 5, 0, 0, 120, ?, 'key-1', 0)`,
    [encodeEntry(old)],
  );
  database.close();

  const store = await openSqliteStore({ path });
  context.after(() => store.close());
  const later = [2, 3, 4, 5].map((acceptedAtMs) => callAt(`new-${acceptedAtMs}`, acceptedAtMs));
  await store.appendEntries(later);
  assert.deepEqual(await store.listEntries({ limit: 10 }), [old, ...later].toReversed());
  // Facts about calls come in steps: first those that were booked since the upgrade.
  const listed = async () =>
    (await store.scanCalls({ filter: {}, scope: 'all', limit: 10, workMs: 1000 })).calls.map(({ callId }) => callId);
  assert.deepEqual(await store.followProgress(), { waiting: 4, old: 1, completeUntilMs: 2 });
  assert.equal(await store.followCalls(4, 10), 'more');
  assert.deepEqual(await store.followProgress(), { waiting: 0, old: 1 });
  assert.deepEqual(await listed(), ['new-5', 'new-4', 'new-3', 'new-2']);
  assert.equal(await store.followCalls(4, 10), 'more');
  assert.deepEqual(await listed(), ['new-5', 'new-4', 'new-3', 'new-2', 'old']);
  assert.equal(await store.followCalls(4, 10), 'done');
  const reader = openDatabase(path, { readOnly: false, busyTimeoutMs: 1000 });
  context.after(() => reader.close());
  const counts = reader.first('select count(shape) as shaped, count(distinct shape) as shapes, count(*) as calls from calls');
  assert.deepEqual({ ...counts }, { shaped: 3n, shapes: 1n, calls: 5n });
  for (const statement of [
    "update call_shapes set template = ''",
    'delete from call_shapes',
    'insert or replace into call_shapes select id, 1 from call_shapes',
  ])
    assert.throws(() => reader.execute(statement), /append-only/, statement);
});

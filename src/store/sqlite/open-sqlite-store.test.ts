import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import type { TestContext } from 'node:test';
import type { CallEntry } from '../../billing/ledger/call-entry.ts';
import { readEntries } from '../../billing/ledger/read-entries.ts';
import { openDatabase } from './open-database.ts';
import { openSqliteStore } from './open-sqlite-store.ts';
import { openStoreDatabase } from './open-store-database.ts';
import { changeAt } from '../../audit/testing/test-change.ts';

function createPath(context: TestContext): string {
  const directory = mkdtempSync(join(tmpdir(), 'weir-sqlite-'));
  context.after(() => rmSync(directory, { recursive: true, force: true }));
  return join(directory, 'data', 'weir.db');
}

function createEntry(callId: string): CallEntry {
  return {
    callId,
    acceptedAtMs: 1_767_571_200_000,
    userName: 'alice',
    keyId: 'key-1',
    keyName: 'ci',
    dialect: 'openai-chat',
    requestedModel: 'm-flash',
    upstream: 'openai',
    vendor: 'openai',
    upstreamModel: 'm-flash',
    stream: false,
    inputCharacters: 40,
    priceVersion: '1',
    end: 'finished',
    upstreamStatus: 200,
    usage: { inputTokens: 10 },
    estimated: false,
    durationMs: 1,
    charge: { amountNanoUsd: 1n, lines: [] },
  };
}

/**
 * Other processes create the database at the same moment, and a slow machine may stall while one of them has locked it.
 */
const busyTimeoutMs = 30_000;

const dayQuery = {
  buckets: [{ startSeconds: 1_767_571_200, endSeconds: 1_767_657_600 }],
  startSeconds: 1_767_571_200,
  endSeconds: 1_767_657_600,
  rowsMax: 10,
};

test('a new database is readable by its owner only, uses a write-ahead log and syncs every commit', async (context) => {
  const path = createPath(context);
  const store = await openSqliteStore({ path });
  await store.appendEntries([createEntry('a')]);
  assert.equal(statSync(join(path, '..')).mode & 0o777, 0o700);
  for (const file of readdirSync(join(path, '..'))) assert.equal(statSync(join(path, '..', file)).mode & 0o777, 0o600, file);
  await store.close();
  assert.deepEqual(readdirSync(join(path, '..')), ['weir.db'], 'a clean end leaves one file');
  const database = openStoreDatabase({ path, readOnly: false, busyTimeoutMs: 0 });
  assert.equal(database.first('pragma journal_mode')?.journal_mode, 'wal');
  assert.equal(database.first('pragma synchronous')?.synchronous, 2n, 'full');
  assert.equal(database.first('pragma foreign_keys')?.foreign_keys, 1n);
  database.close();
});

test('six stores that open a new database at the same moment agree on one schema and one pepper', async (context) => {
  const path = createPath(context);
  const stores = await Promise.all(
    Array.from({ length: 6 }, (_, index) => openSqliteStore({ path, busyTimeoutMs, readOnly: index === 5 })),
  );
  const peppers = await Promise.all(stores.map((store) => store.pepper()));
  assert.equal(new Set(peppers).size, 1);
  await Promise.all(stores.map((store) => store.close()));
});

test('several processes that open a new database at the same moment agree too', async (context) => {
  const path = createPath(context);
  const program = `
    import { openSqliteStore } from ${JSON.stringify(new URL('./open-sqlite-store.ts', import.meta.url).href)};
    const store = await openSqliteStore({ path: ${JSON.stringify(path)}, busyTimeoutMs: ${busyTimeoutMs} });
    process.stdout.write(await store.pepper());
    await store.close();`;
  const outputs = await Promise.all(
    Array.from({ length: 3 }, async () => {
      const child = spawn(process.execPath, ['--input-type=module', '-e', program], { stdio: ['ignore', 'pipe', 'inherit'] });
      let output = '';
      child.stdout.setEncoding('utf8').on('data', (text: string) => (output += text));
      await once(child, 'close');
      return output;
    }),
  );
  assert.match(outputs[0] ?? '', /^[0-9a-f]{64}$/);
  assert.equal(new Set(outputs).size, 1);
});

test('a database of a newer program is used, unless one of its migrations is a contract: then the refusal names it', async (context) => {
  const path = createPath(context);
  await (await openSqliteStore({ path })).close();
  const database = openDatabase(path, { readOnly: false, busyTimeoutMs: 0 });
  database.run("insert into schema_migrations (version, name) values (98, 'a-column-more')");
  for (const readOnly of [false, true]) {
    const store = await openSqliteStore({ path, readOnly });
    assert.deepEqual(await store.listUsers(), []);
    await store.close();
  }
  database.run("insert into schema_migrations (version, name) values (99, 'contract:a-column-less')");
  database.close();
  for (const readOnly of [false, true]) {
    const message = /schema version 99, and this program knows versions up to \d+\..*\(99: a-column-less\)/s;
    await assert.rejects(openSqliteStore({ path, readOnly }), { kind: 'too-new', message });
  }
});

test('a file that is not a database is refused as corrupt, a folder that cannot be created as disk', async (context) => {
  const path = createPath(context);
  await (await openSqliteStore({ path })).close();
  writeFileSync(path, 'no database, but long enough to be looked at as one'.repeat(20));
  await assert.rejects(openSqliteStore({ path }), { kind: 'corrupt' });
  await assert.rejects(openSqliteStore({ path: join(path, 'below', 'weir.db') }), { kind: 'disk' });
});

test('a reader creates a missing database, refuses to write, and sees what a writer commits', async (context) => {
  const path = createPath(context);
  const reader = await openSqliteStore({ path, readOnly: true });
  context.after(() => reader.close());
  assert.deepEqual(await reader.queryStatistics(dayQuery), []);
  await assert.rejects(reader.appendEntries([createEntry('a')]), { kind: 'read-only' });
  await assert.rejects(reader.ensureUser({ id: 'u', name: 'u', createdAtMs: 1 }, changeAt()), { kind: 'read-only' });
  const writer = await openSqliteStore({ path });
  context.after(() => writer.close());
  const writing = Array.from({ length: 20 }, (_, index) => writer.appendEntries([createEntry(`call-${index}`)]));
  const reading = Array.from({ length: 20 }, () => reader.queryStatistics(dayQuery));
  await Promise.all([...writing, ...reading]);
  assert.equal((await reader.queryStatistics(dayQuery))[0]?.callCount, 20);
});

test(
  'a reader that may not write the file opens it beside a writer',
  { skip: process.getuid?.() === 0 && 'root may write everything' },
  async (context) => {
    const path = createPath(context);
    const writer = await openSqliteStore({ path });
    await writer.appendEntries([createEntry('a')]);
    chmodSync(path, 0o400);
    const reader = await openSqliteStore({ path, readOnly: true });
    assert.equal((await reader.queryStatistics(dayQuery))[0]?.callCount, 1);
    await reader.close();
    await writer.close();
  },
);

test('closing lets earlier calls finish, refuses later ones, and may be called twice', async (context) => {
  const store = await openSqliteStore({ path: createPath(context) });
  const appended = store.appendEntries([createEntry('a')]);
  const closed = store.close();
  await assert.rejects(store.keysVersion(), { kind: 'unavailable' });
  assert.equal(await appended, 1);
  await closed;
  await store.close();
  assert.equal(store.failureReason(), undefined);
});

test('kill -9 during writing: every confirmed batch is complete, with its statistics', async (context) => {
  const path = createPath(context);
  const program = `
    import { openSqliteStore } from ${JSON.stringify(new URL('./open-sqlite-store.ts', import.meta.url).href)};
    const store = await openSqliteStore({ path: ${JSON.stringify(path)} });
    const entry = ${JSON.stringify({ ...createEntry('x'), charge: undefined })};
    for (let batch = 0; ; batch += 1) {
      await store.appendEntries(Array.from({ length: 10 }, (_, index) =>
        ({ ...entry, callId: batch + '-' + index, charge: { amountNanoUsd: 1n, lines: [] } })));
      process.stdout.write('.');
    }`;
  const child = spawn(process.execPath, ['--input-type=module', '-e', program], { stdio: ['ignore', 'pipe', 'inherit'] });
  let confirmed = 0;
  child.stdout.on('data', (data: Buffer) => {
    confirmed += data.length;
    if (confirmed > 20) child.kill('SIGKILL');
  });
  await once(child, 'close');
  const store = await openSqliteStore({ path });
  context.after(() => store.close());
  // The process writes until it is killed, which may take a while, so the number of entries is unknown.
  const entries = await Array.fromAsync(readEntries(store, { startMs: 0, endMs: Number.MAX_SAFE_INTEGER }));
  assert.ok(confirmed > 20, 'it was killed while it wrote');
  assert.equal(entries.length % 10, 0);
  assert.ok(entries.length >= confirmed * 10);
  const [row] = await store.queryStatistics(dayQuery);
  assert.deepEqual([row?.callCount, row?.promptTokens, row?.amountNanoUsd], [entries.length, entries.length * 10, BigInt(entries.length)]);
});

test('the parts of a call add to its sums and do not count as calls, in whole and in cut buckets', async (context) => {
  const store = await openSqliteStore({ path: createPath(context) });
  context.after(() => store.close());
  const call = createEntry('a');
  const { upstreamStatus: _status, ...tools } = {
    ...createEntry('a.1.tools'),
    parentCallId: 'a',
    toolUsage: { webSearches: 1 },
    usage: {},
  };
  await store.appendEntries([call, tools, { ...createEntry('a.2'), parentCallId: 'a' }]);
  const cut = { ...dayQuery, startSeconds: dayQuery.startSeconds - 1, endSeconds: dayQuery.startSeconds + 1 };
  for (const query of [dayQuery, { ...cut, buckets: [{ startSeconds: cut.startSeconds - 59, endSeconds: dayQuery.endSeconds }] }]) {
    const [row, ...others] = await store.queryStatistics(query);
    assert.deepEqual([row?.callCount, row?.promptTokens, row?.amountNanoUsd, others.length], [1, 20, 3n, 0]);
  }
});

test('a database has a unique id that does not change', async (context) => {
  const [path, otherPath] = [createPath(context), createPath(context)];
  const idOf = async (file: string): Promise<string> => {
    const store = await openSqliteStore({ path: file });
    const id = await store.databaseId();
    await store.close();
    return id;
  };
  const id = await idOf(path);
  assert.match(id, /^[0-9a-f]{16}$/);
  assert.equal(await idOf(path), id);
  assert.notEqual(await idOf(otherPath), id);
});

test('append-only: no spelling of an insert replaces a booked call, on any connection of ours', async (context) => {
  const path = createPath(context);
  const store = await openSqliteStore({ path });
  context.after(() => store.close());
  await store.appendEntries([createEntry('a')]);
  const connection = openDatabase(path, { readOnly: false, busyTimeoutMs: 1000 });
  context.after(() => connection.close());
  const [columns, values] = ['accepted_at_ms, user_name, key_name, requested_model, amount_nano_usd, billed', "1, 'x', 'x', 'x', 0, 0"];
  const counts = 'prompt_tokens, completion_tokens, cache_tokens, cache_creation_tokens, use_time_ms';
  const row = `into calls (call_id, ${columns}, ${counts}, entry) values ('a', ${values}, 0, 0, 0, 0, 0, '{}')`;
  assert.throws(() => connection.execute(`insert or replace ${row}`), /append-only/);
  assert.throws(() => connection.execute(`replace ${row}`), /append-only/);
  assert.throws(() => connection.execute(`insert ${row}`), { kind: 'constraint' });
  assert.deepEqual(await store.findEntry('a'), createEntry('a'));
});

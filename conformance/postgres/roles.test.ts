import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, test } from 'node:test';

import { openPostgresStore } from '../../src/store/postgres/open-postgres-store.ts';
import { describeRoles, tablesWithRights } from '../../src/store/postgres/roles.ts';
import { changeAt } from '../../src/audit/testing/test-change.ts';
import { runCommand } from '../programs/run-command.ts';
import { createEntry } from '../store/call-entries.ts';
import { skipPostgres } from '../support/start-postgres.ts';
import { useSharedParts } from './shared-weir.ts';

const published = `insert into price_books (number, digest, label, scope, effective_from, published_at_ms, actor, book)
  values (?, 'd', 'l', 'whole', '2026-12-01', 1, 'ann', '{}')`;

describe('roles of PostgreSQL', { skip: skipPostgres }, () => {
  const parts = useSharedParts(['fsync=off']);

  test('every table has a line', async () => {
    const tables = await parts().server.query("select tablename from pg_tables where schemaname = 'public' order by 1");
    assert.deepEqual(tablesWithRights.toSorted(), tables.split('\n').toSorted());
  });

  test('the server itself refuses actions that a role does not permit', async () => {
    const { server } = parts();
    const store = await openPostgresStore({ url: server.url('weir', 'weir_gateway') });
    await store.appendEntries([createEntry('kept', { userName: 'ann' })]);
    await store.close();
    const refused: readonly (readonly [role: string, statement: string])[] = [
      ['weir_gateway', 'update calls set amount_nano_usd = 0'],
      ['weir_gateway', 'delete from calls'],
      ['weir_gateway', 'truncate calls'],
      ['weir_gateway', 'alter table calls disable trigger all'],
      ['weir_gateway', 'drop table calls'],
      ['weir_gateway', 'delete from usage_minutes'],
      ['weir_gateway', "update settings set value = 'x'"],
      ['weir_gateway', 'delete from api_keys'],
      ['weir_gateway', 'create table mine (id text)'],
      ['weir_gateway', published.replace('?', '2')],
      ['weir_gateway', 'update price_versions set basis = null'],
      ['weir_gateway', 'select hash from admin_tokens'],
      ['weir_gateway', "insert into people (id, name, name_key, role, created_at_ms, revision) values ('x', 'x', 'x', 'operator', 1, 1)"],
      ['weir_monitor', 'select password_hash from people'],
      ['weir_monitor', 'select token_hash from console_sessions'],
      ['weir_console', 'update calls set amount_nano_usd = 0'],
      ['weir_console', 'delete from calls'],
      ['weir_console', "insert into calls (call_id) values ('x')"],
      ['weir_console', 'update usage_hours set call_count = 0'],
      ['weir_console', published.replace('?', '2')],
      ['weir_console', "update settings set value = 'x'"],
      ['weir_console', 'select sealed from reasoning_proofs'],
      ['weir_console', 'delete from audit_log'],
      ['weir_console', 'create table mine (id text)'],
      ['weir_operator', 'update price_books set book = null'],
      ['weir_operator', 'delete from price_books'],
      ['weir_operator', "insert into price_versions (version, basis, recorded_at_ms) values ('v', '{}', 1)"],
      ['weir_operator', 'select user_name from calls'],
      ['weir_monitor', published.replace('?', '2')],
      ['weir_monitor', "insert into calls (call_id) values ('x')"],
      ['weir_monitor', 'update calls set amount_nano_usd = 0'],
      ['weir_monitor', 'delete from calls'],
      ['weir_monitor', 'update usage_hours set call_count = 0'],
      ['weir_monitor', 'select hash from api_keys'],
      ['weir_monitor', 'select body from conversation_items'],
      ['weir_monitor', 'select sealed from reasoning_proofs'],
      ['weir_monitor', "insert into billing_tokens (id, name, hash, created_at_ms) values ('x', 'x', 'x', 1)"],
      ['weir_monitor', 'create table mine (id text)'],
    ];
    await server.query(published.replace('?', '1'), { role: 'weir_operator' });
    for (const [role, statement] of refused)
      await assert.rejects(server.query(statement, { role }), /permission denied|must be owner/, `${role}: ${statement}`);
    for (const statement of ['update calls set amount_nano_usd = 0', 'delete from calls', 'truncate calls', 'delete from price_books'])
      await assert.rejects(server.query(statement), /append-only/, `the owner: ${statement}`);
    assert.equal(await server.query('select count(*), min(user_name) from calls', { role: 'weir_monitor' }), '1|ann');
  });

  test('the role of the console administers people, keys and credits, and deletes what users stored', async () => {
    const { server } = parts();
    const store = await openPostgresStore({ url: server.url('weir', 'weir_console') });
    const person = { id: 'per_1', name: 'ann', role: 'operator', users: ['ann'], createdAtMs: 1 } as const;
    assert.equal(typeof (await store.insertPerson(person, changeAt(1))), 'object');
    const session = { id: 'ses_1', way: 'link', createdAtMs: 1, signedInAtMs: 1, tokenSinceMs: 1, usedAtMs: 1, expiresAtMs: 9 } as const;
    const opening = { session, tokenHash: 'h', by: { personId: 'per_1' }, idleBeforeMs: 0 };
    assert.ok(await store.openSession(opening, { via: 'api', atMs: 1 }));
    assert.ok(await store.findSession('h'));
    assert.deepEqual(await store.listAdminTokens(), []);
    const user = await store.ensureUser({ id: 'console-user', name: 'console user', createdAtMs: 1 }, changeAt(1));
    const key = { userId: user.id, userName: user.name, name: 'ci', hint: 'abcd', createdAtMs: 2, strictTranslation: false };
    assert.equal(await store.insertApiKey({ id: 'console-key', hash: 'console-hash', ...key }, changeAt(2)), true);
    assert.equal(await store.deleteApiKey('console-key', changeAt(3)), true);
    const posting = {
      transactionId: 'top_up:console',
      kind: 'top_up',
      owner: { level: 'user', userName: user.name },
      amountNanoUsd: 5n,
      against: 'deposits',
    } as const;
    const posted = await store.postTransaction({ ...posting, postedAtMs: 3, actor: 'person:ann' }, changeAt(3));
    assert.equal(posted.status, 'posted');
    assert.equal(await store.releaseCreditNode({ nodeId: 'nobody' }), 0);
    const repeated = { keyId: 'person:ann', key: 'one', requestId: 'adm_1' };
    const claim = { ...repeated, bodyHash: 'h', owner: 'console', createdAtMs: 1, expiresAtMs: 9, leaseUntilMs: 9 };
    assert.equal(await store.claimIdempotencyKey(claim), undefined, 'a request with an Idempotency-Key');
    const last = [{ sequence: 0, sealed: new Uint8Array([1]) }];
    assert.ok(await store.closeIdempotencyKey({ ...repeated, kept: { head: new Uint8Array([1]), chunks: 1 }, last }));
    await store.deleteFile({ userName: user.name, fileId: 'file_none' });
    assert.equal((await store.listEntries({ limit: 1 })).length, 1);
    await store.close();
  });

  test('the statements can be repeated, and accept other role names', async () => {
    const { server } = parts();
    await server.query(
      describeRoles({ gateway: 'weir_gateway', monitor: 'weir_monitor', operator: 'weir_operator', console: 'weir_console' }),
    );
    await server.query(describeRoles({ gateway: 'Front-door', monitor: 'reader', operator: 'Prices-desk', console: 'Desk' }));
    assert.equal(await server.query('select count(*) from calls', { role: 'Front-door' }), '1');
    const publishes = (): Promise<string> => server.query("select has_table_privilege('Desk', 'price_books', 'insert')");
    assert.equal(await publishes(), 'f');
    await server.query(
      describeRoles({ gateway: 'Front-door', monitor: 'reader', operator: 'Prices-desk', console: 'Desk' }, { consolePublishes: true }),
    );
    assert.equal(await publishes(), 't');
    const edits = (role: string): Promise<string> => server.query(`select has_table_privilege('${role}', 'config_layers', 'insert')`);
    assert.equal(await edits('Desk'), 'f');
    const names = { gateway: 'Front-door', monitor: 'reader', operator: 'Prices-desk', console: 'Desk' };
    await server.query(describeRoles(names, { consoleEditsConfig: true }));
    assert.deepEqual([await edits('Desk'), await edits('Front-door'), await publishes()], ['t', 'f', 'f']);
    for (const name of ['x; drop table calls', 'a"b', '', 'x'.repeat(64)])
      assert.throws(() => describeRoles({ gateway: name, monitor: 'm', operator: 'o', console: 'c' }), RangeError);
  });

  test('a command gives the rights as an owner who lacks the right to create roles, if the roles exist', async () => {
    const { server } = parts();
    await server.createDatabase('owned');
    await server.query('create role small_owner login; alter database owned owner to small_owner');
    await server.query('alter schema public owner to small_owner', { database: 'owned' });
    // Secrets of containers are files.
    const folder = mkdtempSync(join(tmpdir(), 'weir-owner-'));
    writeFileSync(join(folder, 'url'), `${server.url('owned', 'small_owner')}\n`);
    const environment = { WEIR_OWNER_URL_FILE: join(folder, 'url'), WEIR_DATA_DIR: folder };
    const weir = (...words: readonly string[]) => runCommand(words, environment);
    try {
      assert.equal((await weir('migrate', '--url', '-')).code, 0);
      const roles = ['database', 'roles', '--apply', '--url', '-'];
      for (const turn of [1, 2]) assert.match((await weir(...roles)).stdout, /weir_gateway, .* have their rights/, `turn ${turn}`);
      assert.equal(await server.query('select count(*) from calls', { database: 'owned', role: 'weir_monitor' }), '0');
      const missing = await weir(...roles, '--gateway', 'nobody_yet', '--console-publishes');
      assert.deepEqual([missing.code, /permission denied to create role/.test(missing.stderr)], [1, true], missing.stderr);
      const publishes = "select has_table_privilege('weir_console', 'price_books', 'insert')";
      assert.equal(await server.query(publishes, { database: 'owned' }), 'f', 'nothing of it counts');
      assert.equal((await weir('database', 'roles', '--url', '-')).code, 1);
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  });

  test('a role without rights on the schema gets the name of the role that has them', async () => {
    const { server } = parts();
    await server.createDatabase('empty');
    await assert.rejects(openPostgresStore({ url: server.url('empty', 'weir_gateway') }), { kind: 'read-only', message: /weir migrate/ });
  });
});

import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';

import { openSqliteStore } from '../../src/store/sqlite/open-sqlite-store.ts';
import { runCommand } from '../programs/run-command.ts';

const directory = mkdtempSync(join(tmpdir(), 'weir-people-commands-'));
after(() => rmSync(directory, { recursive: true, force: true }));

const weir = (words: string, environment: Readonly<Record<string, string>> = {}) =>
  runCommand(words.split(' '), { WEIR_DATA_DIR: directory, WEIR_CONSOLE_PORT: '8082', ...environment });

async function succeed(words: string, environment: Readonly<Record<string, string>> = {}) {
  const finished = await weir(words, environment);
  assert.equal(finished.code, 0, `${words}: ${finished.stderr}`);
  return finished;
}

const people = async (): Promise<readonly Record<string, unknown>[]> => JSON.parse((await succeed('people list --json')).stdout);

test('a link makes the first operator, and further ones are for the same person', async () => {
  const first = await succeed('console link');
  assert.match(first.stdout, /^http:\/\/127\.0\.0\.1:8082\/#in=[0-9A-Za-z]{43}\n$/);
  assert.match(first.stderr, /^signs operator \(operator\) in, once, until 20/);
  await succeed('console link --person operator', { WEIR_HOST: '0.0.0.0', WEIR_CONSOLE_PORT: '9000' });
  assert.deepEqual(
    (await people()).map(({ name, role }) => [name, role]),
    [['operator', 'operator']],
  );
  for (const [port, reason] of [
    ['off', 'is off'],
    ['0', 'is 0'],
  ] as const)
    assert.match((await weir('console link', { WEIR_CONSOLE_PORT: port })).stderr, new RegExp(`WEIR_CONSOLE_PORT ${reason}`));
  const unknown = await weir('console link --person nobody');
  assert.deepEqual([unknown.code, unknown.stdout], [1, '']);
  assert.match(unknown.stderr, /there is no person "nobody"/);
});

test('a person is made, changed, signed out and deleted, and each step is in the audit log', async () => {
  await succeed('keys create --user dan --name ci');
  const { stdout } = await succeed('people create ann --role owner --user dan --email ann@example.com');
  const id = stdout.trim();
  assert.match(id, /^per_[0-9a-z]{26}$/);
  assert.match((await succeed('people list')).stdout, /ann +owner +dan +link +\d{4}-.* +active/);
  await succeed('people update ANN --role finance --email none --user none --name anna');
  await succeed(`people update ${id} --disable`);
  const disabled = await weir('console link --person anna');
  assert.match(disabled.stderr, /anna is disabled; weir people update per_/);
  await succeed('people update anna --enable');
  assert.match((await succeed('people sign-out anna')).stderr, /ended 0 sessions of anna/);
  const [, person] = await people();
  assert.deepEqual([person?.['name'], person?.['role'], person?.['users'], person?.['email']], ['anna', 'finance', [], null]);
  assert.match((await succeed('people delete anna')).stderr, /deleted anna: finance/);
  const rows: readonly { readonly action: string }[] = JSON.parse((await succeed(`audit list --subject person:${id} --json`)).stdout);
  assert.deepEqual(
    rows.map(({ action }) => action),
    ['people.delete', 'people.enable', 'people.disable', 'people.update', 'people.create'],
  );
});

test('mistakes are one sentence without a stack', async () => {
  for (const [words, reason] of [
    ['people create x --role king', '--role must be one of viewer, owner, finance, operator; got "king"'],
    ['people create x --role owner --user nobody', 'There is no user "nobody"'],
    ['people create operator --role viewer', 'already a person named operator'],
    ['people update operator', 'nothing to change'],
    ['people update operator --disable --enable', 'not both'],
    ['people update operator --disable', 'This is the last operator'],
    ['people delete operator', 'This is the last operator'],
    ['people delete nobody', 'weir people list shows them'],
    ['admin-tokens create --name x --permission fly', '"fly" is not a permission; these are: usage:read'],
    ['admin-tokens create --name x --expires 1s', 'at least a minute'],
    ['admin-tokens rotate nobody', 'weir admin-tokens list shows them'],
    ['admin-tokens delete nobody', 'weir admin-tokens list shows them'],
  ] as const) {
    const { code, stderr } = await weir(words);
    assert.equal(code, 1, words);
    assert.ok(stderr.includes(reason) && !stderr.includes('    at '), `${words}: ${stderr}`);
  }
});

test('an admin token is made, listed without its secret, rotated and deleted', async () => {
  const created = (await succeed('admin-tokens create --name ci --permission usage:read calls:read --user dan --expires 1h')).stdout.trim();
  assert.match(created, /^at-weir-[0-9A-Za-z]{10}_[0-9A-Za-z]{43}_[0-9A-Za-z]{6}$/);
  const listed = (await succeed('admin-tokens list --json')).stdout;
  assert.ok(!listed.includes(created.slice(19, 62)));
  const [token] = JSON.parse(listed);
  assert.deepEqual(
    [token.name, token.permissions, token.users, token.ends_in],
    ['ci', ['usage:read', 'calls:read'], ['dan'], created.slice(-4)],
  );
  assert.equal(Date.parse(token.expires_at) - Date.parse(token.created_at), 3_600_000);
  const rotated = await succeed('admin-tokens rotate ci --overlap 1h');
  assert.notEqual(rotated.stdout.trim(), created);
  assert.match(rotated.stderr, /the old secret of ci is valid until 20/);
  assert.match((await succeed('admin-tokens list')).stdout, /ci +\w{4} +2 +dan +20.* +- +20/);
  await succeed(`admin-tokens delete ${token.id}`);
  assert.equal((await succeed('admin-tokens list --json')).stdout.trim(), '[]');
});

test('names of people cannot write to the terminal', async () => {
  const store = await openSqliteStore({ path: join(directory, 'weir.sqlite') });
  const change = { actor: 'cli:test', via: 'cli', atMs: 1 } as const;
  await store.insertPerson({ id: 'per_evil', name: 'e\u001b[2Jvil', role: 'viewer', users: [], createdAtMs: 1 }, change);
  await store.close();
  assert.ok(!(await succeed('people list')).stdout.includes('\u001b'));
});

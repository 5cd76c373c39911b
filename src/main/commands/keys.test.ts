import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import type { TestContext } from 'node:test';

import { Command } from 'commander';

import { readEnvironment } from '../environment.ts';
import { addKeyCommands } from './keys.ts';
import { addUserCommands } from './users.ts';

/** Runs commands on a new data directory. Each returns its output. */
function setUp(context: TestContext) {
  const directory = mkdtempSync(join(tmpdir(), 'weir-keys-'));
  context.after(() => rmSync(directory, { recursive: true, force: true }));
  const output = context.mock.method(console, 'log', () => {});
  const notices = context.mock.method(console, 'error', () => {});
  return async (...words: readonly string[]): Promise<{ readonly printed: string; readonly notice: string }> => {
    output.mock.resetCalls();
    notices.mock.resetCalls();
    const program = new Command().exitOverride().configureOutput({ writeErr: () => {} });
    addKeyCommands(program, readEnvironment({ WEIR_DATA_DIR: directory }));
    addUserCommands(program, readEnvironment({ WEIR_DATA_DIR: directory }));
    await program.parseAsync(words[0] === 'users' ? words : ['keys', ...words], { from: 'user' });
    const join = (calls: readonly { readonly arguments: readonly unknown[] }[]): string =>
      calls.map((call) => call.arguments.join(' ')).join('\n');
    return { printed: join(output.mock.calls), notice: join(notices.mock.calls) };
  };
}

test('strict translation is off by default, is shown in the list, and can be updated', async (context) => {
  const keys = setUp(context);
  await keys('create', '--user', 'alice', '--name', 'plain');
  const { printed: secret } = await keys('create', '--user', 'alice', '--name', 'ci', '--strict');
  assert.match(secret, /^sk-weir-\S+$/);

  const strictOf = async (): Promise<Record<string, boolean>> => {
    const listed = JSON.parse((await keys('list', '--json')).printed) as { name: string; strict_translation: boolean }[];
    return Object.fromEntries(listed.map(({ name, strict_translation }) => [name, strict_translation]));
  };
  assert.deepEqual(await strictOf(), { plain: false, ci: true });
  const { printed: table } = await keys('list');
  assert.match(table, /^ID.*STATE +KEPT +TRANSLATION +LIMITS$/m);
  assert.match(table, /alice +plain .* active +default +lenient$/m);
  assert.match(table, /alice +ci .* active +default +strict$/m);

  assert.match((await keys('update', 'alice/plain', '--strict')).notice, /^updated alice\/plain \(\w+\): strict translation$/);
  assert.match((await keys('update', 'alice/ci', '--no-strict')).notice, /^updated alice\/ci \(\w+\): lenient translation$/);
  assert.deepEqual(await strictOf(), { plain: true, ci: false });
});

test('retention follows the configuration unless it is given; 0 stores nothing, and default resets it', async (context) => {
  const keys = setUp(context);
  await keys('create', '--user', 'alice', '--name', 'ci', '--retention-days', '7');
  const daysOf = async () =>
    (JSON.parse((await keys('list', '--json')).printed) as { response_retention_days: number | null }[]).map(
      (key) => key.response_retention_days,
    );
  assert.deepEqual(await daysOf(), [7]);
  assert.match((await keys('list')).printed, /active +7d +lenient$/m);
  assert.match((await keys('update', 'alice/ci', '--retention-days', '0')).notice, /: responses kept: never$/);
  assert.deepEqual(await daysOf(), [0]);
  assert.match((await keys('update', 'alice/ci', '--retention-days', 'default')).notice, /: responses kept: default$/);
  assert.deepEqual(await daysOf(), [null]);
  for (const wrong of ['-1', '1.5', 'many', '', '36501', 'none']) {
    await assert.rejects(keys('update', 'alice/ci', `--retention-days=${wrong}`), {
      name: 'StartError',
      message: /from 0 to 36500, or default/,
    });
  }
});

test('an update that changes nothing or names no key is refused', async (context) => {
  const keys = setUp(context);
  await keys('create', '--user', 'alice', '--name', 'ci');
  await assert.rejects(keys('update', 'alice/ci'), { name: 'StartError', message: /give --strict or --no-strict/ });
  await assert.rejects(keys('update', 'alice/other', '--strict'), { name: 'StartError', message: /there is no key "alice\/other"/ });
  await assert.rejects(keys('update', 'alice/ci', '--lenient'), { code: 'commander.unknownOption' });
});

type Listed = { readonly name: string; readonly limits: Record<string, unknown> };

/** The limits that are set. */
const setIn = ({ limits }: Listed): Record<string, unknown> =>
  Object.fromEntries(Object.entries(limits).filter(([, value]) => value !== null));

test('limits are set at creation, changed one by one, removed with none, and shown in the lists', async (context) => {
  const run = setUp(context);
  const limitsOf = async (...list: readonly string[]) => (JSON.parse((await run(...list, '--json')).printed) as Listed[]).map(setIn);
  await run('create', '--user', 'alice', '--name', 'ci', '--rpm', '60', '--models', 'gpt-5*, fast', '--addresses', '10.0.0.0/8');
  assert.deepEqual(await limitsOf('list'), [{ requests_per_minute: 60, models: ['gpt-5*', 'fast'], addresses: ['10.0.0.0/8'] }]);
  assert.match((await run('list')).printed, /lenient +rpm 60; models gpt-5\*,fast; addresses 10\.0\.0\.0\/8$/m);
  const { notice } = await run('update', 'alice/ci', '--tpm', '9000', '--models', 'none', '--expires', '2999-12-31');
  assert.match(notice, /: rpm 60; tpm 9000; addresses 10\.0\.0\.0\/8; expires 3000-01-01T00:00:00\.000Z$/);
  assert.match(
    (await run('update', 'alice/ci', '--rpm', 'none', '--tpm', 'none', '--addresses', 'none', '--expires', 'none')).notice,
    /: no limits$/,
  );
  assert.deepEqual(await limitsOf('list'), [{}]);

  assert.match(
    (await run('users', 'limit', 'alice', '--concurrency', '3', '--rpm', '90')).notice,
    /^updated alice: rpm 90; concurrency 3$/,
  );
  assert.deepEqual(await limitsOf('users', 'list'), [{ requests_per_minute: 90, concurrency: 3 }]);
  assert.match((await run('users', 'list')).printed, /^alice .* rpm 90; concurrency 3$/m);
  await run('users', 'limit', 'alice', '--rpm', 'none');
  assert.deepEqual(await limitsOf('users', 'list'), [{ concurrency: 3 }]);
});

test('F15: an invalid limit is refused with its name, its value and the valid form, and nothing changes', async (context) => {
  const run = setUp(context);
  await run('create', '--user', 'alice', '--name', 'ci');
  for (const [option, value, words] of [
    ['--rpm', '0', /^rpm must be an integer from 1 to 1000000, or none; got "0"\.$/],
    ['--tpm', '1.5', /^tpm must be .*"1\.5"/],
    ['--concurrency', '-1', /^concurrency must be .*"-1"/],
    ['--models', 'a,,b', /^models must be .*separated by commas.*"a,,b"/],
    ['--models', 'a*b', /^models must be/],
    ['--addresses', '10.0.0.0/40', /^addresses must be .*10\.0\.0\.0\/8.*"10\.0\.0\.0\/40"/],
    ['--media-days', '0', /^media-days must be .*"0"/],
    ['--media-bytes', '5GB', /^media-bytes must be .*500MiB.*"5GB"/],
    ['--media-bytes', '1025TiB', /^media-bytes must be/],
    ['--spend-per-day', '-1', /^spend-per-day must be an amount in USD.*"-1"/],
    ['--spend-per-month', '1e3', /^spend-per-month must be/],
    ['--spend-total', '0.0000000001', /^spend-total must be.*at most nine places/],
    ['--spend-total', 'NaN', /^spend-total must be/],
    ['--expires', '2001-01-01', /^expires must be a time in the future.*"2001-01-01"/],
    ['--expires', '2999-02-31', /^expires must be/],
    ['--expires', 'soon', /^expires must be .*"soon"/],
  ] as const) {
    await assert.rejects(run('update', 'alice/ci', option, value), { name: 'AccountsError', message: words }, `${option} ${value}`);
  }
  await assert.rejects(run('users', 'limit', 'bob', '--rpm', '1'), { name: 'StartError', message: /there is no user "bob"/ });
  await assert.rejects(run('users', 'limit', 'alice'), { name: 'StartError', message: /nothing to change/ });
  assert.deepEqual((JSON.parse((await run('list', '--json')).printed) as Listed[]).map(setIn), [{}]);
});

test('limits of stored videos take days, and bytes with and without a unit; none removes them', async (context) => {
  const run = setUp(context);
  const limitsOf = async () => (JSON.parse((await run('list', '--json')).printed) as Listed[]).map(setIn)[0];
  await run('create', '--user', 'alice', '--name', 'ci', '--media-days', '7', '--media-bytes', '2GiB');
  assert.deepEqual(await limitsOf(), { media_retention_days: 7, media_bytes_max: 2 * 1024 ** 3 });
  assert.match((await run('list')).printed, /lenient +media-days 7; media-bytes 2147483648$/m);
  assert.match((await run('update', 'alice/ci', '--media-bytes', '0', '--media-days', 'none')).notice, /: media-bytes 0$/);
  assert.deepEqual(await limitsOf(), { media_bytes_max: 0 });
  assert.match((await run('users', 'limit', 'alice', '--media-bytes', '1000')).notice, /^updated alice: media-bytes 1000$/);
});

test('a rotation prints the new secret alone, and the end of the old one beside it', async (context) => {
  const run = setUp(context);
  const { printed: first } = await run('create', '--user', 'alice', '--name', 'ci');
  const { printed: second, notice } = await run('rotate', 'alice/ci', '--overlap', '12h');
  assert.match(second, /^sk-weir-\S+$/);
  assert.equal(second.slice(0, 19), first.slice(0, 19), 'the id stays');
  assert.notEqual(second, first);
  assert.match(notice, /^the old secret of alice\/ci \(\w+\) is valid until 20\d\d-\S+Z$/);
  assert.match((await run('list')).printed, /alice +ci .* rotating /);
  assert.match((await run('rotate', 'alice/ci', '--overlap', '0')).notice, /^the old secret of alice\/ci \(\w+\) has ended$/);
  assert.match((await run('list')).printed, /alice +ci .* active /);
  await assert.rejects(run('rotate', 'alice/ci', '--overlap', '91d'), { message: /^--overlap must be .* of at most 90d; got "91d"$/ });
  await assert.rejects(run('rotate', 'alice/ci', '--overlap', 'soon'), { name: 'StartError' });
  await assert.rejects(run('rotate', 'alice/other'), { message: /there is no key "alice\/other"/ });
});

test('the list is narrowed to unused and to expiring keys, by days, instants and durations', async (context) => {
  const run = setUp(context);
  await run('create', '--user', 'alice', '--name', 'soon', '--expires', '5d');
  await run('create', '--user', 'alice', '--name', 'late', '--expires', '2999-12-31');
  const names = async (...options: readonly string[]) =>
    (JSON.parse((await run('list', '--json', ...options)).printed) as Listed[]).map(({ name }) => name).toSorted();
  assert.deepEqual(await names('--expires-before', '7d'), ['soon']);
  assert.deepEqual(await names('--expires-before', '2999-12-31'), ['soon']);
  assert.deepEqual(await names('--expires-before', '3000-01-01T00:00:01Z'), ['late', 'soon']);
  assert.deepEqual(await names('--unused-since', '1m'), [], 'new keys are not unused since before their creation');
  assert.deepEqual(await names('--unused-since', '2999-01-01'), ['late', 'soon']);
  for (const option of ['--unused-since', '--expires-before'])
    await assert.rejects(run('list', option, 'never'), { name: 'AccountsError', message: new RegExp(`^${option} must be .*"never"`) });
});

test('several keys are changed by one command, with a line for each; an unknown one among them stops it before any change', async (context) => {
  const run = setUp(context);
  for (const name of ['a', 'b', 'c']) await run('create', '--user', 'alice', '--name', name);
  const states = async () =>
    [...(await run('list')).printed.matchAll(/alice +(\w).* default +(active|disabled) /g)]
      .map(([, name, state]) => `${name} ${state}`)
      .toSorted();
  await assert.rejects(run('disable', 'alice/a', 'alice/nobody'), { message: /there is no key "alice\/nobody"/ });
  assert.deepEqual(await states(), ['a active', 'b active', 'c active']);
  assert.match((await run('disable', 'alice/a', 'alice/b')).notice, /^disabled alice\/a \(\w+\)\ndisabled alice\/b \(\w+\)$/);
  assert.deepEqual(await states(), ['a disabled', 'b disabled', 'c active']);
  assert.match(
    (await run('update', 'alice/a', 'alice/c', '--rpm', '5')).notice,
    /^updated alice\/a .*: rpm 5\nupdated alice\/c .*: rpm 5$/,
  );
  await run('enable', 'alice/a', 'alice/b');
  assert.deepEqual(await states(), ['a active', 'b active', 'c active']);
});

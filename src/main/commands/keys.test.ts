import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import type { TestContext } from 'node:test';

import { Command } from 'commander';

import { readEnvironment } from '../environment.ts';
import { addKeyCommands } from './keys.ts';

/** Runs commands on a data directory of their own; each returns what it printed. */
function setUp(context: TestContext) {
  const directory = mkdtempSync(join(tmpdir(), 'weir-keys-'));
  context.after(() => rmSync(directory, { recursive: true, force: true }));
  const output = context.mock.method(console, 'log', () => {});
  const notices = context.mock.method(console, 'error', () => {});
  return async (...words: readonly string[]): Promise<{ readonly printed: string; readonly said: string }> => {
    output.mock.resetCalls();
    notices.mock.resetCalls();
    const program = new Command().exitOverride().configureOutput({ writeErr: () => {} });
    addKeyCommands(program, readEnvironment({ WEIR_DATA_DIR: directory }));
    await program.parseAsync(['keys', ...words], { from: 'user' });
    const join = (calls: readonly { readonly arguments: readonly unknown[] }[]): string =>
      calls.map((call) => call.arguments.join(' ')).join('\n');
    return { printed: join(output.mock.calls), said: join(notices.mock.calls) };
  };
}

test('strict translation: off unless asked for, shown in the list, changed by update', async (context) => {
  const keys = setUp(context);
  await keys('create', '--user', 'alice', '--name', 'plain');
  const { printed: secret } = await keys('create', '--user', 'alice', '--name', 'ci', '--strict');
  assert.match(secret, /^sk-weir-\S+$/);

  const strictOf = async (): Promise<Record<string, boolean>> => {
    const listed = JSON.parse((await keys('list', '--json')).printed) as { name: string; strictTranslation: boolean }[];
    return Object.fromEntries(listed.map(({ name, strictTranslation }) => [name, strictTranslation]));
  };
  assert.deepEqual(await strictOf(), { plain: false, ci: true });
  const { printed: table } = await keys('list');
  assert.match(table, /^ID.*STATE +TRANSLATION$/m);
  assert.match(table, /alice +plain .* active +lenient$/m);
  assert.match(table, /alice +ci .* active +strict$/m);

  assert.match((await keys('update', 'alice/plain', '--strict')).said, /^updated alice\/plain \(\w+\): strict translation$/);
  assert.match((await keys('update', 'alice/ci', '--no-strict')).said, /^updated alice\/ci \(\w+\): lenient translation$/);
  assert.deepEqual(await strictOf(), { plain: true, ci: false });
});

test('an update that changes nothing or names no key is refused', async (context) => {
  const keys = setUp(context);
  await keys('create', '--user', 'alice', '--name', 'ci');
  await assert.rejects(keys('update', 'alice/ci'), { name: 'StartError', message: /give --strict or --no-strict/ });
  await assert.rejects(keys('update', 'alice/other', '--strict'), { name: 'StartError', message: /there is no key "alice\/other"/ });
  await assert.rejects(keys('update', 'alice/ci', '--lenient'), { code: 'commander.unknownOption' });
});

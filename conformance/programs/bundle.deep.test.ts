import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { copyFileSync, globSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative, resolve } from 'node:path';
import { after, before, test } from 'node:test';
import { pathToFileURL } from 'node:url';

import { post } from '../support/http.ts';
import { cleanEnvironment, removal } from '../support/start-weir.ts';
import { commandOutput, runCommand } from './run-command.ts';
import { runToEnd } from './run-weir.ts';

const root = resolve(import.meta.dirname, '../..');
/** A bundle finds its libraries from its folder, so it lies in the checkout. */
const folder = join(root, `.build-test-${process.pid}`);
const data = mkdtempSync(join(tmpdir(), 'weir-bundle-'));
const commands = { WEIR_DATA_DIR: join(data, 'commands') };
const run = `const { runCommandLine } = await import(${JSON.stringify(pathToFileURL(join(folder, 'run-command-line.js')).href)});
await runCommandLine(JSON.parse(process.argv[1]), process.env);`;

before(async () => {
  const built = await runToEnd(process.execPath, [join(root, 'build/make-bundle.js'), relative(root, folder)]);
  assert.equal(built.code, 0, built.stderr);
  await commandOutput(['migrate'], commands);
});
after(() => {
  rmSync(folder, removal);
  rmSync(data, removal);
});

const bundled = (words: unknown, environment: Readonly<Record<string, string>>) =>
  runToEnd(process.execPath, ['--input-type=module', '-e', run, JSON.stringify(words)], { environment, cwd: data });

for (const words of [
  ['--version'],
  ['--help'],
  ['keys', '--help'],
  ['users', 'list'],
  ['usage', '--json'],
  ['prices', 'list'],
  ['config', 'check'],
  ['receipt', 'show', 'none'],
  ['unknown'],
]) {
  test(`weir ${words.join(' ')} answers the same from the bundle and from the sources`, async () => {
    // The sources run in the test's process: `commands.deep.test.ts` compares that with a process.
    assert.deepEqual(await bundled(words, commands), await runCommand(words, commands));
  });
}

test('a stack of the bundle names the sources', async () => {
  const { stderr, code } = await bundled(null, {});
  assert.equal(code, 1);
  assert.match(stderr, /TypeError: .*\n\s+at (?:async )?withSecrets \(src\/main\/run-command-line\.ts:\d+\)/);
});

test('V8 keeps the files of the bundle in one byte for each character', () => {
  const wide = globSync('*.js', { cwd: folder }).filter((name) => /[^\0-\xff]/.test(readFileSync(join(folder, name), 'utf8')));
  assert.deepEqual(wide, []);
});

test('the bundle serves calls and statistics, with the threads that it starts', async () => {
  const environment = {
    WEIR_DATA_DIR: join(data, 'serving'),
    WEIR_PORT: '0',
    WEIR_MONITOR_PORT: '0',
    WEIR_API_KEY: 'sk-weir-bundle',
    WEIR_BILLING_TOKEN: 'bt-weir-bundle',
  };
  const child = spawn(process.execPath, ['--input-type=module', '-e', run, '["start"]'], {
    env: cleanEnvironment(environment),
    cwd: data,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  let found: RegExpExecArray | null = null;
  child.stderr.on('data', (piece) => (output += piece));
  for await (const piece of child.stdout) {
    output += piece;
    found = /^weir ready: gateway (\S+) monitor (\S+)\n/m.exec(output);
    if (found !== null) break;
  }
  try {
    const [, gateway, monitor] = found ?? assert.fail(output);
    const answer = await post(
      `${gateway}/v1/chat/completions`,
      { model: 'gpt-5-mini', messages: [{ role: 'user', content: 'Hello' }] },
      { authorization: 'Bearer sk-weir-bundle' },
    );
    assert.equal(answer.status, 200);
    const question = { type: 3, startTime: 0, endTime: 4_000_000_000 };
    const statistics = await post(`${monitor}/bill/stats`, question, { token: 'bt-weir-bundle' });
    assert.notEqual(statistics.status, 401);
    assert.ok(statistics.status < 500, output);
  } finally {
    child.kill('SIGTERM');
    if (child.exitCode === null) await once(child, 'exit');
  }
  assert.doesNotMatch(output, /"level":(?:50|60)/);
});

test('a bundle is used only while its sources have the same content', async () => {
  const { findBundle } = (await import(pathToFileURL(join(root, 'build/find-bundle.js')).href)) as {
    findBundle: (root: URL) => URL | undefined;
  };
  const sources = pathToFileURL(`${join(data, 'sources')}/`);
  const file = join(data, 'sources/source.ts');
  mkdirSync(join(data, 'sources/.build'), { recursive: true });
  writeFileSync(file, 'const one = 1;');
  assert.equal(findBundle(sources), undefined);
  const sha256 = createHash('sha256').update('const one = 1;').digest('hex');
  writeFileSync(join(data, 'sources/.build/manifest.json'), JSON.stringify([['source.ts', 14, 1, sha256]]));
  assert.equal(findBundle(sources)?.href, new URL('.build/', sources).href);
  writeFileSync(file, 'const one = 2;');
  assert.equal(findBundle(sources), undefined);
  writeFileSync(file, 'const one = 1; ');
  assert.equal(findBundle(sources), undefined);
  rmSync(file);
  assert.equal(findBundle(sources), undefined);
});

/** A checkout in which only the installation works, and makes its bundle by this program. */
async function withInstallation(
  makeBundle: string,
  use: (folder: string, install: () => ReturnType<typeof runToEnd>) => Promise<void>,
): Promise<void> {
  const other = mkdtempSync(join(tmpdir(), 'weir-prepare-'));
  try {
    mkdirSync(join(other, 'build'));
    writeFileSync(join(other, 'package.json'), '{ "type": "module" }');
    for (const name of ['prepare.js', 'find-bundle.js', 'trim-packages.js'])
      copyFileSync(join(root, 'build', name), join(other, 'build', name));
    writeFileSync(join(other, 'build/make-bundle.js'), makeBundle);
    await use(other, () => runToEnd(process.execPath, [join(other, 'build/prepare.js')]));
  } finally {
    rmSync(other, removal);
  }
}

test('an installation that cannot make a bundle succeeds, and says why the sources run', async () => {
  await withInstallation("throw new Error('no room');", async (_folder, install) => {
    const { code, stdout, stderr } = await install();
    assert.deepEqual([code, stdout], [0, '']);
    assert.equal(stderr, 'weir: no bundle was made, so the sources run, which takes longer to start: Error: no room\n');
  });
});

test('an installation makes the bundle only if there is none of these sources', async () => {
  const make = `import { appendFileSync, mkdirSync, writeFileSync } from 'node:fs';
    appendFileSync('made', 'x');
    mkdirSync('.build');
    writeFileSync('.build/manifest.json', '[]');`;
  await withInstallation(make, async (other, install) => {
    for (let run = 0; run < 2; run++) assert.equal((await install()).code, 0);
    assert.equal(readFileSync(join(other, 'made'), 'utf8'), 'x');
  });
});

import assert from 'node:assert/strict';
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

import { type RunningSimulator, startSimulator } from 'weir-simulator';

import { chatOnly } from '../responses/models.ts';
import { cleanEnvironment } from '../support/start-weir.ts';

const run = promisify(execFile);
const release = fileURLToPath(new URL('../../build/release/release.js', import.meta.url));
/** The programs of the system. A Node there may be too old; the package brings its own. */
const withoutNode = { PATH: '/usr/bin:/bin' };
const apiKey = 'a-key-of-the-package';
const minutesMs = 60_000;
describe('the npm package', { timeout: 9 * minutesMs }, () => {
  const folder = mkdtempSync(join(tmpdir(), 'weir-release-'));
  const launcher = join(folder, 'prefix/lib/node_modules/weir/weir.sh');
  const started: ChildProcess[] = [];
  let simulator: RunningSimulator;

  before(async () => {
    simulator = await startSimulator();
    await run(process.execPath, [release, folder, '--only', 'npm'], { timeout: 3 * minutesMs });
    await run('npm', ['install', '--global', '--no-audit', '--no-fund', '--prefix', join(folder, 'prefix'), findArchive()], {
      timeout: 3 * minutesMs,
    });
  });
  after(async () => {
    for (const child of started) child.kill('SIGKILL');
    await simulator.close();
    rmSync(folder, { recursive: true, force: true });
  });

  const findArchive = (): string => join(folder, /\S+\.tgz/.exec(readFileSync(join(folder, 'SHA256SUMS'), 'utf8'))?.[0] ?? '');

  test('the same sources give the same bytes', async () => {
    const before = readFileSync(findArchive());
    await run(process.execPath, [release, folder, '--only', 'npm'], { timeout: 3 * minutesMs });
    assert.ok(before.equals(readFileSync(findArchive())));
  });

  test('installed globally beside an old Node, it serves calls and pages, runs code, and ends when told', async () => {
    const { stdout: version } = await run(launcher, ['--version'], { env: withoutNode });
    assert.match(version, /^\d+\.\d+\.\d+ \([0-9a-f]{10}(?:-changed)?\)\n$/);
    const data = mkdtempSync(join(folder, 'data-'));
    const config = {
      upstreams: chatOnly(simulator.addresses.openai),
      models: { chat: { targets: [{ upstream: 'chat-only', model: 'gpt-4.1' }] } },
    };
    writeFileSync(join(data, 'weir.yaml'), JSON.stringify(config));
    const child = spawn(launcher, ['start'], {
      cwd: data,
      env: cleanEnvironment({
        ...withoutNode,
        WEIR_PORT: '0',
        WEIR_MONITOR_PORT: '0',
        WEIR_CONSOLE_PORT: '0',
        WEIR_DATA_DIR: join(data, 'weir'),
        WEIR_CONFIG: join(data, 'weir.yaml'),
        WEIR_API_KEY: apiKey,
      }),
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    started.push(child);
    const [, gateway = '', console = ''] = await readyLine(child);
    const health = (await (await fetch(`${gateway}/health`)).json()) as { readonly version: string; readonly commit: string };
    assert.equal(`${health.version} (${health.commit})\n`, version);
    assert.match(
      await (await fetch(`${console}/`, { headers: { accept: 'text/html' } })).text(),
      /<script type="module"/,
      'the pages are in the package',
    );
    assert.equal(await runPython(gateway), '42\n');
    child.kill('SIGTERM');
    assert.deepEqual(await once(child, 'exit'), [0, null]);
    await assert.rejects(fetch(`${gateway}/health`), 'nothing serves any more');
  });
});

/** Waits until the program serves; its addresses. */
async function readyLine(child: ChildProcess): Promise<readonly string[]> {
  let printed = '';
  for await (const chunk of child.stdout ?? []) {
    printed += String(chunk);
    const found = /weir ready: gateway (\S+) monitor \S+ console (\S+)/.exec(printed);
    if (found !== null) return found;
  }
  throw new Error(`It ended before it was ready: ${printed}`);
}

/** What a program prints that the model lets the gateway run. */
async function runPython(gateway: string): Promise<string | undefined> {
  const reply = await fetch(`${gateway}/v1/responses`, {
    method: 'POST',
    headers: { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' },
    body: JSON.stringify({
      model: 'chat',
      input: 'Run python: print(6*7)',
      tools: [{ type: 'code_interpreter', container: { type: 'auto' } }],
      include: ['code_interpreter_call.outputs'],
    }),
  });
  const { output } = (await reply.json()) as {
    readonly output: readonly { readonly type: string; readonly outputs?: readonly { readonly logs: string }[] }[];
  };
  return output.find(({ type }) => type === 'code_interpreter_call')?.outputs?.[0]?.logs;
}

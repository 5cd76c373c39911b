import { createHash } from 'node:crypto';
import { chmodSync, cpSync, globSync, lutimesSync, mkdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';

import { makeBill } from './make-bill.js';
import { copyRuntime } from './node-runtime.js';

/**
 * Files of packages that a program never reads: types, source maps, sources of bundles, forms for browsers, tests and
 * documents. Licences stay.
 */
const unread = [
  /\.(?:map|flow|html|d\.[cm]?ts)$/,
  /\/(?!licen[cs]e|copying|notice)[^/]+\.md$/i,
  /^(?:@[^/]+\/)?[^/]+\/(?:demo|docs?|tests?|types)\//,
  /^mediabunny\/(?:src|dist\/bundles)\//,
  /^mammoth\/(?:browser|bin|mammoth\.browser)/,
  /^linkedom\/worker\.js$/,
];

/**
 * Makes the folder of a self-contained release for one platform: the npm package, the packages that it imports, Node,
 * licences, bill of materials and checksums.
 * @param {object} release see `release.js`
 * @param {string} platform such as `linux-x64`
 * @param {string} folder which is replaced
 */
export function makeTree(release, platform, folder) {
  const { root, npm, parts } = release;
  rmSync(folder, { recursive: true, force: true });
  cpSync(npm, folder, { recursive: true });
  renameSync(join(folder, 'weir.sh'), join(folder, 'weir'));
  for (const { path } of parts.filter(({ form }) => form === 'separate')) copyPackage(root, path, folder);
  const runtime = copyRuntime(root, platform, join(folder, 'node_modules', basename(nodeFolder(platform))));
  writeFileSync(join(folder, 'sbom.cdx.json'), makeBill(release, runtime));
  settle(folder, release.madeAt);
  writeFileSync(join(folder, 'SHA256SUMS'), listSums(folder));
  settle(folder, release.madeAt);
}

const nodeFolder = (platform) => (platform.startsWith('darwin') ? `node-bin-${platform}` : `node-${platform}`);

function copyPackage(root, path, folder) {
  const source = join(root, path);
  const named = path.slice(path.indexOf('node_modules/') + 'node_modules/'.length);
  for (const file of globSync('**/*', { cwd: source, exclude: (name) => name === 'node_modules' })) {
    const from = join(source, file);
    if (!statSync(from).isFile() || unread.some((pattern) => pattern.test(`${named}/${file}`))) continue;
    const to = join(folder, path, file);
    mkdirSync(dirname(to), { recursive: true });
    cpSync(from, to);
  }
}

const isProgram = /\/(?:bin\/node|bin\/weir|weir|weir\.sh)$/;

/** The same rights and times everywhere, whatever the umask of who makes the release. */
export function settle(folder, madeAt) {
  for (const entry of globSync('**/*', { cwd: folder, withFileTypes: true })) {
    const path = join(entry.parentPath, entry.name);
    if (!entry.isSymbolicLink()) chmodSync(path, entry.isDirectory() || isProgram.test(path) ? 0o755 : 0o644);
    lutimesSync(path, madeAt, madeAt);
  }
  chmodSync(folder, 0o755);
  lutimesSync(folder, madeAt, madeAt);
}

/** The checksum of each file, in the format of `sha256sum --check`. */
function listSums(folder) {
  const files = globSync('**/*', { cwd: folder, withFileTypes: true }).filter((entry) => entry.isFile() && entry.name !== 'SHA256SUMS');
  const paths = files.map((entry) => join(entry.parentPath, entry.name).slice(folder.length + 1)).toSorted();
  return paths.map((path) => `${sumOf(join(folder, path))}  ${path}\n`).join('');
}

/** The SHA-256 of a file in hexadecimal. */
export const sumOf = (path) => createHash('sha256').update(readFileSync(path)).digest('hex');

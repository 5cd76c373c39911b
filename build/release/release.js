import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { basename, join, resolve } from 'node:path';
import { parseArgs } from 'node:util';

import { makeArchive } from './make-archive.js';
import { debianNames, makeDebianPackage } from './make-debian-package.js';
import { makePackage } from './make-package.js';
import { makeTree, sumOf } from './make-tree.js';
import { platforms } from './node-runtime.js';

// `npm run release` makes the artefacts of a release in `dist`, or in the folder that is named: the npm package, an
// archive for each platform, and Debian packages. `--only npm,linux-x64,amd64` makes some of them. The same commit gives
// the same bytes.
const root = resolve(import.meta.dirname, '../..');
const kinds = ['npm', ...Object.keys(platforms), ...Object.keys(debianNames)];

const { values, positionals } = parseArgs({ allowPositionals: true, options: { only: { type: 'string' } } });
const wanted = values.only?.split(',') ?? kinds;
for (const one of wanted) if (!kinds.includes(one)) throw new Error(`--only names ${one}; there are ${kinds.join(', ')}.`);
const folder = resolve(positionals[0] ?? join(root, 'dist'));
mkdirSync(folder, { recursive: true });

const git = (...words) => execFileSync('git', words, { cwd: root, encoding: 'utf8' }).trim();
// A commit with changes says so: no package claims too much.
const isChanged = git('status', '--porcelain', '--untracked-files=no') !== '';
const commit = `${git('rev-parse', '--short=10', 'HEAD')}${isChanged ? '-changed' : ''}`;
const madeAt = new Date(1000 * Number(git('log', '-1', '--format=%ct')));
const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));

const { archive, npm, parts } = await makePackage({ root, version, commit, madeAt }, folder);
const release = { root, version, commit, madeAt, npm, parts };
const made = wanted.includes('npm') ? [archive] : [];
for (const platform of Object.keys(platforms)) {
  const debian = Object.keys(debianNames).find((name) => debianNames[name] === platform);
  if (!wanted.includes(platform) && !wanted.includes(debian)) continue;
  const tree = join(folder, `weir-${version}-${platform}`);
  makeTree(release, platform, tree);
  if (wanted.includes(platform)) made.push(makeArchive(tree));
  if (wanted.includes(debian)) made.push(makeDebianPackage(release, debian, tree));
  rmSync(tree, { recursive: true });
}
rmSync(npm, { recursive: true });
const sums = made.toSorted().map((path) => `${sumOf(path)}  ${basename(path)}\n`);
writeFileSync(join(folder, 'SHA256SUMS'), sums.join(''));
for (const path of made) process.stdout.write(`${path}\n`);

import { execFileSync } from 'node:child_process';
import { chmodSync, cpSync, globSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { gzipSync } from 'node:zlib';

import { settle } from './make-tree.js';

/** Debian's names of processors, and the platform of each. */
export const debianNames = { amd64: 'linux-x64', arm64: 'linux-arm64' };

const templates = join(import.meta.dirname, 'debian');
const scripts = ['postinst', 'prerm', 'postrm'];

/**
 * Makes a Debian package of the folder of a self-contained release. It needs dpkg-deb and md5sum.
 * @param tree see `make-tree.js`
 * @returns path of the package, beside the folder
 */
export function makeDebianPackage({ root, version, commit, madeAt }, architecture, tree) {
  const stage = `${tree}-debian`;
  rmSync(stage, { recursive: true, force: true });
  const copy = (source, target) => cpSync(source, join(stage, target), { recursive: true });
  const write = (target, content) => {
    mkdirSync(dirname(join(stage, target)), { recursive: true });
    writeFileSync(join(stage, target), content);
  };
  copy(tree, 'usr/lib/weir');
  for (const moved of ['SHA256SUMS', 'LICENSE', 'CHANGELOG.md', 'README.md']) rmSync(join(stage, 'usr/lib/weir', moved));
  copy(join(templates, 'weir.sh'), 'usr/bin/weir');
  for (const unit of globSync('*.service', { cwd: join(root, 'deploy/systemd') }))
    copy(join(root, 'deploy/systemd', unit), `lib/systemd/system/${unit}`);
  for (const name of ['weir.yaml', 'weir.env']) copy(join(templates, name), `etc/weir/${name}`);
  copy(join(templates, 'overrides'), 'usr/share/lintian/overrides/weir');
  write('usr/share/man/man1/weir.1.gz', compress(readFileSync(join(templates, 'weir.1'))));
  const changes = `weir (${version}) stable; urgency=medium\n\n  * Made of commit ${commit}. CHANGELOG.md lists the changes.\n\n`;
  write('usr/share/doc/weir/changelog.gz', compress(`${changes} -- The Weir authors <weir@localhost>  ${mailDate(madeAt)}\n`));
  write('usr/share/doc/weir/CHANGELOG.md.gz', compress(readFileSync(join(tree, 'CHANGELOG.md'))));
  write('usr/share/doc/weir/copyright', describeCopyright(tree));
  settle(stage, madeAt);
  chmodSync(join(stage, 'usr/share/lintian/overrides/weir'), 0o644);
  // The keys of vendors are for root, who reads them for the service.
  chmodSync(join(stage, 'etc/weir/weir.env'), 0o600);
  chmodSync(join(stage, 'usr/bin/weir'), 0o755);
  writeControl(stage, version, architecture);
  return pack(stage, `${dirname(tree)}/weir_${version}_${architecture}.deb`, madeAt);
}

function writeControl(stage, version, architecture) {
  const files = globSync('**/*', { cwd: stage, withFileTypes: true }).filter((entry) => entry.isFile());
  const paths = files.map((entry) => join(entry.parentPath, entry.name).slice(stage.length + 1)).toSorted();
  const sums = execFileSync('md5sum', ['--', ...paths.filter((path) => !path.startsWith('etc/'))], { cwd: stage, encoding: 'utf8' });
  const sizeKb = Math.ceil(files.reduce((sum, entry) => sum + readFileSync(join(entry.parentPath, entry.name)).length, 0) / 1024);
  const control = readFileSync(join(templates, 'control'), 'utf8');
  mkdirSync(join(stage, 'DEBIAN'));
  const write = (name, text, mode = 0o644) => {
    writeFileSync(join(stage, 'DEBIAN', name), text);
    chmodSync(join(stage, 'DEBIAN', name), mode);
  };
  const values = { version, architecture, sizeKb: String(sizeKb) };
  write(
    'control',
    control.replaceAll(/\{(\w+)\}/g, (_all, name) => values[name]),
  );
  write(
    'conffiles',
    paths
      .filter((path) => path.startsWith('etc/'))
      .map((path) => `/${path}\n`)
      .join(''),
  );
  write('md5sums', sums);
  for (const script of scripts) write(script, readFileSync(join(templates, script)), 0o755);
}

function pack(stage, file, madeAt) {
  const environment = { ...process.env, SOURCE_DATE_EPOCH: String(madeAt.getTime() / 1000), LC_ALL: 'C' };
  execFileSync('dpkg-deb', ['--root-owner-group', '-Zxz', '-z1', '--build', stage, file], { env: environment, stdio: 'pipe' });
  rmSync(stage, { recursive: true });
  return file;
}

/** The form of `gzip -9n`, without the time and the system of who made it. */
function compress(content) {
  const packed = gzipSync(content, { level: 9 });
  packed[9] = 3;
  return packed;
}

/** The date in the form of mails, which Debian's change logs have. */
const mailDate = (date) => date.toUTCString().replace('GMT', '+0000');

/** Our licence; those of all parts and of Node are where they have always been. */
function describeCopyright(tree) {
  const [node] = globSync('node_modules/node-*', { cwd: tree });
  return [
    'Copyright (C) 2026 the Weir authors',
    'License: Apache-2.0, whose text is in /usr/share/common-licenses/Apache-2.0',
    '',
    'The licences of all packages in it are in /usr/lib/weir/THIRD-PARTY-LICENSES.txt,',
    `that of Node.js in /usr/lib/weir/${node}/LICENSE.`,
    '',
  ].join('\n');
}

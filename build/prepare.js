import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

import { trimPackages } from './trim-packages.js';

// Makes the bundle and the console's pages after an installation (npm's `prepare`), and removes files that nothing reads.
// It never fails the installation: without a bundle the sources run. So it is plain JavaScript of old versions of Node,
// and the work is done in a process of its own, which may find no esbuild, no space or no recent Node.
const root = fileURLToPath(new URL('..', import.meta.url));
const limitMs = 60_000;

try {
  const { findBundle } = await import('./find-bundle.js');
  if (findBundle(new URL('../', import.meta.url)) === undefined) makeBundle();
} catch (error) {
  explain(error);
}
makePages();
trim();

function makeBundle() {
  const run = (words) => spawnSync(process.execPath, words, { cwd: root, encoding: 'utf8', timeout: limitMs });
  const made = run(['build/make-bundle.js']);
  if (made.error !== undefined) return explain(made.error.message);
  if (made.status !== 0) return explain(/\w*Error(?: \[\w+\])?:\s+.+/.exec(made.stderr)?.[0] ?? made.stderr);
  // This compiles what every start needs, and keeps it beside the bundle.
  run(['weir.js', '--version']);
}

/** The pages of the console. Without the development packages there is no builder, and the pages that are there stay. */
function makePages() {
  if (!existsSync(join(root, 'node_modules/vite'))) return;
  const made = spawnSync(process.execPath, ['console/build.mjs'], { cwd: root, encoding: 'utf8', timeout: limitMs });
  if (made.error === undefined && made.status === 0) return;
  const reason = String(made.error?.message ?? made.stderr)
    .replace(/\s+/g, ' ')
    .slice(0, 300);
  // eslint-disable-next-line no-console -- an installation has no logger
  console.error(`weir: the pages of the console were not built (npm run console:build builds them): ${reason}`);
}

function trim() {
  try {
    trimPackages(join(root, 'node_modules'));
  } catch {
    // A folder that may only be read keeps all files.
  }
}

function explain(reason) {
  // eslint-disable-next-line no-console -- an installation has no logger
  console.error(
    `weir: no bundle was made, so the sources run, which takes longer to start: ${String(reason).replace(/\s+/g, ' ').slice(0, 300)}`,
  );
}

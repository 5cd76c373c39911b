import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';

// Makes the bundle after an installation (npm's `prepare`). It never fails the installation: without a bundle the
// sources run. So it is plain JavaScript of old versions of Node, and the work is done in a process of its own, which
// may find no esbuild, no space or no recent Node.
const root = fileURLToPath(new URL('..', import.meta.url));
const limitMs = 60_000;

try {
  const { findBundle } = await import('./find-bundle.js');
  if (findBundle(new URL('../', import.meta.url)) === undefined) makeBundle();
} catch (error) {
  explain(error);
}

function makeBundle() {
  const run = (words) => spawnSync(process.execPath, words, { cwd: root, encoding: 'utf8', timeout: limitMs });
  const made = run(['build/make-bundle.js']);
  if (made.error !== undefined) return explain(made.error.message);
  if (made.status !== 0) return explain(/\w*Error(?: \[\w+\])?:\s+.+/.exec(made.stderr)?.[0] ?? made.stderr);
  // This compiles what every start needs, and keeps it beside the bundle.
  run(['weir.js', '--version']);
}

function explain(reason) {
  // eslint-disable-next-line no-console -- an installation has no logger
  console.error(
    `weir: no bundle was made, so the sources run, which takes longer to start: ${String(reason).replace(/\s+/g, ' ').slice(0, 300)}`,
  );
}

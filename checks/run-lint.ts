import { execFileSync, spawnSync } from 'node:child_process';
import { hash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

import { readImports, root } from './source-files.ts';

/**
 * `npm run lint`: lints what may have another result than in the last clean run. The rules know types, so a file counts
 * as changed if it, anything that it imports in turn, a setting or a package changed. The first run lints everything.
 */
const cachePath = join(root, 'node_modules/.cache/lint.json');
/** With more files than this, finding them costs as much as linting all. */
const filesMax = 1000;

const isCode = (path: string): boolean => /\.(?:[cm]?[jt]s|tsx)$/.test(path);

const listed = execFileSync('git', ['ls-files', '-co', '--exclude-standard'], { cwd: root, encoding: 'utf8', maxBuffer: 2 ** 26 });
const files = listed.split('\n').filter((path) => isCode(path) && existsSync(join(root, path)));
const settings = ['package-lock.json', '.oxlintrc.json', 'tsconfig.json', 'console/tsconfig.json', 'checks/run-lint.ts'];

/** The text of each file that was asked for, and the files that it imports. */
const sources = new Map<string, { readonly digest: string; readonly imports: readonly string[] }>();
function sourceOf(path: string) {
  const known = sources.get(path);
  if (known !== undefined) return known;
  const text = readFileSync(join(root, path), 'utf8');
  const imports = isCode(path) ? readImports(path, text).filter((name) => existsSync(join(root, name))) : [];
  const source = { digest: hash('sha256', text), imports };
  sources.set(path, source);
  return source;
}

/** The result for a file depends on this: its text, and the texts of all files that it imports in turn. */
function fingerprint(path: string): string {
  const reached = new Set([path]);
  for (const each of reached) for (const name of sourceOf(each).imports) reached.add(name);
  return hash(
    'sha256',
    [...reached]
      .map((each) => `${each} ${sourceOf(each).digest}`)
      .toSorted()
      .join('\n'),
  );
}

const shared = [...settings, ...files.filter((path) => path.endsWith('.d.ts'))].map((path) => readFileSync(join(root, path), 'utf8'));
const base = hash('sha256', [process.version, ...shared].join('\0'));
const found = Object.fromEntries(files.map((path) => [path, fingerprint(path)]));

type Cache = { readonly base: string; readonly files: Readonly<Record<string, string>> };
const last = existsSync(cachePath) ? (JSON.parse(readFileSync(cachePath, 'utf8')) as Cache) : undefined;
const isAll = last?.base !== base;
const changed = files.filter((path) => isAll || last.files[path] !== found[path]);

if (changed.length > 0) {
  const paths = isAll || changed.length > filesMax ? [] : changed;
  const { status } = spawnSync('oxlint', ['--deny-warnings', '--no-error-on-unmatched-pattern', ...paths], { cwd: root, stdio: 'inherit' });
  process.exitCode = status ?? 1;
}
if (process.exitCode === undefined || process.exitCode === 0) {
  mkdirSync(dirname(cachePath), { recursive: true });
  writeFileSync(cachePath, JSON.stringify({ base, files: found }));
}

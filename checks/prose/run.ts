import { createHash } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { parseArgs } from 'node:util';

import { root } from '../source-files.ts';
import type { Finding } from './finding.ts';
import type { lintProse } from './lint-prose.ts';
import { wrapProse } from './wrap-prose.ts';

/**
 * Checks the prose of the repository. README.md explains the options and the list of files that are not yet rewritten.
 */

const listPath = 'checks/prose/not-yet-rewritten.txt';
const cachePath = join(root, 'node_modules/.cache/prose.json');
const shownMax = 50;

type Cache = {
  readonly version: string;
  readonly files: Record<string, { readonly digest: string; readonly findings: readonly Finding[] }>;
};

const print = (line: string): boolean => process.stdout.write(`${line}\n`);
const digestOf = (text: string): string => createHash('sha256').update(text).digest('base64url').slice(0, 22);

/** Every TypeScript file and page that we write by hand. */
function listFiles(): readonly string[] {
  const folders = ['src', 'simulator', 'conformance', 'bench', 'checks', 'docs'];
  const own = readdirSync(root).filter((name) => name.endsWith('.md'));
  const nested = folders.flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' }).map((name) => `${folder}/${name.replaceAll('\\', '/')}`),
  );
  return [...own, ...nested]
    .filter((path) => /\.(?:ts|md)$/.test(path) && !/(?:^|\/)(?:node_modules|fixtures)\//.test(path) && !path.endsWith('.d.ts'))
    .toSorted();
}

/** A change of the rules, the word list or the installed packages makes every cached result invalid. */
function rulesVersion(): string {
  const own = readdirSync(join(root, 'checks/prose'), { recursive: true, encoding: 'utf8' })
    .filter((name) => /\.(?:ts|yaml)$/.test(name))
    .toSorted()
    .map((name) => readFileSync(join(root, 'checks/prose', name), 'utf8'));
  return digestOf([...own, readFileSync(join(root, 'package-lock.json'), 'utf8')].join('\0'));
}

function readCache(version: string): Cache {
  try {
    // Only this program writes the file.
    const cache = JSON.parse(readFileSync(cachePath, 'utf8')) as Cache;
    if (cache.version === version) return cache;
  } catch {
    // There is no cache yet, or it was cut short: everything is linted.
  }
  return { version, files: {} };
}

/** Written beside and renamed, because the file may be a hard link into another checkout. */
function writeCache(cache: Cache): void {
  mkdirSync(dirname(cachePath), { recursive: true });
  const temporary = `${cachePath}.${process.pid}`;
  writeFileSync(temporary, JSON.stringify(cache));
  renameSync(temporary, cachePath);
}

/** Loaded only when a file changed, because that takes longer than reading the cache. */
async function loadLinter(): Promise<typeof lintProse> {
  try {
    return (await import('./lint-prose.ts')).lintProse;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ERR_MODULE_NOT_FOUND') throw error;
    print(`${(error as Error).message}\nThe lock file has packages that are not installed: run npm install.`);
    process.exit(1);
  }
}

async function findAll(paths: readonly string[]): Promise<ReadonlyMap<string, readonly Finding[]>> {
  const before = readCache(rulesVersion());
  const after: Cache = { version: before.version, files: { ...before.files } };
  let linted = 0;
  for (const path of paths) {
    const source = readFileSync(join(root, path), 'utf8');
    const digest = digestOf(source);
    const known = before.files[path];
    if (known?.digest === digest) continue;
    const lint = await loadLinter();
    after.files[path] = { digest, findings: await lint(path, source) };
    linted += 1;
  }
  if (linted > 0) writeCache(after);
  return new Map(paths.map((path) => [path, after.files[path]?.findings ?? []]));
}

const show = (path: string, finding: Finding): string => `${path}:${finding.line}:${finding.column}  ${finding.message} (${finding.rule})`;

function explain(): string {
  return [
    '',
    'These files must be plain English: rewrite what is reported (docs/decisions/2026-11-23-plain-english.md has the rules).',
    `If a file was only moved, move its line in ${listPath}; if it was written before this check came, add its line.`,
  ].join('\n');
}

function printFindings(lines: readonly string[], max: number): void {
  for (const line of lines.slice(0, max)) print(line);
  if (lines.length > max) print(`... and ${lines.length - max} more`);
}

function wrapAll(paths: readonly string[]): void {
  for (const path of paths) {
    const source = readFileSync(join(root, path), 'utf8');
    const wrapped = wrapProse(path, source);
    if (wrapped !== source) writeFileSync(join(root, path), wrapped);
  }
}

const readList = (): readonly string[] =>
  readFileSync(join(root, listPath), 'utf8')
    .split('\n')
    .filter((line) => line !== '');

/** Removes what is clean or gone from the list. */
function updateList(isDirty: (path: string) => boolean): void {
  const listed = readList();
  const kept = [...new Set(listed.filter(isDirty))].toSorted();
  writeFileSync(join(root, listPath), kept.map((path) => `${path}\n`).join(''));
  print(`${listPath}: ${kept.length} files, ${listed.length - kept.length} fewer`);
}

/** Fails where a file that is not listed has a finding. */
function compareWithList(findings: ReadonlyMap<string, readonly Finding[]>): void {
  const listed = new Set(readList());
  const rewritten = [...listed].filter((path) => findings.get(path)?.length === 0);
  if (rewritten.length > 0) print(`prose: ${rewritten.length} listed files are clean; npm run prose -- --update removes them`);
  const lines = [...findings].filter(([path]) => !listed.has(path)).flatMap(([path, own]) => own.map((finding) => show(path, finding)));
  if (lines.length === 0) return;
  printFindings(lines, shownMax);
  print(explain());
  process.exitCode = 1;
}

async function run(): Promise<void> {
  const flag = { type: 'boolean', default: false } as const;
  const { values, positionals } = parseArgs({
    options: { update: flag, wrap: flag, warnings: flag, all: flag },
    allowPositionals: true,
  });
  const chosen = listFiles().filter((path) => positionals.length === 0 || positionals.some((prefix) => path.startsWith(prefix)));
  if (values.wrap) return wrapAll(chosen);
  const findings = new Map(
    [...(await findAll(chosen))].map(([path, own]) => [path, own.filter(({ isWarning }) => values.warnings || !isWarning)] as const),
  );
  if (values.update) return updateList((path) => (findings.get(path)?.length ?? 0) > 0);
  if (positionals.length === 0 && !values.all) return compareWithList(findings);
  const lines = [...findings].flatMap(([path, own]) => own.map((finding) => show(path, finding)));
  printFindings(lines, Infinity);
  if (lines.length > 0) process.exitCode = 1;
}

await run();

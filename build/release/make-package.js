import { execFileSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { builtinModules } from 'node:module';
import { join } from 'node:path';

import { build } from 'esbuild';

import { buildProgram } from '../build-program.js';
import { makeBill } from './make-bill.js';
import { platforms } from './node-runtime.js';
import { byName, describeLicences, listParts } from './shipped-parts.js';

/** The sandbox may read nothing but its own folder. */
const sandbox = 'src/tools/code-execution/child';
const copied = ['src/platform/json/scanner/json-scanner.wasm', 'README.md', 'CHANGELOG.md', 'LICENSE', 'console/dist'];

/**
 * Makes the npm package: the bundled program, what it reads, the console's pages, licences, bill of materials, and a
 * launcher. It depends only on what cannot be bundled.
 * @param folder where the package's folder `npm` and its archive go
 * @returns path of the archive, the folder of the package, and the packages in it and beside it
 */
export async function makePackage({ root, version, commit, madeAt }, folder) {
  const base = join(folder, 'npm');
  rmSync(base, { recursive: true, force: true });
  mkdirSync(base, { recursive: true });
  const metafile = await buildProgram(root, join(base, 'program'), { base, commit });
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
  for (const path of copied) copy(join(root, path), join(base, path));
  for (const file of ['weir.sh', 'start.js']) copy(join(import.meta.dirname, file), join(base, file));
  const separate = findSeparate(root, metafile);
  const parts = listParts(root, metafile, separate);
  writeFileSync(join(base, 'THIRD-PARTY-LICENSES.txt'), describeLicences(root, parts));
  writeFileSync(join(base, 'sbom.cdx.json'), makeBill({ root, version, commit, madeAt, parts }));
  writeFileSync(join(base, 'package.json'), `${JSON.stringify(describePackage(root, separate), undefined, 2)}\n`);
  const [{ filename }] = JSON.parse(execFileSync('npm', ['pack', '--json', '--pack-destination', folder], { cwd: base, encoding: 'utf8' }));
  return { archive: join(folder, filename), npm: base, parts };
}

function copy(source, target) {
  if (!existsSync(source)) throw new Error(`${source} is missing; npm ci makes the pages of the console.`);
  cpSync(source, target, { recursive: true });
}

/** The names of the packages that the bundle imports. */
function findSeparate(root, { outputs }) {
  const names = Object.values(outputs).flatMap(({ imports }) => imports.filter(({ external }) => external).map(({ path }) => path));
  const packages = new Set(names.filter((name) => !isBuiltIn(name)).map((name) => name.split('/', name.startsWith('@') ? 2 : 1).join('/')));
  // The interpreter of the sandbox is found by its address.
  packages.add('pyodide');
  // Libraries ask for some packages and do without them. What is not installed here was not tested either.
  const tested = [...packages].filter((name) => existsSync(join(root, 'node_modules', name)));
  return tested.toSorted(byName);
}

const isBuiltIn = (name) => name.startsWith('node:') || builtinModules.includes(name.split('/')[0]) || /^[./]/.test(name);

function versionOf(root, name) {
  return JSON.parse(readFileSync(join(root, 'node_modules', name, 'package.json'), 'utf8')).version;
}

function describePackage(root, separate) {
  const { name, version, description, license, optionalDependencies } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  return {
    name,
    version,
    description,
    license,
    type: 'module',
    bin: { weir: 'weir.sh' },
    engines: { node: '>=18' },
    dependencies: Object.fromEntries(separate.map((name) => [name, versionOf(root, name)])),
    optionalDependencies: Object.fromEntries(Object.values(platforms).map((one) => [one, optionalDependencies[one]])),
  };
}

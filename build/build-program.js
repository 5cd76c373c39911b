import { createHash } from 'node:crypto';
import { existsSync, globSync, mkdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { SourceMap } from 'node:module';
import { basename, dirname, join, posix, relative, resolve } from 'node:path';

import { build } from 'esbuild';

const start = 'src/main/run-command-line.ts';
/** The sandbox's process may read nothing but its own folder, so it runs from the sources. */
const unbundled = 'src/tools/code-execution/child/';
const ownSources = '{src,simulator/src}/**/*.ts';
const fileUrl = /new URL\('([^':]+)', import\.meta\.url\)/g;
/** The one file that must know where the bundle is. */
const knowsBundle = 'src/platform/built-positions.ts';

/**
 * Libraries that are loaded by address, in pieces, or seldom. undici is loaded seldom, and needs the whole of `node:http`,
 * of which a bundle has a part.
 */
const external = ['pyodide', 'unpdf', 'mammoth', 'linkedom', '@mozilla/readability', 'mediabunny', 'pg-native', 'undici'];

/**
 * Bundles the program into `folder`: one file for the command line and for the main file of each thread and process,
 * and shared files that are loaded when they are needed. The folder is replaced at once, and only if all went well.
 * @param release for a package: `base` is its folder, which has the files that are not bundled at the same paths as
 *   here, but in JavaScript; `commit` is that of the sources. A package is what it is, so its manifest lists no sources.
 * @returns what esbuild says about the inputs and the imports of each file
 */
export async function buildProgram(root, folder, release) {
  const entries = [start, ...findThreadFiles(root)];
  const names = new Map(entries.map((entry) => [entry, basename(entry, '.ts')]));
  if (new Set(names.values()).size < names.size) throw new Error('Two main files of threads have one name.');
  // The names of shared files depend on the path from here to the sources, so a release is always built at one place.
  const place = release === undefined ? folder : join(root, 'dist/program');
  const { outputFiles, metafile } = await build({
    absWorkingDir: root,
    entryPoints: entries,
    entryNames: '[name]',
    chunkNames: '[name]-[hash]',
    inject: [join(import.meta.dirname, 'map-stacks.ts')],
    outdir: place,
    write: false,
    bundle: true,
    splitting: true,
    format: 'esm',
    platform: 'node',
    target: 'esnext',
    minifySyntax: true,
    legalComments: 'none',
    sourcemap: 'external',
    sourcesContent: false,
    metafile: true,
    logLevel: 'warning',
    external,
    plugins: [resolveFileUrls(root, folder, names, release), importHttpInPart()],
    banner: {
      js: `import { createRequire as createRequireOfBuild } from 'node:module'; const require = createRequireOfBuild(import.meta.url);`,
    },
  });
  const fresh = `${folder}.new`;
  rmSync(fresh, { recursive: true, force: true });
  mkdirSync(fresh);
  // A file precedes its map.
  for (const file of outputFiles.toSorted((one, other) => one.path.length - other.path.length)) writeOutput(root, place, fresh, file);
  const paths = [
    'package.json',
    'package-lock.json',
    'build/build-program.js',
    ...Object.keys(metafile.inputs).filter((path) => /^(?:src|simulator|build)\//.test(path)),
  ];
  if (release === undefined) writeFileSync(join(fresh, 'manifest.json'), JSON.stringify(paths.map((path) => describeInput(root, path))));
  rmSync(folder, { recursive: true, force: true });
  renameSync(fresh, folder);
  return metafile;
}

/** The files that the sources name by their address: the main files of threads, processes and isolated jobs. */
function findThreadFiles(root) {
  const sources = globSync(ownSources, { cwd: root }).filter((path) => !path.endsWith('.test.ts') && !path.includes('/testing/'));
  const named = sources.flatMap((path) =>
    [...readFileSync(join(root, path), 'utf8').matchAll(fileUrl)].map(([, name = '']) => posix.join(posix.dirname(path), name)),
  );
  return [...new Set(named)].filter((path) => path.endsWith('.ts') && !path.startsWith(unbundled) && existsSync(join(root, path)));
}

/** Addresses relative to a source become addresses relative to the bundle, where all files lie in one folder. */
function resolveFileUrls(root, folder, names, release) {
  const base = relative(folder, release?.base ?? root);
  const pathOf = (target) => `${base}/${release === undefined ? target : target.replace(/\.ts$/, '.js')}`;
  return {
    name: 'resolve-file-urls',
    setup: ({ onLoad }) => {
      if (release !== undefined)
        onLoad({ filter: /\/package\.json$/ }, ({ path }) =>
          path === join(root, 'package.json') ? { contents: describeRelease(path, release), loader: 'json' } : undefined,
        );
      onLoad({ filter: /\/src\/.*\.ts$/ }, ({ path }) => {
        if (path.includes('/node_modules/')) return undefined;
        const source = readFileSync(path, 'utf8');
        const uses = source.match(/import\.meta\.(?:url|dirname|filename)/g)?.length ?? 0;
        if (uses > (source.match(fileUrl)?.length ?? 0) && !path.endsWith(knowsBundle))
          throw new Error(`${path} must name files by new URL('./name', import.meta.url), or the bundle does not find them.`);
        const contents = source.replace(fileUrl, (_all, name) => {
          const target = relative(root, resolve(dirname(path), name)) + (name.endsWith('/') ? '/' : '');
          const bundled = names.get(target);
          return `new URL('${bundled === undefined ? pathOf(target) : `./${bundled}.js`}', import.meta.url)`;
        });
        return { contents, loader: 'ts' };
      });
    },
  };
}

/** What the program says about itself. */
function describeRelease(path, { commit }) {
  const { name, version } = JSON.parse(readFileSync(path, 'utf8'));
  return JSON.stringify({ name, version, commit });
}

/**
 * An import of `node:http` reads all that it exports, among others classes of the fetch API: 14 MB of the runtime that
 * Weir does not use. The bundle reads the members that it uses.
 */
function importHttpInPart() {
  return {
    name: 'import-http-in-part',
    setup: ({ onResolve, onLoad }) => {
      onResolve({ filter: /^(?:node:)?http$/ }, () => ({ path: 'http', namespace: 'part' }));
      onLoad({ filter: /./, namespace: 'part' }, () => ({ contents: `module.exports = process.getBuiltinModule('node:http');` }));
    },
  };
}

function writeOutput(root, folder, fresh, { path, contents, text }) {
  if (path.endsWith('.js')) return writeFileSync(join(fresh, basename(path)), escapeWide(text));
  if (!path.endsWith('.map')) return writeFileSync(join(fresh, basename(path)), contents);
  const map = JSON.parse(text);
  const code = readFileSync(join(fresh, basename(path, '.map')), 'utf8');
  writeFileSync(join(fresh, basename(path).replace(/\.map$/, '.lines')), writeLineTable(root, folder, code, map));
}

const unescapable = /\\[^\0-\xff]|String\.raw`[^`]*[^\0-\xff]/;

/**
 * Escapes characters beyond Latin-1. The sources of a program stay in memory, and a file with one such character would
 * need twice as much. esbuild escapes those in strings, so what remains is in regular expressions and comments.
 */
function escapeWide(code) {
  const found = unescapable.exec(code);
  if (found !== null) throw new Error(`Escape the character at the end of ${found[0].slice(-80)}`);
  return code.replace(/[^\0-\xff]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

/**
 * The source of each line of a bundled file: two numbers for each line (the number of the source, from 1, and the line
 * in it), then the paths of the sources, one a line. It is read in place, so a program needs no memory for it.
 */
function writeLineTable(root, folder, code, payload) {
  const map = new SourceMap(payload);
  const lines = code.split('\n');
  const numbers = new Map(payload.sources.map((source, index) => [source, index + 1]));
  const table = new Uint32Array(1 + 2 * lines.length);
  table[0] = lines.length;
  for (const [index, line] of lines.entries()) {
    const found = map.findEntry(index, line.length - line.trimStart().length);
    if (!('originalSource' in found)) continue;
    table[1 + 2 * index] = numbers.get(found.originalSource) ?? 0;
    table[2 + 2 * index] = found.originalLine + 1;
  }
  // A module of the runtime is not in a folder; resolved, it would name the folder of the build.
  const nameOf = (source) => (source.startsWith('part:') ? source.replace('part:', 'node:') : relative(root, resolve(folder, source)));
  const sources = payload.sources.map(nameOf);
  return Buffer.concat([Buffer.from(table.buffer), Buffer.from(sources.join('\n'))]);
}

function describeInput(root, path) {
  const { size, mtimeMs } = statSync(join(root, path));
  return [
    path,
    size,
    mtimeMs,
    createHash('sha256')
      .update(readFileSync(join(root, path)))
      .digest('hex'),
  ];
}

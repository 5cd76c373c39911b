import { createHash } from 'node:crypto';
import { globSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { extname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { brotliCompressSync, constants, gzipSync } from 'node:zlib';

const here = fileURLToPath(new URL('.', import.meta.url));

/** What the pages are made of. A change of any of it makes the built files stale. */
const sources = ['index.html', 'package.json', 'build.mjs', 'vite-settings.mjs', 'public/**/*.svg', 'src/**/*.{ts,tsx,css}'];

const types = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.woff2': 'font/woff2',
};

/** Files that are small already. */
const compressed = new Set(['.woff2']);

/** Builds the pages into a folder, which is replaced at once, and only if all went well. */
async function buildConsole(folder) {
  const { build } = await import('vite');
  const fresh = `${folder}.new`;
  rmSync(fresh, { recursive: true, force: true });
  const { settings } = await import('./vite-settings.mjs');
  const built = await build({ ...settings, build: { ...settings.build, outDir: fresh } });
  const files = {};
  for (const path of globSync('**/*', { cwd: fresh, withFileTypes: false })) {
    const type = types[extname(path)];
    if (type !== undefined) files[`/${path.replaceAll('\\', '/')}`] = describeFile(join(fresh, path), type);
  }
  writeFileSync(join(fresh, 'packages.json'), JSON.stringify(listPackages(built)));
  writeFileSync(join(fresh, 'manifest.json'), JSON.stringify({ sources: digestSources(), files }));
  rmSync(folder, { recursive: true, force: true });
  renameSync(fresh, folder);
}

/** The folders of all packages that are in the pages, for the bill of materials of a release. */
function listPackages(built) {
  const paths = [built]
    .flat()
    .flatMap(({ output }) => output.flatMap((file) => [...(file.moduleIds ?? []), ...(file.originalFileNames ?? [])]));
  const folders = paths.flatMap(
    (path) => /(?:^|\/)((?:console\/)?node_modules\/(?:.*\/node_modules\/)?(?:@[^/]+\/)?[^/]+)\//.exec(path)?.[1] ?? [],
  );
  return [...new Set(folders)].toSorted();
}

/** The entry of a file in the manifest. Its compressed forms are written beside it. */
function describeFile(path, type) {
  const bytes = readFileSync(path);
  const isSmall = compressed.has(extname(path)) || bytes.length < 256;
  const forms = isSmall
    ? {}
    : {
        br: brotliCompressSync(bytes, {
          params: { [constants.BROTLI_PARAM_QUALITY]: 11, [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length },
        }),
        gz: gzipSync(bytes, { level: 9 }),
      };
  for (const [form, packed] of Object.entries(forms)) writeFileSync(`${path}.${form}`, packed);
  return { type, bytes: bytes.length, ...Object.fromEntries(Object.entries(forms).map(([form, packed]) => [form, packed.length])) };
}

/** A digest of everything that the pages are made of. */
function digestSources() {
  const hash = createHash('sha256');
  const paths = sources.flatMap((pattern) => globSync(pattern, { cwd: here }));
  for (const path of paths.sort())
    hash
      .update(`${path}\0`)
      .update(readFileSync(join(here, path)))
      .update('\0');
  return hash.digest('hex');
}

/** Whether `dist` was made of the present sources. */
function isFresh() {
  try {
    return JSON.parse(readFileSync(join(here, 'dist/manifest.json'), 'utf8')).sources === digestSources();
  } catch {
    // Nothing was built.
    return false;
  }
}

// Another folder may be named: the test of the budgets does not touch what is served.
const folder = process.argv[2];
if (folder !== undefined) await buildConsole(folder);
else if (!isFresh()) await buildConsole(join(here, 'dist'));

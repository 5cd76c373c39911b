import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

type Chunk = {
  readonly file: string;
  readonly isDynamicEntry?: boolean;
  readonly imports?: readonly string[];
  readonly dynamicImports?: readonly string[];
  readonly css?: readonly string[];
};
type Files = Readonly<Record<string, { readonly bytes: number; readonly gz?: number }>>;

const kilobyte = 1000;

/** The budgets of the first load and of what comes later, after gzip. A page that needs more is felt on a slow line. */
describe('the size of the pages', { timeout: 60_000 }, () => {
  let folder: string;
  let chunks: Readonly<Record<string, Chunk>>;
  let files: Files;
  /** The chunks that the page itself names, and what they import. */
  let first: Set<string>;

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'weir-console-'));
    const build = fileURLToPath(new URL('../build.mjs', import.meta.url));
    await promisify(execFile)(process.execPath, [build, join(folder, 'dist')], { timeout: 50_000 });
    chunks = JSON.parse(await readFile(join(folder, 'dist/chunks.json'), 'utf8')) as typeof chunks;
    const page = await readFile(join(folder, 'dist/index.html'), 'utf8');
    first = new Set();
    for (const name of Object.keys(chunks)) if (page.includes(chunks[name]?.file ?? '-')) loadedWith(name, first);
    files = (JSON.parse(await readFile(join(folder, 'dist/manifest.json'), 'utf8')) as { files: Files }).files;
  });
  after(() => rm(folder, { recursive: true, force: true }));

  /** A chunk and all that it imports at once. */
  function loadedWith(name: string, found = new Set<string>()): Set<string> {
    if (found.has(name)) return found;
    found.add(name);
    for (const next of chunks[name]?.imports ?? []) loadedWith(next, found);
    return found;
  }

  function packed(paths: readonly string[]): number {
    return paths.reduce((sum, path) => {
      const { gz, bytes } = files[`/${path}`] ?? assert.fail(`${path} is not in the manifest`);
      return sum + (gz ?? bytes);
    }, 0);
  }

  const scripts = (names: Iterable<string>): readonly string[] => [...names].map((name) => chunks[name]?.file ?? assert.fail(name));
  const ofKind = (ending: string): readonly string[] => Object.keys(files).filter((path) => path.endsWith(ending));

  test('the first load is at most 150 kB of script in at most 8 files', () => {
    const loaded = scripts(first).filter((path) => path.endsWith('.js'));
    assert.ok(loaded.length >= 2 && loaded.length <= 8, loaded.join(' '));
    assert.ok(packed(loaded) <= 150 * kilobyte, `${packed(loaded)} bytes in ${loaded.join(' ')}`);
  });

  test('each page adds at most 40 kB of script, and each part that opens on demand at most 50 kB', () => {
    const later = Object.keys(chunks).filter((name) => chunks[name]?.isDynamicEntry === true);
    assert.ok(later.length > 5, 'the pages are loaded on demand');
    for (const name of later) {
      const added = packed(scripts([...loadedWith(name)].filter((part) => !first.has(part))));
      assert.ok(added <= (name.startsWith('src/pages/') ? 40 : 50) * kilobyte, `${name}: ${added} bytes`);
    }
  });

  test('everything together is at most 480 kB of script, 25 kB of styles and 50 kB for a font', () => {
    const sum = (ending: string): number => packed(ofKind(ending).map((path) => path.slice(1)));
    assert.ok(sum('.js') <= 480 * kilobyte, `${sum('.js')} bytes of script`);
    assert.ok(sum('.css') <= 25 * kilobyte, `${sum('.css')} bytes of styles`);
    for (const font of ofKind('.woff2')) assert.ok(packed([font.slice(1)]) <= 50 * kilobyte, font);
  });
});

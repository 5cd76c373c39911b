import assert from 'node:assert/strict';
import { globSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { test } from 'node:test';

/** It is plain JavaScript without types, because any Node of npm runs it. */
async function loadTrimmer(): Promise<(folder: string) => void> {
  const { trimPackages } = (await import(new URL('../../build/trim-packages.js', import.meta.url).href)) as {
    readonly trimPackages: (folder: string) => void;
  };
  return trimPackages;
}

/** Those files of a `node_modules` that are left. Fails if a folder is left empty. */
async function trimmed(files: readonly string[]): Promise<readonly string[]> {
  const trimPackages = await loadTrimmer();
  const folder = mkdtempSync(join(tmpdir(), 'weir-trim-'));
  try {
    for (const file of files) {
      mkdirSync(join(folder, dirname(file)), { recursive: true });
      writeFileSync(join(folder, file), '');
    }
    trimPackages(folder);
    const entries = globSync('**', { cwd: folder, withFileTypes: true });
    const folders = entries.filter((entry) => entry.isDirectory()).map((entry) => join(entry.parentPath, entry.name));
    for (const each of folders) assert.ok(each === folder || globSync('*', { cwd: each }).length > 0, `${each} is empty`);
    return entries
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath, entry.name).slice(folder.length + 1))
      .toSorted();
  } finally {
    rmSync(folder, { recursive: true });
  }
}

test('an installation keeps programs and licences, and loses maps, documents, second forms and empty folders', async () => {
  const kept = ['a/LICENSE', 'a/index.js', 'ai/dist/index.mjs', 'ai/dist/only.js', 'openai/internal/auth/x509-transport-state.js'];
  const more = [
    'a/README.md',
    'a/docs/index.js',
    'a/lib/index.js.map',
    'ai/dist/index.js',
    'openai/internal/auth/x509-transport-state.mjs',
  ];
  assert.deepEqual(await trimmed([...kept, ...more]), [...kept, 'openai/internal/auth/x509-transport-state.mjs'].toSorted());
});

test('types stay beside the compiler, but not those of programs, also where packages have packages of their own', async () => {
  const types = ['a/index.d.ts', '@aws-sdk/core/node_modules/@smithy/types/index.d.ts'];
  const unread = ['knip/index.d.ts', '@aws-sdk/credential-provider-env/node_modules/@smithy/types/index.d.ts'];
  assert.deepEqual(await trimmed([...types, ...unread, 'typescript/index.js']), [...types, 'typescript/index.js'].toSorted());
  assert.deepEqual(await trimmed([...types, ...unread]), []);
});

import assert from 'node:assert/strict';
import { globSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';

import manifest from '../package.json' with { type: 'json' };
import { root } from './source-files.ts';

const runs = ['test:integration', 'test:timing', 'test:deep:integration', 'test:deep:timing'] as const;

/** The files that a script names by its pattern. */
function filesOf(run: (typeof runs)[number]): readonly string[] {
  const pattern = /"(conformance\/[^"]+)"$/.exec(manifest.scripts[run])?.[1] ?? assert.fail(`${run} names no files`);
  return globSync(pattern, { cwd: root });
}

test('every suite of conformance is part of one run, and of no other', () => {
  const all = globSync('conformance/**/*.test.ts', { cwd: root });
  const run = runs.flatMap(filesOf);
  assert.ok(all.length > 200);
  assert.deepEqual(run.toSorted(), all.toSorted());
});

test('a suite is run by what its name says', () => {
  const kindOf = (file: string): string => /((?:\.(?:deep|timing))*)\.test\.ts$/.exec(file)?.[1] ?? '';
  const kinds = runs.map((run) => [...new Set(filesOf(run).map(kindOf))]);
  assert.deepEqual(kinds, [[''], ['.timing'], ['.deep'], ['.deep.timing']]);
});

test('npm test and test:deep leave out none of their runs, and CI calls both', () => {
  assert.match(manifest.scripts.test, /test:unit && .*test:integration && .*test:timing/);
  assert.match(manifest.scripts['test:deep'], /test:deep:integration && .*test:deep:timing/);
});

test('the index of conformance names each of its folders, in order', () => {
  const folders = readdirSync(join(root, 'conformance'), { withFileTypes: true }).filter((entry) => entry.isDirectory());
  const index = readFileSync(join(root, 'conformance/README.md'), 'utf8');
  const named = [...index.matchAll(/^\| ([a-z-]+) \|/gm)].map(([, name]) => name);
  assert.deepEqual(named, folders.map(({ name }) => name).toSorted());
});

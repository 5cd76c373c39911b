import assert from 'node:assert/strict';
import { globSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';

import manifest from '../package.json' with { type: 'json' };
import { root } from './source-files.ts';
import { tiers } from './suites/tiers.ts';

const runs = ['integration', 'timing', 'deep', 'deep-timing'] as const;
const filesOf = (run: string): readonly string[] => globSync([...(tiers[run]?.patterns ?? [])], { cwd: root });

test('every suite is part of one run, and of no other; house rules are a part of npm run check', () => {
  const all = globSync(['{src,simulator/src,console/src,conformance}/**/*.test.ts', 'checks/*/**/*.test.ts', 'checks/house.test.ts'], {
    cwd: root,
  });
  const run = Object.keys(tiers).flatMap(filesOf);
  assert.ok(all.length > 200);
  assert.deepEqual(run.toSorted(), all.toSorted());
  assert.match(manifest.scripts['check:house'], /"checks\/\*\.test\.ts"/);
});

test('a suite is run by what its name says', () => {
  const kindOf = (file: string): string => /((?:\.(?:deep|timing))*)\.test\.ts$/.exec(file)?.[1] ?? '';
  const kinds = runs.map((run) => [...new Set(filesOf(run).map(kindOf))]);
  assert.deepEqual(kinds, [[''], ['.timing'], ['.deep'], ['.deep.timing']]);
});

test('npm test and test:deep leave out none of their runs, and CI calls both', () => {
  assert.match(manifest.scripts.test, /test:unit && .*test:integration && .*test:timing$/);
  for (const run of ['unit', 'integration', 'timing'] as const) assert.match(manifest.scripts[`test:${run}`], new RegExp(`--tier ${run}$`));
  assert.match(manifest.scripts['test:deep'], /--tier deep && .*--tier deep-timing$/);
  const ci = readFileSync(join(root, '.ci/run'), 'utf8');
  for (const step of ['npm run check', 'npm test', 'npm run test:deep']) assert.match(ci, new RegExp(`${step}$`, 'm'));
});

test('the index of conformance names each of its folders, in order', () => {
  const folders = readdirSync(join(root, 'conformance'), { withFileTypes: true }).filter((entry) => entry.isDirectory());
  const index = readFileSync(join(root, 'conformance/README.md'), 'utf8');
  const named = [...index.matchAll(/^\| ([a-z-]+) \|/gm)].map(([, name]) => name);
  assert.deepEqual(named, folders.map(({ name }) => name).toSorted());
});

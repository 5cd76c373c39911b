import { globSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { parseArgs } from 'node:util';

import type { MutantResult, PartialStrykerOptions } from '@stryker-mutator/api/core';

import { root } from '../source-files.ts';

/**
 * Changes the code of the books in small ways, one at a time, and counts the changes that no unit test of their folder
 * notices: `npm run test:mutation -- --files "src/billing/metering/*.ts"`. Prints the survivors and the score of each
 * folder; the exit code says whether every folder reaches `--least` percent. `--tests` names other tests than those of
 * the folder, and `--skip` is a pattern of test names that take too long to repeat. Values that are computed when a
 * file is loaded (tables, schemas) are not counted.
 */
const { values } = parseArgs({
  options: {
    files: { type: 'string', default: 'src/billing/**/*.ts' },
    tests: { type: 'string', default: '' },
    skip: { type: 'string', default: '' },
    least: { type: 'string', default: '85' },
    concurrency: { type: 'string', default: '1' },
  },
});

/** Test code, or files without logic. */
const unmeasured = /\.test\.ts$|\/simulation\/|\/memory-[^/]*\.ts$|\/fake-[^/]*\.ts$|-arbitrary\.ts$|-kit\.ts$/;

const mutated = globSync(values.files, { cwd: root }).filter((path) => !unmeasured.test(path));
const folders = [...new Set(mutated.map((path) => dirname(path)))].toSorted();
if (folders.length === 0) throw new Error(`no source file matches ${values.files}`);
const testGlobs = values.tests === '' ? folders.map((folder) => `${folder}/*.test.ts`) : [values.tests];
const testFiles = [...new Set(testGlobs.flatMap((glob) => globSync(glob, { cwd: root })))];

/** Installed by the command alone, because nothing else needs its 50 MB. */
const program = new URL('./stryker/node_modules/@stryker-mutator/core/dist/src/index.js', import.meta.url);
const { Stryker } = (await import(program.href)) as {
  readonly Stryker: new (options: PartialStrykerOptions) => { readonly runMutationTest: () => Promise<readonly MutantResult[]> };
};
const stryker = new Stryker({
  mutate: mutated,
  testRunner: 'repeating',
  plugins: [join(import.meta.dirname, 'test-runner.ts')],
  repeating: { testFiles, skip: values.skip },
  // Only files that the tests of src/billing read are copied.
  ignorePatterns: ['/bench', '/conformance', '/docs', '/simulator'],
  // It would be rewritten by an interface that the compiler no longer has, and nothing here reads it.
  tsconfigFile: 'none.json',
  coverageAnalysis: 'perTest',
  concurrency: Number(values.concurrency),
  // Endless loops are counted, and a test that waits for nothing is detected at once. The time limit is for the rest,
  // and must tolerate a busy machine.
  timeoutMS: 10_000,
  ignoreStatic: true,
  reporters: ['clear-text', 'progress-append-only'],
  clearTextReporter: { allowColor: false, logTests: false, reportTests: false, reportScoreTable: false },
  allowEmpty: false,
  tempDirName: '.mutation',
  cleanTempDir: 'always',
});
const results = await stryker.runMutationTest();

type Tally = { noticed: number; endless: number; survived: number };
const tallies = new Map<string, Tally>();
for (const { fileName, status } of results) {
  const folder = dirname(relative(root, fileName));
  const tally = tallies.get(folder) ?? { noticed: 0, endless: 0, survived: 0 };
  tallies.set(folder, tally);
  if (status === 'Killed' || status === 'Timeout') tally.noticed += 1;
  if (status === 'Timeout') tally.endless += 1;
  if (status === 'Survived' || status === 'NoCoverage') tally.survived += 1;
}
for (const [folder, { noticed, endless, survived }] of tallies) {
  const score = (100 * noticed) / Math.max(1, noticed + survived);
  process.stdout.write(`${folder}: ${score.toFixed(1)} % of ${noticed + survived} changes noticed (${endless} never ended)\n`);
  if (score < Number(values.least)) process.exitCode = 1;
}

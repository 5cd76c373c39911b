import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';

import { readSourceFiles, root } from './source-files.ts';

const page = readFileSync(join(root, 'docs/reference/failures.md'), 'utf8');

/** The rows of the tables with tests: the numbers of failures and promises, and the tests that name them. */
const named = [...page.matchAll(/^\| ([FM]\d[^|]*) \| [^|]* \| (\[[^|]*) \|$/gm)].map(([, rows = '', links = '']) => ({
  rows: rows.split(', '),
  files: Array.from(links.matchAll(/\(\.\.\/\.\.\/([^)]+)\)/g), ([, path]) => path ?? ''),
}));

test('every test that the list of known failures names is there, and names the failure', () => {
  assert.ok(named.length > 30);
  const wrong = named.flatMap(({ rows, files }) => {
    const texts = files.map((file) => (existsSync(join(root, file)) ? readFileSync(join(root, file), 'utf8') : ''));
    const missing = files.filter((_, index) => texts[index] === '').map((file) => `${file} is not there`);
    return [
      ...missing,
      ...rows.filter((row) => !texts.some((text) => new RegExp(`\\b${row}\\b`).test(text))).map((row) => `${row}: no test names it`),
    ];
  });
  assert.deepEqual(wrong, []);
});

test('every failure that a test is named by is in the list', () => {
  const known = new Set(page.match(/\bF\d{2}\b/g));
  const tests = ['src', 'conformance'].flatMap((folder) => readSourceFiles(folder)).filter(({ path }) => path.endsWith('.test.ts'));
  const unknown = tests.flatMap(({ path, text }) =>
    Array.from(text.matchAll(/(?:test|describe)\(\s*[`'"]((?:F\d{2}, )*F\d{2})\b/g), ([, rows = '']) => rows.split(', '))
      .flat()
      .filter((row) => !known.has(row))
      .map((row) => `${path}: ${row}`),
  );
  assert.deepEqual(unknown, []);
});

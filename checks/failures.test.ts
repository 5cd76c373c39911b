import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';

import { readSourceFiles, root } from './source-files.ts';

const page = readFileSync(join(root, 'docs/reference/failures.md'), 'utf8');

/** The table rows with tests: the numbers of failures and promises, and the tests that name them. */
const named = [...page.matchAll(/^\| ([FM]\d[^|]*) \| [^|]* \| (\[[^|]*) \|$/gm)].map(([, rows = '', links = '']) => ({
  rows: rows.split(', '),
  files: Array.from(links.matchAll(/\(\.\.\/\.\.\/([^)]+)\)/g), ([, path]) => path ?? ''),
}));

const pathOf = (link: string): string => link.replace(/^\.\.\/\.\.\//, '');
const textOf = (path: string): string => (existsSync(join(root, path)) ? readFileSync(join(root, path), 'utf8') : '');

/**
 * The tables of users' complaints and of failures that were found here: each row with parts of test titles, and their
 * files.
 */
const pains = [...page.matchAll(/^\| ([PABC]\d+) \| [^|]* \| (\[[^|]*) \|$/gm)].map(([, row = '', links = '']) => ({
  row,
  tests: Array.from(links.matchAll(/\[([^\]]+)\]\(([^)]+)\)/g), ([, words = '', link = '']) => ({ words, path: pathOf(link) })),
}));

test('every complaint has tests, and each of them has the title in the list', () => {
  assert.deepEqual(
    pains.map(({ row }) => row).filter((row) => row.startsWith('P')),
    ['P1', 'P2', 'P3', 'P4', 'P7', 'P9', 'P11', 'P12', 'P16', 'P17'],
  );
  const wrong = pains.flatMap(({ row, tests }) => {
    // A comment proves nothing: the words must be in the title of a test or of a group of tests.
    const missing = tests.filter(({ words, path }) => {
      const titles = Array.from(textOf(path).matchAll(/(?:test|describe)\(\s*([`'"])((?:(?!\1).)*)\1/g), ([, , title = '']) => title);
      return !titles.some((title) => title.includes(words));
    });
    return [
      ...(tests.length === 0 ? [`${row} has no test`] : []),
      ...missing.map(({ words, path }) => `${row}: no test of ${path} is called "${words}"`),
    ];
  });
  assert.deepEqual(wrong, []);
});

test('every test in the list of known failures exists and names its failure', () => {
  assert.ok(named.length > 30);
  const wrong = named.flatMap(({ rows, files }) => {
    const texts = files.map(textOf);
    const missing = files.filter((_, index) => texts[index] === '').map((file) => `${file} is not there`);
    return [
      ...missing,
      ...rows.filter((row) => !texts.some((text) => new RegExp(`\\b${row}\\b`).test(text))).map((row) => `${row}: no test names it`),
    ];
  });
  assert.deepEqual(wrong, []);
});

test('every failure in the list has a test that npm test runs, and test:deep only runs more of the same', () => {
  const rows = named.map((row) => ({ name: row.rows.join(', '), files: row.files }));
  const all = [...rows, ...pains.map(({ row, tests }) => ({ name: row, files: tests.map(({ path }) => path) }))];
  const deepOnly = all.filter(({ files }) => files.every((file) => file.includes('.deep.')));
  assert.deepEqual(
    deepOnly.map(({ name }) => name),
    [],
  );
});

test('every failure that a test names is in the list', () => {
  const known = new Set(page.match(/\bF\d{1,2}\b/g));
  const tests = ['src', 'conformance'].flatMap((folder) => readSourceFiles(folder)).filter(({ path }) => path.endsWith('.test.ts'));
  const unknown = tests.flatMap(({ path, text }) =>
    Array.from(text.matchAll(/(?:test|describe)\(\s*[`'"]((?:F\d{1,2}, )*F\d{1,2})\b/g), ([, rows = '']) => rows.split(', '))
      .flat()
      .filter((row) => !known.has(row))
      .map((row) => `${path}: ${row}`),
  );
  assert.deepEqual(unknown, []);
});

import assert from 'node:assert/strict';
import { test } from 'node:test';

import { lintProse } from './prose/lint-prose.ts';
import { wrapProse } from './prose/wrap-prose.ts';
import { readWordList } from './prose/word-list.ts';

const rulesOf = async (path: string, source: string): Promise<readonly string[]> =>
  (await lintProse(path, source)).map(({ rule, line }) => `${rule}:${line}`);

test('every entry of the word list reports its bad examples and passes its good ones', async () => {
  for (const { say, flags = [], passes = [] } of readWordList()) {
    const reports = async (text: string): Promise<boolean> =>
      (await lintProse('page.md', text)).some(({ rule, message }) => rule === 'words' && message.endsWith(`-> ${say}`));
    for (const text of flags) assert.ok(await reports(text), `should be reported: ${text}`);
    for (const text of passes) assert.ok(!(await reports(text)), `should pass: ${text}`);
  }
});

test('a finding names the line of the source, the words and the suggestion', async () => {
  const source = ['const a = 1;', '/**', ' * Reads a key. It gives', ' *   back the lease.', ' */', 'export const b = a;', ''].join('\n');
  const [finding] = await lintProse('a.ts', source);
  assert.equal(finding?.line, 3);
  assert.match(finding?.message ?? '', /^"gives back" -> release/);
});

test('comments, messages and test titles are read, and code is not', async () => {
  const source = [
    "const whoever = 'whoever';", // Neither a name nor any other string is prose.
    '// Reads it for whoever asks.',
    "logger.warn({ whoever }, 'no key for whoever asks');",
    'throw new RangeError(`${whoever} is whoever asked`);',
    "test('a key for whoever asks is refused', () => {});",
    "program.option('--key <key>', 'a key for whoever asks');",
    "const schema = { description: 'A key of whoever asks.' };",
    '/** Reads `whoever` of https://localhost/whoever. */',
    '',
  ].join('\n');
  assert.deepEqual(
    await rulesOf('a.ts', source),
    [2, 3, 4, 5, 6, 7].map((line) => `words:${line}`),
  );
});

test('a docstring that only repeats its name is reported', async () => {
  const source = (text: string): string => `/** ${text} */\nexport function readBillingToken(): void {}\n`;
  assert.deepEqual(await rulesOf('a.ts', source('Reads the billing token.')), ['docstrings:1']);
  assert.deepEqual(await rulesOf('a.ts', source('Reads the billing token of a header.')), []);
});

test('a test title is a sentence without "should" and without a full stop', async () => {
  const titles = ['should refuse a key', 'a key is refused.', 'refused keys', 'an unknown key is refused'];
  const source = titles.map((title) => `test('${title}', () => {});\n`).join('');
  assert.deepEqual(await rulesOf('a.ts', source), ['test-titles:1', 'test-titles:2', 'test-titles:3']);
});

test('long lines and long sentences of prose are reported, code and tables are not', async () => {
  const long = 'word '.repeat(28).trim();
  assert.deepEqual(await rulesOf('a.ts', `// ${long}\nexport const text = '${long}';\n`), ['line-length:1']);
  assert.deepEqual(await rulesOf('a.md', `| ${long} |\n|---|\n\n\`\`\`sh\n${long}\n\`\`\`\n`), []);
  const sentence = `A ${'word '.repeat(20)}\nand ${'word '.repeat(20)}end.`;
  assert.deepEqual(await rulesOf('a.md', `${sentence}\n`), ['sentence-length:1']);
});

test('a word that is written twice is reported, also over the end of a line', async () => {
  assert.deepEqual(await rulesOf('a.ts', '// Reads the\n// the key.\nexport {};\n'), ['repeated-words:1']);
});

test('wrapping keeps the words and leaves no line that is too long', async () => {
  const sentence = 'Reads a key of the store and - where there is none - of the file, which is read again each second. '.repeat(3).trim();
  const docstring = `  /** ${sentence} @throws StoreError where ${sentence} */\n  const key = 1;\n`;
  const page = `# Keys\n\n- ${sentence}\n  ${sentence}\n\n| ${sentence} |\n`;
  for (const [path, source] of [
    ['a.ts', docstring],
    ['a.md', page],
  ] as const) {
    const wrapped = wrapProse(path, source);
    assert.deepEqual(
      (await rulesOf(path, wrapped)).filter((rule) => rule.startsWith('line-length')),
      [],
    );
    const plain = (text: string): string =>
      text
        .replace(/\/\*\*|\*\//g, ' ')
        .replace(/^\s*\* /gm, ' ')
        .replace(/\s+/g, ' ')
        .trim();
    assert.equal(plain(wrapped), plain(source));
    assert.equal(wrapProse(path, wrapped), wrapped);
    assert.doesNotMatch(wrapped, /^\s*(?:\* )?- where/m);
  }
});

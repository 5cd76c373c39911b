import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { test } from 'node:test';

import { tabledCases } from '../conformance/translation/matrix.ts';
import { generatedDocs } from './generated-docs.ts';
import { upstreamVendors } from '../src/upstreams/registry.ts';
import { root } from './source-files.ts';

for (const [path, expected] of Object.entries(generatedDocs())) {
  test(`${path} matches the code`, () => {
    assert.equal(readFileSync(join(root, path), 'utf8'), expected, 'run: npm run docs');
  });
}

test('docs/reference/translation.md has a row for every case of the suite', () => {
  // The suite itself observes the content of the rows, with a running gateway.
  const page = readFileSync(join(root, 'docs/reference/translation.md'), 'utf8');
  for (const [client, rows] of tabledCases()) {
    const [, table = ''] = page.split(`### A client of ${client}\n`);
    const own = table.split('\n### ')[0] ?? '';
    const missing = rows.filter((row) => !own.includes(`| ${row} |`));
    assert.deepEqual(missing, [], `${client}: run: node conformance/translation/write-matrix.ts`);
  }
});

test('docs/reference/server-presets.md has every preset, its address and the interfaces that have addresses of their own', () => {
  const page = readFileSync(join(root, 'docs/reference/server-presets.md'), 'utf8');
  const rows = page.split('\n').filter((line) => line.startsWith('|'));
  const missing = Object.entries(upstreamVendors['openai-compatible'].presets ?? {}).flatMap(([name, preset]) => {
    const own = rows.filter((row) => (row.split('|')[1] ?? '').includes(`\`${name}\``)).join('\n');
    const paths = (preset.addresses ?? []).filter(({ dialect }) => dialect === 'anthropic-messages').map(({ path }) => path);
    const wanted = [preset.baseUrl ?? 'yours', ...paths.map((path) => (path === '/v1' ? 'Messages' : path.replace(/\/v1$/, '')))];
    return wanted.filter((part) => !own.includes(part)).map((part) => `${name}: ${part}`);
  });
  assert.deepEqual(missing, []);
});

const markdown = ['.', 'docs', 'simulator', 'src', 'conformance', 'bench'].flatMap((folder) =>
  readdirSync(join(root, folder), { recursive: folder !== '.', encoding: 'utf8' })
    .filter((name) => name.endsWith('.md') && !name.includes('node_modules'))
    .map((name) => join(folder, name)),
);

test('links between documents have existing targets', () => {
  const broken = markdown.flatMap((path) => {
    const text = readFileSync(join(root, path), 'utf8');
    return [...text.matchAll(/\]\((?!https?:|#|mailto:)([^)#]+)(?:#[^)]*)?\)/g)]
      .map((match) => match[1] ?? '')
      .filter((target) => !existsSync(resolve(root, dirname(path), target)))
      .map((target) => `${path} -> ${target}`);
  });
  assert.deepEqual(broken, []);
});

test('the commands of the README are the scripts of the package', () => {
  const readme = readFileSync(join(root, 'README.md'), 'utf8');
  assert.match(readme, /^npm ci && npm start$/m);
  assert.match(readme, /^npm ci && npm test$/m);
});

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';

import { root } from './source-files.ts';

const rows = readFileSync(join(root, 'docs/reference/security.md'), 'utf8')
  .split('\n')
  .filter((line) => line.startsWith('| ') && line.includes(' | `'));

test('every promise about security names tests that exist', () => {
  assert.ok(rows.length >= 12);
  for (const row of rows) {
    const shownBy = row.split(' | ').at(-1) ?? '';
    const files = [...shownBy.matchAll(/`([\w./-]+)` ((?:"(?:[^"\\]|\\.)*"(?:, )?)+)/g)];
    assert.ok(files.length > 0, row);
    for (const [, path = '', titles = ''] of files) {
      const source = readFileSync(join(root, path), 'utf8');
      for (const [, title = ''] of titles.matchAll(/"((?:[^"\\]|\\.)*)"/g)) {
        const plain = title.replaceAll('\\"', '"');
        assert.ok(source.includes(`test('${plain}'`), `${path} has no test "${plain}"`);
      }
    }
  }
});

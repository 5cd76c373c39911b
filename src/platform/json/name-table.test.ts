import assert from 'node:assert/strict';
import { test } from 'node:test';

import fc from 'fast-check';

import { indexJson } from './index-json.ts';
import { NameTable } from './name-table.ts';

test('a table finds exactly its names, in any spelling', () => {
  const name = fc.stringMatching(/^[a-d_]{0,4}$/);
  fc.assert(
    fc.property(
      fc.uniqueArray(name, { maxLength: 30 }),
      fc.oneof(name, fc.string({ unit: 'grapheme', maxLength: 4 })),
      fc.boolean(),
      (names, text, escaped) => {
        const json = escaped ? JSON.stringify(text).replaceAll('a', String.raw`\u0061`) : JSON.stringify(text);
        assert.equal(new NameTable(names).find(indexJson(Buffer.from(json)), 0), names.indexOf(text));
      },
    ),
  );
});

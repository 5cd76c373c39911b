import assert from 'node:assert/strict';
import { test } from 'node:test';

import fc from 'fast-check';

import { readComposite } from './composite-text.ts';

/** As record_out of the server writes a field. */
function write(field: string | null): string {
  if (field === null) return '';
  const isPlain = field !== '' && !/["\\\\(),\s]/.test(field);
  return isPlain ? field : `"${field.replaceAll(/["\\\\]/g, (character) => character + character)}"`;
}

test('a row is read as the server writes it, whatever its names hold', () => {
  const field = fc.option(fc.oneof(fc.string(), fc.stringMatching(/^["\\\\(), a]{0,6}$/), fc.bigInt().map(String)));
  fc.assert(
    fc.property(fc.array(field, { minLength: 2, maxLength: 11 }), (fields) => {
      assert.deepEqual(readComposite(`(${fields.map(write).join(',')})`), fields);
    }),
    { numRuns: 2000 },
  );
  assert.deepEqual(readComposite('(1,word,"two ""words"" \\\\",,"")'), ['1', 'word', 'two "words" \\', null, '']);
});

test('what is no row is refused', () => {
  for (const text of ['', '1,2', '(1,2', '("a)', '(1,"a"")']) assert.throws(() => readComposite(text), /has written a row/, text);
});

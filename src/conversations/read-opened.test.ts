import assert from 'node:assert/strict';
import { test } from 'node:test';

import type { JsonValue } from '../platform/json/json-value.ts';
import { readOpenedHead, readOpenedObject, readOpenedObjects, readOpenedTexts } from './read-opened.ts';

const keeper = { upstream: 'u', credential: 'c' };

test('values in the current form are read unchanged', () => {
  assert.deepEqual(readOpenedObject('item', { a: 1 }), { a: 1 });
  assert.deepEqual(readOpenedObjects('input', [{ a: 1 }, {}]), [{ a: 1 }, {}]);
  assert.deepEqual(readOpenedTexts('events', ['a', '']), ['a', '']);
  assert.deepEqual(readOpenedHead({ response: { id: 'r' } }), { response: { id: 'r' } });
  assert.deepEqual(readOpenedHead({ response: {}, keeper }), { response: {}, keeper });
});

for (const [name, read, values] of [
  ['object', (value: JsonValue) => readOpenedObject('item', value), [null, [], 'a', 1]],
  ['objects', (value: JsonValue) => readOpenedObjects('input', value), [null, {}, [{}, 1], [[]]]],
  ['texts', (value: JsonValue) => readOpenedTexts('events', value), [null, {}, ['a', 1]]],
  ['head', readOpenedHead, [null, [], {}, { response: 1 }, { response: {}, keeper: 1 }, { response: {}, keeper: { upstream: 'u' } }]],
] as const) {
  test(`another version: a stored ${name} with an unknown form fails, and is not served`, () => {
    for (const value of values) assert.throws(() => read(value), { code: 'responses_unavailable' }, JSON.stringify(value));
  });
}

import assert from 'node:assert/strict';
import { test } from 'node:test';

import { parseJson } from '../../../platform/json/parse-json.ts';
import type { JsonObject } from '../../../platform/json/json-value.ts';
import { decodeJsonSchema } from './decode-json-schema.ts';

const text = { type: 'STRING' };

test('types become lower case wherever a schema is, and nowhere else', () => {
  const schema: JsonObject = {
    type: ['OBJECT', 'NULL'],
    properties: { type: text, list: { type: 'ARRAY', items: text, prefixItems: [text, true] } },
    additionalProperties: { anyOf: [text, { not: text }] },
    $defs: { a: { if: text, else: text } },
    default: { type: 'OBJECT' },
    enum: [{ type: 'OBJECT' }],
    required: ['type'],
  };
  const word = { type: 'string' };
  assert.deepEqual(decodeJsonSchema(schema), {
    type: ['object', 'null'],
    properties: { type: word, list: { type: 'array', items: word, prefixItems: [word, true] } },
    additionalProperties: { anyOf: [word, { not: word }] },
    $defs: { a: { if: word, else: word } },
    default: { type: 'OBJECT' },
    enum: [{ type: 'OBJECT' }],
    required: ['type'],
  });
});

test('a property __proto__ is kept, and members keep their order', () => {
  const schema = parseJson('{"b":1,"properties":{"z":{"type":"STRING"},"__proto__":{"type":"OBJECT"},"a":{}},"type":"OBJECT"}');
  assert.equal(
    JSON.stringify(decodeJsonSchema(schema as JsonObject)),
    '{"b":1,"properties":{"z":{"type":"string"},"__proto__":{"type":"object"},"a":{}},"type":"object"}',
  );
});

test('a schema in lower case with thousands of alternatives is not copied', () => {
  const schema: JsonObject = {
    anyOf: Array.from({ length: 3000 }, (_, at) => ({ type: 'object', properties: { [`n${at}`]: { type: 'integer' } } })),
  };
  assert.equal(decodeJsonSchema(schema), schema);
});

import assert from 'node:assert/strict';
import { test } from 'node:test';

import { parseJson } from '../../../platform/json/parse-json.ts';
import type { JsonObject } from '../../../platform/json/json-value.ts';
import { decodeJsonSchema } from './decode-json-schema.ts';

const text = { type: 'STRING' };

test('types are put into lower case wherever a schema stands, and nowhere else', () => {
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

test('names-that-are-special: a property __proto__ stays one, and members keep their order', () => {
  const schema = parseJson('{"b":1,"properties":{"z":{"type":"STRING"},"__proto__":{"type":"OBJECT"},"a":{}},"type":"OBJECT"}');
  assert.equal(
    JSON.stringify(decodeJsonSchema(schema as JsonObject)),
    '{"b":1,"properties":{"z":{"type":"string"},"__proto__":{"type":"object"},"a":{}},"type":"object"}',
  );
});

test('thousands-of-alternatives: what is in lower case already is not copied', () => {
  const schema: JsonObject = {
    anyOf: Array.from({ length: 3000 }, (_, at) => ({ type: 'object', properties: { [`n${at}`]: { type: 'integer' } } })),
  };
  assert.equal(decodeJsonSchema(schema), schema);
});

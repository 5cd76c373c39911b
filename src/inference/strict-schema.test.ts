import assert from 'node:assert/strict';
import { test } from 'node:test';

import type { JsonObject } from '../platform/json/json-value.ts';
import { strictOf } from './strict-schema.ts';

const closed = (properties: JsonObject, more: JsonObject = {}): JsonObject => ({
  type: 'object',
  properties,
  required: Object.keys(properties),
  additionalProperties: false,
  ...more,
});
const city: JsonObject = { type: 'string', pattern: '^[A-Z]' };
const list: JsonObject = { type: 'array', items: closed({ city }), minItems: 1 };

const of = (schema: JsonObject, dialect: string | undefined, strict?: boolean): boolean | undefined =>
  strictOf({ kind: 'json-schema', schema, ...(strict === undefined ? {} : { strict }) }, dialect === undefined ? {} : { dialect });

test('an exact schema that can be compiled unchanged is sent as strict', () => {
  for (const schema of [closed({ city }), closed({ list }), closed({ size: { anyOf: [{ enum: ['S', 'M'] }, { type: 'null' }] } })])
    assert.equal(of(schema, 'gemini-generate-content'), true, JSON.stringify(schema));
});

test('a schema that the vendor would refuse as strict is not sent as strict', () => {
  const deep = Array.from({ length: 10 }).reduce<JsonObject>((inner) => closed({ inner }), city);
  const wide = closed(Object.fromEntries(Array.from({ length: 200 }, (_, at) => [`p${at}`, city])));
  const open = { ...closed({ city }), additionalProperties: true };
  const optional = { ...closed({ city }), required: [] };
  for (const schema of [open, optional, deep, wide, list, closed({ city: { type: 'string', minLength: 1 } }), closed({ any: {} })])
    assert.equal(of(schema, 'anthropic-messages'), undefined, JSON.stringify(schema).slice(0, 80));
});

test('a client whose interface has the field `strict` decides itself', () => {
  assert.equal(of(closed({ city }), 'openai-chat'), undefined);
  assert.equal(of(closed({ city }), undefined), undefined);
  assert.equal(of(closed({ city }), 'openai-responses', false), false);
  assert.equal(of({}, 'openai-responses', true), true);
});

import assert from 'node:assert/strict';
import { test } from 'node:test';

import fc from 'fast-check';
import { Type, type TSchema } from 'typebox';

import { isBase64 } from '../json/base64-text.ts';
import { indexJson } from '../json/index-json.ts';
import { compileCheck } from './compile-check.ts';
import { compileIndexCheck } from './compile-index-check.ts';

const text = fc.constantFrom('a', 'b', 'none', '', '😀😀', 'x\n', 'https://a', 'abcdef');

/** Schemas with the keywords that interfaces use. */
const schemas: fc.Arbitrary<TSchema> = fc.letrec<{ schema: TSchema }>((tie) => ({
  schema: fc.oneof(
    { depthSize: 'small' },
    fc.constant(Type.Null()),
    fc.constant(Type.Boolean()),
    fc.constant(Type.Unknown()),
    fc.record({ minLength: fc.nat(4), maxLength: fc.integer({ min: 1, max: 6 }) }).map((limits) => Type.String(limits)),
    fc.constantFrom('^http', '^[a-z]{1,3}$').map((pattern) => Type.String({ pattern })),
    fc
      .record({ minimum: fc.integer({ min: -2, max: 0 }), exclusiveMaximum: fc.integer({ min: 1, max: 3 }) })
      .map((limits) => Type.Integer(limits)),
    fc.constant(Type.Number({ exclusiveMinimum: 0 })),
    fc.uniqueArray(text, { minLength: 1, maxLength: 3 }).map((names) => Type.Enum(names)),
    fc.uniqueArray(text, { minLength: 1, maxLength: 3 }).map((names) => Type.Unsafe<string>({ type: 'string', not: { enum: names } })),
    fc.constant(Type.Refine(Type.String(), (value) => value.length % 2 === 0)),
    fc.array(tie('schema'), { minLength: 1, maxLength: 3 }).map((branches) => Type.Union(branches)),
    fc.record({ items: tie('schema'), minItems: fc.nat(2) }).map(({ items, minItems }) => Type.Array(items, { minItems })),
    fc
      .record({ a: tie('schema'), b: tie('schema'), closed: fc.boolean() })
      .map(({ a, b, closed }) => Type.Object({ a, b: Type.Optional(b) }, closed ? { additionalProperties: false } : {})),
    tie('schema').map((member) => Type.Record(Type.String(), member)),
  ),
})).schema;

const values = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { depthSize: 'small' },
    text,
    fc.constantFrom(null, true, 0, 1, 1.5, -3),
    fc.array(tie('value'), { maxLength: 3 }),
    fc.dictionary(fc.constantFrom('a', 'b', 'c'), tie('value'), { maxKeys: 3 }),
  ),
})).value;

test('a value that is valid on its index is valid', () => {
  let sure = 0;
  let valid = 0;
  fc.assert(
    fc.property(
      schemas,
      values.map((value) => JSON.stringify(value)),
      (schema, json) => {
        const isValid = compileCheck(schema)(JSON.parse(json));
        const isSure = compileIndexCheck(schema)(indexJson(Buffer.from(json)), 0);
        if (isSure) assert.ok(isValid, `${JSON.stringify(schema)} ${json}`);
        if (isValid) valid++;
        if (isSure) sure++;
      },
    ),
    { numRuns: 3000 },
  );
  assert.equal(sure, valid);
});

test('long texts that must be base64 are judged as their pattern or refinement judges them', () => {
  const pattern = Type.String({ pattern: '^[A-Za-z0-9+/_-]*={0,2}$' });
  const schemas = [
    pattern,
    Type.Refine(Type.String(), isBase64),
    Type.String({ pattern: '^[a-z]*$' }),
    Type.String({ pattern: '^[A-Za-z0-9+/]*x$' }),
  ];
  const position = fc.oneof(fc.nat({ max: 200_000 }), fc.constantFrom(0, 65_535, 65_536, 131_071, 131_072));
  let valid = 0;
  fc.assert(
    fc.property(
      fc.constantFrom(...schemas),
      fc.integer({ min: 65_530, max: 200_000 }),
      position,
      fc.constantFrom('.', 'é', '\n', '"', '=', '-', 'A', 'z'),
      fc.constantFrom('', '=', '==', '===', 'x', '=x'),
      (schema, length, at, changed, ending) => {
        const plain = (schema === schemas[2] ? 'abcz' : 'Abc+/z09').repeat(50_000).slice(0, length);
        const value = plain.slice(0, at) + changed + plain.slice(at + 1) + ending;
        const isValid = compileCheck(schema)(value);
        const isSure = compileIndexCheck(schema)(indexJson(Buffer.from(JSON.stringify(value))), 0);
        // A long text with escapes is not certain.
        assert.equal(isSure, isValid && (changed !== '\n' || schema !== schemas[1] || value.length <= 65_536));
        if (isValid) valid++;
      },
    ),
    { numRuns: 300 },
  );
  assert.ok(valid > 30 && valid < 270, `${valid}`);
});

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Ajv2020 } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import { sampleSchema } from './sample-schema.ts';
import type { JsonRecord } from './simulated-vendor.ts';

const text: JsonRecord = { type: 'string' };
const strict = (properties: JsonRecord): JsonRecord => ({
  type: 'object',
  properties,
  required: Object.keys(properties),
  additionalProperties: false,
});

/** Plain JSON Schemas, as OpenAI, Anthropic and Gemini's `parametersJsonSchema` accept them. */
const schemas: Record<string, JsonRecord> = {
  empty: {},
  'bare object': { type: 'object' },
  'object without properties': { type: 'object', properties: {}, additionalProperties: false },
  'weather call': strict({ city: text, unit: { type: 'string', enum: ['celsius', 'fahrenheit'] } }),
  'optional members': { type: 'object', properties: { a: text, b: { type: 'integer' }, c: { type: 'boolean' } }, required: ['b'] },
  'nullable by type list': strict({ a: { type: ['string', 'null'] }, b: { type: ['integer', 'null'] } }),
  'nested objects': strict({ user: strict({ name: text, address: strict({ street: text, number: { type: 'integer', minimum: 1 } }) }) }),
  'array of objects': strict({
    items: { type: 'array', items: strict({ sku: text, count: { type: 'integer', minimum: 1, maximum: 9 } }) },
  }),
  'array bounds': { type: 'array', items: { type: 'number' }, minItems: 2, maxItems: 4 },
  'unique enum items': { type: 'array', items: { enum: ['a', 'b', 'c'] }, minItems: 3, maxItems: 3, uniqueItems: true },
  'tuple with prefix items': { type: 'array', prefixItems: [text, { type: 'integer' }], minItems: 2, maxItems: 2, items: false },
  'array that contains': { type: 'array', items: { type: 'integer' }, contains: { const: 7 }, minItems: 1 },
  'recursive definition': {
    $ref: '#/$defs/node',
    $defs: { node: strict({ value: text, next: { anyOf: [{ $ref: '#/$defs/node' }, { type: 'null' }] } }) },
  },
  'recursive list': {
    ...strict({ name: text, children: { type: 'array', items: { $ref: '#' } } }),
  },
  'older definitions': { ...strict({ a: { $ref: '#/definitions/id' } }), definitions: { id: { type: 'string', minLength: 4 } } },
  'any of': { anyOf: [strict({ kind: { const: 'a' }, a: text }), strict({ kind: { const: 'b' }, b: { type: 'integer' } })] },
  'one of': strict({ shape: { oneOf: [strict({ radius: { type: 'number', minimum: 0 } }), strict({ side: { type: 'integer' } })] } }),
  'all of': {
    allOf: [
      { type: 'object', properties: { a: text }, required: ['a'] },
      { type: 'object', properties: { b: { type: 'integer' } }, required: ['b'] },
    ],
  },
  'const values': strict({ version: { const: 2 }, name: { const: 'fixed' }, none: { const: null } }),
  'mixed enum': { enum: ['a', 1, true, null] },
  'number bounds': { type: 'number', minimum: 0, maximum: 1 },
  'exclusive bounds': { type: 'integer', exclusiveMinimum: 3, exclusiveMaximum: 6 },
  'multiple of': { type: 'integer', multipleOf: 5, minimum: 10, maximum: 30 },
  'string length': strict({ long: { type: 'string', minLength: 40, maxLength: 44 }, short: { type: 'string', maxLength: 3 } }),
  pattern: strict({ plate: { type: 'string', pattern: '^[A-Z]{2}-\\d{3,4}$' }, slug: { type: 'string', pattern: '^[a-z0-9_-]{1,64}$' } }),
  formats: strict(
    Object.fromEntries(
      ['date-time', 'date', 'time', 'duration', 'email', 'hostname', 'ipv4', 'ipv6', 'uuid', 'uri'].map((format) => [
        format,
        { type: 'string', format },
      ]),
    ),
  ),
  'map of values': { type: 'object', additionalProperties: { type: 'integer' }, minProperties: 1, maxProperties: 4 },
  'pattern properties': { type: 'object', patternProperties: { '^x-': { type: 'boolean' } }, additionalProperties: false },
  'property called type': strict({ type: { type: 'string', enum: ['STRING', 'OBJECT'] }, items: text, nullable: { type: 'boolean' } }),
  'annotations and defaults': {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    title: 'Order',
    ...strict({ size: { type: 'string', description: 'S to L', default: 'M', enum: ['S', 'M', 'L'] } }),
  },
  'dependent required': { type: 'object', properties: { a: text, b: text }, dependentRequired: { a: ['b'] } },
  'no additional and optional': { type: 'object', properties: { a: text, b: text, c: text }, additionalProperties: false },
};

/** Gemini's schemas beside the same in JSON Schema. */
const geminiSchemas: Record<string, readonly [JsonRecord, JsonRecord]> = {
  'upper-case types': [
    {
      type: 'OBJECT',
      properties: {
        city: { type: 'STRING' },
        days: { type: 'INTEGER', format: 'int32', minimum: 1, maximum: 7 },
        share: { type: 'NUMBER', format: 'double' },
        tags: { type: 'ARRAY', items: { type: 'STRING' }, minItems: '2', maxItems: '3' },
      },
      required: ['city', 'days', 'share', 'tags'],
      propertyOrdering: ['city', 'days', 'share', 'tags'],
    },
    {
      type: 'object',
      properties: {
        city: text,
        days: { type: 'integer', minimum: 1, maximum: 7 },
        share: { type: 'number' },
        tags: { type: 'array', items: text, minItems: 2, maxItems: 3 },
      },
      required: ['city', 'days', 'share', 'tags'],
    },
  ],
  'nullable enum': [
    { type: 'OBJECT', properties: { a: { type: 'STRING', format: 'enum', enum: ['x', 'y'], nullable: true } }, required: ['a'] },
    strict({ a: { enum: ['x', 'y', null] } }),
  ],
  'any of': [{ anyOf: [{ type: 'STRING' }, { type: 'INTEGER' }] }, { type: ['string', 'integer'] }],
};

const ajv = new Ajv2020({ strict: false });
addFormats.default(ajv);

for (const [name, schema] of Object.entries(schemas)) {
  test(`sample-is-valid: ${name}`, () => {
    const validate = ajv.compile(schema);
    for (const seed of ['one', 'two', 'three', 'four']) {
      const value = sampleSchema(schema, seed);
      assert.ok(validate(value), `${JSON.stringify(value)}: ${ajv.errorsText(validate.errors)}`);
      assert.deepEqual(sampleSchema(schema, seed), value, 'the same seed must give the same value');
      assert.ok(JSON.stringify(value).length < 4000, 'samples stay small');
    }
  });
}

for (const [name, [schema, plain]] of Object.entries(geminiSchemas)) {
  test(`gemini-spelling-is-understood: ${name}`, () => {
    const validate = ajv.compile(plain);
    for (const seed of ['one', 'two', 'three', 'four']) {
      const value = sampleSchema(schema, seed);
      assert.ok(validate(value), `${JSON.stringify(value)}: ${ajv.errorsText(validate.errors)}`);
    }
  });
}

test('seeds-differ: other seeds give other values, and optional members are sometimes absent', () => {
  const values = new Set<string>();
  for (let seed = 0; seed < 30; seed += 1) values.add(JSON.stringify(sampleSchema(schemas['optional members'] ?? {}, `${seed}`)));
  assert.ok(values.size > 10);
});

test('strings-read-as-words: free text consists of words', () => {
  assert.match(JSON.stringify(sampleSchema(strict({ city: text }), 'seed')), /^\{"city":"[a-z]+( [a-z]+)*"\}$/);
});

test('hopeless-schema: an unsatisfiable schema or a missing definition gives a value, not an error', () => {
  assert.notEqual(sampleSchema({ $ref: '#/$defs/missing' }, 'seed'), undefined);
  assert.notEqual(sampleSchema({ allOf: [{ type: 'string' }, { type: 'integer' }] }, 'seed'), undefined);
  assert.notEqual(sampleSchema({ type: 'string', pattern: '(' }, 'seed'), undefined);
});

/** Schemas that would take very long to sample, or to check a sample against. */
const hostile: Record<string, JsonRecord> = {
  'a pattern with exponential backtracking': { type: 'string', pattern: '^(a+)+$', minLength: 60 },
  'a pattern that is searched in names': {
    type: 'object',
    patternProperties: { '^(a+)+$': { type: 'string' } },
    required: [`${'a'.repeat(60)}!`],
    additionalProperties: { type: 'integer' },
  },
  'names that have to match': { type: 'object', propertyNames: { pattern: '^(a+)+$' }, required: [`${'a'.repeat(60)}!`] },
  'a pattern of repeats in repeats': { type: 'string', pattern: '((((a{9999}){9999}){9999}){9999}){9999}' },
  'a thousand million items': { type: 'array', items: text, minItems: 1_000_000_000 },
  'items in items in items': {
    type: 'array',
    minItems: 60,
    items: { type: 'array', minItems: 60, items: { type: 'array', minItems: 60, items: { type: 'array', minItems: 60 } } },
  },
  'a thousand million characters': { type: 'string', minLength: 1_000_000_000 },
  'a thousand million members': { type: 'object', additionalProperties: text, minProperties: 1_000_000_000 },
  'references that fan out': {
    $ref: '#/$defs/d0',
    $defs: {
      ...Object.fromEntries(
        Array.from({ length: 40 }, (_, at) => {
          const next = { $ref: `#/$defs/d${at + 1}` };
          return [`d${at}`, { anyOf: [next, { allOf: [next, next] }] }];
        }),
      ),
      d40: { type: 'string', minLength: 5 },
    },
  },
  'references that fan out in circles': {
    $defs: {
      a: { type: 'object', properties: { a: { allOf: Array.from({ length: 60 }, () => ({ $ref: '#/$defs/a' })) } }, required: ['a'] },
    },
    $ref: '#/$defs/a',
  },
  'a hundred thousand alternatives': { anyOf: Array.from({ length: 100_000 }, (_, at) => ({ const: at })) },
  'ten thousand levels': Array.from({ length: 10_000 }).reduce<JsonRecord>((inner) => ({ type: 'object', properties: { a: inner } }), {}),
};

for (const [name, schema] of Object.entries(hostile)) {
  test(`hostile-schema: ${name}: a sample is found in little time`, () => {
    const { user, system } = process.threadCpuUsage();
    assert.notEqual(sampleSchema(schema, 'seed'), undefined);
    const used = process.threadCpuUsage({ user, system });
    const workedMs = (used.user + used.system) / 1000;
    assert.ok(workedMs < 400, `${Math.round(workedMs)} ms of work`);
  });
}

test('hostile-schema: patterns are a source for samples and are never matched', (context) => {
  const ran: string[] = [];
  const exec: (this: RegExp, subject: string) => RegExpExecArray | null = Reflect.get(RegExp.prototype, 'exec');
  context.mock.method(RegExp.prototype, 'exec', function spy(this: RegExp, subject: string) {
    ran.push(this.source);
    return exec.call(this, subject);
  });
  const plate = '^[A-Z]{2}-\\d{3,4}$';
  const names = '^(a|b)+$';
  const value = sampleSchema({ ...strict({ plate: { type: 'string', pattern: plate } }), patternProperties: { [names]: text } }, 'seed');
  assert.match(JSON.stringify(value), /^\{"plate":"[A-Z]{2}-\d{3,4}"\}$/);
  assert.ok(!ran.includes(plate) && !ran.includes(names), ran.join(' '));
});

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { FunctionTool, InferenceRequest, Tool } from '../../../inference/inference-request.ts';
import type { ModelTraits } from '../../../inference/model-traits.ts';
import type { JsonObject } from '../../../platform/json/json-value.ts';
import { validateRequest } from '../validate-request.ts';
import { encodeSchema } from './encode-schema.ts';
import { encode } from './testing/test-kit.ts';

const tool = (name: string, parameters?: JsonObject): FunctionTool => ({
  kind: 'function',
  name,
  ...(parameters === undefined ? {} : { parameters }),
});
const subset = { jsonSchemaTools: false } as const;

function declare(
  parameters: JsonObject,
  differences: Partial<ModelTraits> = subset,
): { readonly declaration: unknown; readonly notes: readonly string[] } {
  const { body, notes } = encode({ tools: [tool('f', parameters)] }, differences);
  validateRequest({ operation: 'generate', body, headers: {} }, 'compatible');
  const [{ functionDeclarations }] = body.tools as [{ functionDeclarations: [JsonObject] }];
  return { declaration: functionDeclarations[0], notes };
}

const simple = (schema: JsonObject): JsonObject => encodeSchema(schema).schema;

test('any JSON Schema is sent if the model accepts it', () => {
  const schema = { $schema: 'x', type: 'object', properties: { a: { const: 1 } }, additionalProperties: false };
  assert.deepEqual(declare(schema, {}), { declaration: { name: 'f', parametersJsonSchema: schema }, notes: [] });
});

test('schemas are converted to the vendor’s subset (router-for-me/CLIProxyAPI#97, CherryHQ/cherry-studio#20939, fazer-ai/agents#64)', () => {
  const cases: readonly (readonly [schema: JsonObject, expected: JsonObject])[] = [
    [
      { type: 'string', description: 'd', title: 't', default: 'x', examples: ['y'] },
      { type: 'STRING', title: 't', description: 'd' },
    ],
    [{ type: ['string', 'null'] }, { type: 'STRING', nullable: true }],
    [
      { type: ['string', 'integer'], description: 'd' },
      {
        anyOf: [
          { type: 'STRING', description: 'd' },
          { type: 'INTEGER', description: 'd' },
        ],
      },
    ],
    [{ type: 'null' }, { type: 'NULL' }],
    [{ const: 'a' }, { type: 'STRING', enum: ['a'] }],
    [{ const: 5 }, { type: 'NUMBER', description: 'Allowed values: 5.' }],
    [
      { type: 'integer', enum: [1, 2], description: 'd' },
      { type: 'INTEGER', description: 'd Allowed values: 1, 2.' },
    ],
    [{ enum: ['a', null, '', 'a'] }, { type: 'STRING', nullable: true, enum: ['a'] }],
    [{ type: 'string', format: 'uri' }, { type: 'STRING' }],
    [
      { type: 'string', format: 'date-time', minLength: 1, maxLength: 9, pattern: '^a' },
      { type: 'STRING', format: 'date-time', pattern: '^a', minLength: 1, maxLength: 9 },
    ],
    [
      { type: 'integer', exclusiveMinimum: 0, exclusiveMaximum: 10 },
      { type: 'INTEGER', minimum: 1, maximum: 9 },
    ],
    [
      { type: 'number', minimum: 0, maximum: 1.5, format: 'double' },
      { type: 'NUMBER', format: 'double', minimum: 0, maximum: 1.5 },
    ],
    [{ oneOf: [{ type: 'string' }, { type: 'number' }] }, { anyOf: [{ type: 'STRING' }, { type: 'NUMBER' }] }],
    [
      { anyOf: [{ type: 'string' }, { type: 'null' }], description: 'd' },
      { description: 'd', type: 'STRING', nullable: true },
    ],
    [
      { anyOf: [{ type: 'string' }, { type: 'number' }, { type: 'null' }] },
      {
        anyOf: [
          { type: 'STRING', nullable: true },
          { type: 'NUMBER', nullable: true },
        ],
      },
    ],
    [
      { type: 'array', items: { type: 'string' }, minItems: 1 },
      { type: 'ARRAY', items: { type: 'STRING' }, minItems: 1 },
    ],
    [
      { type: 'array', items: [{ type: 'string' }, { type: 'number' }] },
      { type: 'ARRAY', items: { anyOf: [{ type: 'STRING' }, { type: 'NUMBER' }] } },
    ],
    [
      { type: 'array', prefixItems: [{ type: 'string' }] },
      { type: 'ARRAY', items: { type: 'STRING' } },
    ],
    [{ type: 'object' }, { type: 'OBJECT' }],
    [{ type: 'object', properties: {}, additionalProperties: false }, { type: 'OBJECT' }],
    [
      { properties: { a: { type: 'boolean' } }, required: ['a', 'gone'] },
      { type: 'OBJECT', properties: { a: { type: 'BOOLEAN' } }, required: ['a'] },
    ],
    [
      { allOf: [{ properties: { a: { type: 'string' } }, required: ['a'] }, { properties: { b: { type: 'string' } } }], description: 'd' },
      { type: 'OBJECT', description: 'd', properties: { a: { type: 'STRING' }, b: { type: 'STRING' } }, required: ['a'] },
    ],
  ];
  for (const [schema, expected] of cases) {
    assert.deepEqual(simple(schema), expected, JSON.stringify(schema));
    declare({ type: 'object', properties: { p: schema } });
  }
});

test('an empty schema accepts any value', () => {
  const anything = { anyOf: [{ type: 'STRING' }, { type: 'NUMBER' }, { type: 'BOOLEAN' }, { type: 'OBJECT' }] };
  assert.deepEqual(simple({}), anything);
  assert.deepEqual(simple({ type: 'hologram' }), anything);
  assert.deepEqual(simple({ type: 'object', properties: { a: true as never } }).properties, { a: anything });
  assert.deepEqual(simple({ type: 'array' }), { type: 'ARRAY', items: anything });
});

test('references are expanded with their members, and those without a target become any object', () => {
  const schema = {
    type: 'object',
    properties: {
      a: { $ref: '#/$defs/Name', description: 'mine' },
      b: { $ref: '#/definitions/a~1b' },
      c: { $ref: '#/$defs/Gone' },
      d: { $ref: 'https://example.org/schema' },
    },
    $defs: { Name: { type: 'string', description: 'theirs' } },
    definitions: { 'a/b': { type: 'array', items: { $ref: '#/$defs/Name' } } },
  };
  assert.deepEqual(encodeSchema(schema), {
    schema: {
      type: 'OBJECT',
      properties: {
        a: { type: 'STRING', description: 'mine' },
        b: { type: 'ARRAY', items: { type: 'STRING', description: 'theirs' } },
        c: { type: 'OBJECT' },
        d: { type: 'OBJECT' },
      },
    },
    lost: ['$ref'],
  });
});

test('recursive definitions end, including those that multiply', () => {
  const tree = {
    $defs: { Node: { type: 'object', properties: { left: { $ref: '#/$defs/Node' }, right: { $ref: '#/$defs/Node' } } } },
    $ref: '#/$defs/Node',
  };
  const node = { type: 'OBJECT' };
  const inner = { type: 'OBJECT', properties: { left: node, right: node } };
  assert.deepEqual(encodeSchema(tree), { schema: { type: 'OBJECT', properties: { left: inner, right: inner } }, lost: ['$ref'] });
  assert.deepEqual(simple({ $ref: '#' }), { type: 'OBJECT' });
  assert.deepEqual(simple({ $defs: { a: { $ref: '#/$defs/b' }, b: { $ref: '#/$defs/a' } }, $ref: '#/$defs/a' }), { type: 'OBJECT' });
  const names = Array.from({ length: 12 }, (_, index) => `D${index}`);
  const web = Object.fromEntries(
    names.map((name) => [
      name,
      { type: 'object', properties: Object.fromEntries(names.map((other) => [other, { $ref: `#/$defs/${other}` }])) },
    ]),
  );
  const { schema, lost } = encodeSchema({ $defs: web, $ref: '#/$defs/D0' });
  assert.ok(JSON.stringify(schema).length < 500_000);
  assert.ok(lost.includes('depth'));
  let deep: JsonObject = { type: 'string' };
  for (let level = 0; level < 500; level++) deep = { type: 'array', items: deep };
  assert.ok(JSON.stringify(simple(deep)).length < 2000);
});

test('lost keywords that restricted the data are noted, others are not', () => {
  const lossless = {
    $schema: 's',
    $comment: 'c',
    type: 'object',
    properties: { a: { type: 'string', readOnly: true } },
    additionalProperties: false,
    'x-order': 1,
  };
  assert.deepEqual(declare(lossless).notes, []);
  const lossy = {
    type: 'object',
    properties: { a: { type: 'number', multipleOf: 5, exclusiveMinimum: 0 } },
    patternProperties: { '^b': {} },
    additionalProperties: { type: 'string' },
  };
  assert.deepEqual(encodeSchema(lossy).lost, [
    'patternProperties',
    'additionalProperties',
    'multipleOf',
    'exclusiveMinimum/exclusiveMaximum',
  ]);
  assert.deepEqual(declare(lossy).notes, ['adapted tools']);
});

test('parameters are an object with properties, or absent', () => {
  assert.deepEqual(declare({ type: 'object', properties: {} }).declaration, { name: 'f' });
  assert.deepEqual(declare({}).declaration, { name: 'f' });
  const variant = (name: string) => ({
    type: 'object',
    properties: { kind: { type: 'string' }, [name]: { type: 'string' } },
    required: ['kind', name],
  });
  assert.deepEqual(declare({ oneOf: [variant('a'), variant('b')] }), {
    declaration: {
      name: 'f',
      parameters: {
        type: 'OBJECT',
        properties: { kind: { type: 'STRING' }, a: { type: 'STRING' }, b: { type: 'STRING' } },
        required: ['kind'],
      },
    },
    notes: ['adapted tools'],
  });
});

test('names that the vendor refuses are mapped everywhere in the same way, and can be mapped back', () => {
  const name = '1 weather/now';
  const { body, toolNames } = encode({
    tools: [tool(name), tool('fine.name:x-1')],
    toolChoice: { kind: 'function', name },
    turns: [
      { role: 'user', parts: [{ kind: 'text', text: 'q' }] },
      { role: 'assistant', parts: [{ kind: 'tool-call', id: '1', name, arguments: '' }] },
      { role: 'user', parts: [{ kind: 'tool-result', callId: '1', content: [], isError: false }] },
    ],
  });
  const [wire] = [...(toolNames ?? [])].find(([, client]) => client === name) ?? [];
  assert.match(wire ?? '', /^[A-Za-z_][A-Za-z0-9_.:-]{0,63}$/);
  assert.equal(JSON.stringify(body).split(`"${wire}"`).length - 1, 4);
  assert.equal(toolNames?.size, 1);
});

test('choices', () => {
  const tools = [tool('f'), tool('g')];
  const choose = (toolChoice: InferenceRequest['toolChoice'], offered: readonly Tool[] = tools): unknown => {
    const { body, notes } = encode({ tools: offered, ...(toolChoice === undefined ? {} : { toolChoice }) });
    const declared = (body.tools as { functionDeclarations?: { name: string }[] }[] | undefined)?.[0]?.functionDeclarations ?? [];
    return [
      (body.toolConfig as { functionCallingConfig?: unknown } | undefined)?.functionCallingConfig,
      declared.map(({ name }) => name).join(),
      notes.join(),
    ];
  };
  assert.deepEqual(choose(undefined), [undefined, 'f,g', '']);
  assert.deepEqual(choose({ kind: 'auto' }), [{ mode: 'AUTO' }, 'f,g', '']);
  assert.deepEqual(choose({ kind: 'required' }), [{ mode: 'ANY' }, 'f,g', '']);
  assert.deepEqual(choose({ kind: 'none' }), [{ mode: 'NONE' }, 'f,g', '']);
  assert.deepEqual(choose({ kind: 'function', name: 'g' }), [{ mode: 'ANY', allowedFunctionNames: ['g'] }, 'f,g', '']);
  assert.deepEqual(choose({ kind: 'allowed', names: ['g'], required: true }), [{ mode: 'ANY', allowedFunctionNames: ['g'] }, 'f,g', '']);
  assert.deepEqual(choose({ kind: 'allowed', names: ['g'], required: false }), [
    { mode: 'AUTO' },
    'g',
    'adapted toolConfig.functionCallingConfig',
  ]);
  assert.deepEqual(choose({ kind: 'required' }, [{ kind: 'web-search' }]), [undefined, '', 'dropped toolConfig.functionCallingConfig']);
});

test('tools of the vendor are written', () => {
  const { body, notes } = encode({
    tools: [{ kind: 'web-search', maxUses: 3, allowedDomains: [], path: 'tools.0' }, { kind: 'code-execution' }],
  });
  assert.deepEqual([body.tools, notes], [[{ googleSearch: {} }, { codeExecution: {} }], ['dropped tools.0']]);
  const vendorTool: Tool = { kind: 'vendor', name: 'computer', wire: {}, path: 'tools.0' };
  assert.throws(() => encode({ tools: [vendorTool] }), { code: 'untranslatable_field', param: 'tools.0' });
});

test('tools that this model lacks are left out with a note, because agents offer them with every call', () => {
  const offered: readonly (readonly [Tool, Partial<ModelTraits>])[] = [
    [{ kind: 'web-search', path: 'tools.1' }, { webSearch: false }],
    [{ kind: 'code-execution', path: 'tools.1' }, { codeExecution: false }],
    [{ kind: 'web-search', path: 'tools.1' }, { mixesTools: false }],
    [{ kind: 'code-execution', path: 'tools.1' }, { mixesTools: false }],
  ];
  for (const [hosted, differences] of offered) {
    const { body, notes } = encode({ tools: [tool('f'), hosted] }, differences);
    assert.deepEqual([(body.tools as readonly unknown[]).length, notes], [1, ['dropped tools.1']]);
  }
  const alone = encode({ tools: [{ kind: 'web-search' }] }, { mixesTools: false });
  assert.deepEqual([alone.body.tools, alone.notes], [[{ googleSearch: {} }], []]);
});

test('a model that accepts only functions gets a request for JSON in text, or by a function', () => {
  const words = encode({ tools: [tool('f')], outputFormat: { kind: 'json' } }, { mixesTools: false });
  assert.deepEqual([words.body.generationConfig, words.notes], [undefined, ['emulated generationConfig.responseMimeType']]);
  const schema = { type: 'object', properties: { a: { type: 'string' } } };
  const called = encode({ tools: [tool('f')], outputFormat: { kind: 'json-schema', schema } }, { mixesTools: false });
  assert.deepEqual([called.body.generationConfig, called.notes], [undefined, ['emulated generationConfig.responseMimeType']]);
});

test('the vendor cannot limit calls to one at a time, so the gateway does', () => {
  assert.deepEqual(encode({ tools: [tool('f')], parallelToolCalls: false }).notes, ['emulated parallelToolCalls']);
  assert.deepEqual(encode({ tools: [tool('f')], parallelToolCalls: true }).notes, []);
  assert.deepEqual(encode({ parallelToolCalls: false }).notes, []);
});

test('structured output is the full schema, the subset, or a function whose arguments are the answer', () => {
  const schema = { type: 'object', properties: { a: { const: 'x' } }, additionalProperties: false };
  const format = { kind: 'json-schema', schema, name: 'n', strict: true } as const;
  const configOf = (members: Partial<InferenceRequest>, differences: Partial<ModelTraits> = {}): unknown =>
    encode(members, differences).body.generationConfig;
  const responseMimeType = 'application/json';
  assert.deepEqual(configOf({ outputFormat: { kind: 'json' } }), { responseMimeType });
  assert.deepEqual(configOf({ outputFormat: format }), { responseMimeType, responseJsonSchema: schema });
  assert.deepEqual(configOf({ outputFormat: format }, subset), {
    responseMimeType,
    responseSchema: { type: 'OBJECT', properties: { a: { type: 'STRING', enum: ['x'] } } },
  });
  const { body, answerTool, notes } = encode({ outputFormat: format, tools: [tool('final_answer')] }, { structuredOutput: false });
  assert.deepEqual([answerTool, notes], ['final_answer_', ['emulated generationConfig.responseMimeType']]);
  assert.deepEqual(body.toolConfig, { functionCallingConfig: { mode: 'ANY' } });
  const alone = encode({ outputFormat: format }, { structuredOutput: false });
  assert.deepEqual(alone.body.toolConfig, { functionCallingConfig: { mode: 'ANY', allowedFunctionNames: ['final_answer'] } });
  assert.equal(alone.body.generationConfig, undefined);
});

import assert from 'node:assert/strict';
import { test } from 'node:test';

import type { OutputFormat, Tool, Turn } from '../../../inference/inference-request.ts';
import { textOf } from '../../../platform/json/json-readers.ts';
import type { JsonObject } from '../../../platform/json/json-value.ts';
import type { NotedRequest } from '../../testing/fake-translation.ts';
import { fitAnswerSchema } from './fit-schema.ts';
import { encode } from './testing/test-kit.ts';

const f: Tool = { kind: 'function', name: 'f', parameters: { type: 'object' }, path: 'tools.0' };
const g: Tool = { kind: 'function', name: 'g', parameters: { type: 'object' }, path: 'tools.1' };
const namesOf = ({ body }: NotedRequest): unknown[] => (body.tools as JsonObject[] | undefined)?.map(({ name }) => name) ?? [];

test('functions have names, descriptions, and always a schema of an object', () => {
  const { body } = encode({
    tools: [f, { kind: 'function', name: 'h', description: 'd' }, { kind: 'function', name: 'i', parameters: {} }],
  });
  assert.deepEqual(body.tools, [
    { name: 'f', input_schema: { type: 'object' } },
    { name: 'h', description: 'd', input_schema: { type: 'object', properties: {} } },
    { name: 'i', input_schema: { type: 'object' } },
  ]);
});

test('alternatives at the top of a schema are merged', () => {
  const choice = (name: string): JsonObject => ({ type: 'object', properties: { [name]: {}, kind: {} }, required: [name, 'kind'] });
  const parameters = { anyOf: [choice('a'), choice('b')], allOf: [{ properties: { c: {} }, required: ['c'] }] };
  const { body, notes } = encode({ tools: [{ ...f, parameters }] });
  assert.deepEqual(body.tools, [
    { name: 'f', input_schema: { type: 'object', properties: { a: {}, kind: {}, b: {}, c: {} }, required: ['c', 'kind'] } },
  ]);
  assert.deepEqual(notes, ['adapted tools.0']);
});

test('names that the vendor refuses are replaced everywhere, with a mapping back', () => {
  const turns: readonly Turn[] = [
    { role: 'user', parts: [{ kind: 'text', text: 'Hi' }] },
    { role: 'assistant', parts: [{ kind: 'tool-call', id: 'a', name: 'my.tool', arguments: '{}' }] },
    { role: 'user', parts: [{ kind: 'tool-result', callId: 'a', content: [], isError: false }] },
  ];
  const encoded = encode({ turns, tools: [{ ...f, name: 'my.tool' }], toolChoice: { kind: 'function', name: 'my.tool' } });
  const [sent] = namesOf(encoded);
  assert.match(String(sent), /^[a-zA-Z0-9_-]{1,128}$/);
  assert.deepEqual(encoded.toolNames, new Map([[sent, 'my.tool']]));
  assert.deepEqual(encoded.body.tool_choice, { type: 'tool', name: sent });
  assert.ok(JSON.stringify(encoded.body.messages).includes(`"name":"${String(sent)}"`));
});

for (const [choice, sent] of [
  [{ kind: 'auto' }, { type: 'auto' }],
  [{ kind: 'none' }, { type: 'none' }],
  [{ kind: 'required' }, { type: 'any' }],
  [
    { kind: 'function', name: 'g' },
    { type: 'tool', name: 'g' },
  ],
] as const) {
  test(`tool choice ${choice.kind} is written`, () => {
    assert.deepEqual(encode({ tools: [f, g], toolChoice: choice }).body.tool_choice, sent);
  });
}

test('for a choice of several functions, only those are sent', () => {
  const allowed = encode({ tools: [f, g], toolChoice: { kind: 'allowed', names: ['g'], required: true } });
  assert.deepEqual([namesOf(allowed), allowed.body.tool_choice], [['g'], { type: 'any' }]);
});

test('parallel calls are switched off within the choice, except for none', () => {
  assert.deepEqual(encode({ tools: [f], parallelToolCalls: false }).body.tool_choice, { type: 'auto', disable_parallel_tool_use: true });
  assert.deepEqual(encode({ tools: [f], parallelToolCalls: true }).body.tool_choice, undefined);
  assert.deepEqual(encode({ tools: [f], toolChoice: { kind: 'none' }, parallelToolCalls: false }).body.tool_choice, { type: 'none' });
  assert.deepEqual(encode({ parallelToolCalls: false }).body.tool_choice, undefined);
});

test('a choice without tools is left out, and a choice of an unknown tool is refused', () => {
  const nothing = encode({ toolChoice: { kind: 'required' } });
  assert.deepEqual([nothing.body.tool_choice, nothing.notes], [undefined, ['dropped tool_choice']]);
  assert.throws(() => encode({ tools: [f], toolChoice: { kind: 'function', name: 'x' } }), { param: 'tool_choice' });
});

test('calls in the history without tools are described and cannot be called', () => {
  const turns: readonly Turn[] = [
    { role: 'user', parts: [{ kind: 'text', text: 'Hi' }] },
    { role: 'assistant', parts: [{ kind: 'tool-call', id: 'a', name: 'f', arguments: '{}' }] },
    { role: 'user', parts: [{ kind: 'tool-result', callId: 'a', content: [], isError: false }] },
  ];
  const { body } = encode({ turns });
  assert.deepEqual([body.tools, body.tool_choice], [[{ name: 'f', input_schema: { type: 'object' } }], { type: 'none' }]);
});

test('strict functions are strict at the vendor if the model supports it', () => {
  const strict: Tool = { ...f, strict: true };
  assert.deepEqual(encode({ tools: [strict] }).body.tools, [
    { name: 'f', input_schema: { type: 'object', additionalProperties: false }, strict: true },
  ]);
  const loose = encode({ tools: [strict] }, { structuredOutput: false });
  assert.deepEqual([loose.body.tools, loose.notes], [[{ name: 'f', input_schema: { type: 'object' } }], ['adapted tools.0']]);
  assert.ok(!JSON.stringify(encode({ tools: [{ ...f, strict: false }] }).body.tools).includes('strict'), 'never added');
});

test('web search is written with the settings that the vendor has', () => {
  const search: Tool = {
    kind: 'web-search',
    maxUses: 2,
    allowedDomains: ['a.example'],
    blockedDomains: ['b.example'],
    contextSize: 'high',
    userLocation: { city: 'Ghent' },
    path: 'tools.0',
  };
  const { body, notes } = encode({ tools: [search] });
  assert.deepEqual(body.tools, [
    {
      type: 'web_search_20250305',
      name: 'web_search',
      max_uses: 2,
      allowed_domains: ['a.example'],
      user_location: { type: 'approximate', city: 'Ghent' },
    },
  ]);
  assert.deepEqual(notes, ['dropped tools.0']);
});

test('a function with the name of a vendor’s tool gets another name beside it', () => {
  const search: Tool = { ...f, name: 'web_search' };
  const beside = encode({ tools: [search, { kind: 'web-search' }] });
  assert.deepEqual(namesOf(beside), ['web_search_function', 'web_search']);
  assert.deepEqual(beside.toolNames, new Map([['web_search_function', 'web_search']]));
  assert.deepEqual(namesOf(encode({ tools: [search] })), ['web_search']);
});

test('tools that the upstream lacks are left out with a note; other vendors’ tools are refused', () => {
  const without = encode(
    {
      tools: [
        { kind: 'web-search', path: 'tools.0' },
        { kind: 'code-execution', path: 'tools.1' },
      ],
    },
    { webSearch: false, codeExecution: false },
  );
  assert.deepEqual([without.body.tools, without.notes], [undefined, ['dropped tools.0', 'dropped tools.1']]);
  assert.throws(() => encode({ tools: [{ kind: 'vendor', name: 'file_search', wire: {}, path: 'tools.3' }] }), { param: 'tools.3' });
});

const schema: JsonObject = { type: 'object', properties: { a: { type: 'string' } }, required: ['a'], additionalProperties: false };
const format: OutputFormat = { kind: 'json-schema', name: 'reply', description: 'The reply.', schema, strict: true };

test('structured output uses the vendor’s own if the model has it', () => {
  const { body, notes, answerTool } = encode({ outputFormat: format });
  assert.deepEqual(body.output_config, { format: { type: 'json_schema', schema: { description: 'The reply.', ...schema } } });
  assert.deepEqual([notes, answerTool], [[], undefined]);
});

test('for structured output, schemas are closed, and unsupported rules become descriptions', () => {
  const { notes } = encode({ outputFormat: { kind: 'json-schema', schema: { type: 'object' } } });
  assert.deepEqual(notes, ['adapted output_config.format']);
  assert.deepEqual(
    fitAnswerSchema({
      $schema: 'https://json-schema.org/draft/2020-12/schema',
      type: 'object',
      additionalProperties: true,
      properties: {
        n: { type: 'integer', minimum: 1, maximum: 5, description: 'A number.' },
        s: { type: 'string', format: 'email', pattern: 'x' },
        l: { type: 'array', items: { oneOf: [{ $ref: '#/$defs/d' }, { type: 'null' }] }, minItems: 1, maxItems: 3 },
      },
      $defs: { d: { type: 'object', properties: { minimum: { type: 'number' } } } },
    }),
    {
      type: 'object',
      properties: {
        n: { type: 'integer', description: 'A number.\n\n{minimum: 1, maximum: 5}' },
        s: { type: 'string', format: 'email', description: '{pattern: "x"}' },
        l: { type: 'array', items: { anyOf: [{ $ref: '#/$defs/d' }, { type: 'null' }] }, minItems: 1, description: '{maxItems: 3}' },
      },
      $defs: { d: { type: 'object', properties: { minimum: { type: 'number' } }, additionalProperties: false } },
      additionalProperties: false,
    },
  );
  assert.equal(fitAnswerSchema(schema), schema);
});

const older = { structuredOutput: false };

test('for models without structured output, a forced tool replaces it', () => {
  const { body, notes, answerTool } = encode({ outputFormat: format }, older);
  assert.equal(answerTool, 'reply');
  assert.deepEqual(body.tool_choice, { type: 'tool', name: 'reply', disable_parallel_tool_use: true });
  assert.deepEqual((body.tools as JsonObject[])[0]?.input_schema, schema);
  assert.deepEqual([body.output_config, notes], [undefined, ['emulated output_config.format']]);
});

test('structured output beside tools becomes a choice between them and the answer, and names never collide', () => {
  const beside = encode({ outputFormat: { ...format, name: 'f' }, tools: [f] }, older);
  assert.deepEqual([namesOf(beside), beside.answerTool], [['f', 'f_answer'], 'f_answer']);
  assert.deepEqual(beside.body.tool_choice, { type: 'any', disable_parallel_tool_use: true });
  const answered = encode({ outputFormat: format, tools: [f], toolChoice: { kind: 'none' } }, older);
  assert.deepEqual(answered.body.tool_choice, { type: 'tool', name: 'reply', disable_parallel_tool_use: true });
  const forced = encode({ outputFormat: format, tools: [f], toolChoice: { kind: 'required' } }, older);
  assert.deepEqual([forced.answerTool, forced.body.tool_choice], [undefined, { type: 'any' }]);
});

test('structured output takes precedence over thinking', () => {
  const { body, notes } = encode({ outputFormat: format, reasoning: { mode: 'on', budgetTokens: 2000 } }, older);
  assert.deepEqual([body.thinking, notes], [{ type: 'disabled' }, ['emulated output_config.format', 'adapted thinking']]);
});

test('JSON without a schema, and a schema that is not of an object, are requested in text', () => {
  const plain = encode({ outputFormat: { kind: 'json' }, instructions: [{ kind: 'text', text: 'Be brief.' }] });
  assert.match(textOf(plain.body.system) ?? '', /^Be brief\.\n\nAnswer with one JSON object/);
  assert.deepEqual(plain.notes, ['emulated output_config.format']);
  const list = encode({ outputFormat: { kind: 'json-schema', schema: { type: 'array' } } }, older);
  assert.match(textOf(list.body.system) ?? '', /schema .*\n\{"type":"array"\}$/);
  assert.deepEqual([list.answerTool, list.notes], [undefined, ['emulated output_config.format']]);
});

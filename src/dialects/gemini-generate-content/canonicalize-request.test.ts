import assert from 'node:assert/strict';
import { test } from 'node:test';

import type { JsonObject } from '../../platform/json/json-value.ts';
import { canonicalizeRequest } from './canonicalize-request.ts';
import { requestSchema } from './request-schema.ts';

function canonicalize(body: JsonObject): JsonObject {
  return canonicalizeRequest(body, requestSchema('generate', 'compatible'), true);
}

test('members of the format get their canonical names, and null counts as absent', () => {
  const body = { contents: { parts: { text: 'Hello' } }, generation_config: { max_output_tokens: '5', top_k: null } };
  assert.deepEqual(canonicalize(body), { contents: [{ parts: [{ text: 'Hello' }] }], generationConfig: { maxOutputTokens: 5 } });
});

test('arguments and results are unchanged: nulls, names in snake_case, and names that the format uses elsewhere', () => {
  const free = { city_name: null, parts: { text: null }, systemInstruction: 'none', tools: { a: 1 }, count: '7', deep: { top_k: null } };
  const contents = [
    { role: 'model', parts: [{ functionCall: { name: 'f', args: free } }] },
    { role: 'user', parts: [{ functionResponse: { name: 'f', response: free } }] },
  ];
  assert.deepEqual(canonicalize({ contents }), { contents });
});

test('a JSON Schema of parameters is unchanged, including null among its values', () => {
  const schema = { type: ['string', 'null'], enum: ['a', null], default: null, properties: { tools: { const: null } } };
  const tools = [{ functionDeclarations: [{ name: 'f', parametersJsonSchema: schema }] }];
  const contents = [{ parts: [{ text: 'Hello' }] }];
  assert.deepEqual(canonicalize({ contents, tools }), { contents, tools });
});

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { JsonObject } from '../../../platform/json/json-value.ts';
import { decode } from './testing/test-kit.ts';

test('tools of every kind are read, and several forms of a search become one', () => {
  const { tools, vendorFields } = decode({
    tools: [
      {
        functionDeclarations: [
          {
            name: 'f',
            description: 'F',
            parameters: {
              type: 'object',
              properties: { a: { type: 'STRING', nullable: true }, b: { type: 'ARRAY', items: { type: 'INTEGER', format: 'int32' } } },
            },
          },
          { name: 'g', parametersJsonSchema: { type: 'object', additionalProperties: false } },
          { name: 'h' },
        ],
      },
      { google_search: { timeRangeFilter: { startTime: 's', endTime: 'e' } }, codeExecution: {} },
      { vendor_search_retrieval: { dynamicRetrievalConfig: { dynamicThreshold: 0.5 } } },
      { url_context: {} },
    ],
  });
  assert.deepEqual(
    tools.map((tool) => ({ ...tool, path: undefined })),
    [
      {
        kind: 'function',
        name: 'f',
        description: 'F',
        parameters: { type: 'object', properties: { a: { type: ['string', 'null'] }, b: { type: 'array', items: { type: 'integer' } } } },
        path: undefined,
      },
      { kind: 'function', name: 'g', parameters: { type: 'object', additionalProperties: false }, path: undefined },
      { kind: 'function', name: 'h', path: undefined },
      { kind: 'web-search', path: undefined },
      { kind: 'code-execution', path: undefined },
      { kind: 'url-context', path: undefined },
    ],
  );
  assert.deepEqual(
    vendorFields.map(({ field, weight }) => [field, weight]),
    [
      ['tools[1].googleSearch.timeRangeFilter', 'matters'],
      ['tools[2].googleSearchRetrieval.dynamicRetrievalConfig', 'matters'],
    ],
  );
});

test('modes of function calling are read', () => {
  const cases: readonly (readonly [config: JsonObject, expected: unknown])[] = [
    [{}, undefined],
    [{ mode: 'MODE_UNSPECIFIED' }, undefined],
    [{ mode: 'AUTO' }, { kind: 'auto' }],
    [{ mode: 'VALIDATED' }, { kind: 'auto' }],
    [
      { mode: 'VALIDATED', allowedFunctionNames: ['f'] },
      { kind: 'allowed', names: ['f'], required: false },
    ],
    [{ mode: 'NONE' }, { kind: 'none' }],
    [{ mode: 'ANY' }, { kind: 'required' }],
    [
      { mode: 'ANY', allowedFunctionNames: ['f'] },
      { kind: 'function', name: 'f' },
    ],
    [
      { mode: 'ANY', allowedFunctionNames: ['f', 'g'] },
      { kind: 'allowed', names: ['f', 'g'], required: true },
    ],
  ];
  for (const [functionCallingConfig, expected] of cases) {
    assert.deepEqual(decode({ toolConfig: { functionCallingConfig } }).toolChoice, expected, JSON.stringify(functionCallingConfig));
  }
});

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { geminiGenerateContent } from './gemini-generate-content.ts';

const factsOf = (body: object, options: object = {}) =>
  geminiGenerateContent.readFacts({ operation: 'generate', body: body as never, headers: {}, pathModel: 'm', ...options });

const contents = [{ parts: [{ text: 'hello' }] }];

test('the model and the stream come from the address', () => {
  assert.deepEqual(factsOf({ contents }), { requestedModel: 'm', stream: false, inputCharacters: 5, needs: [] });
  for (const pathModel of ['models/m', 'models/models/m']) assert.equal(factsOf({ contents }, { pathModel }).requestedModel, 'm');
  for (const pathFraming of ['sse', 'json-array']) assert.equal(factsOf({ contents }, { pathFraming }).stream, true);
});

test('the limit of output applies to each candidate, in any spelling', () => {
  assert.equal(factsOf({ contents, generation_config: { max_output_tokens: '100', candidateCount: 3 } }).outputTokensMax, 300);
  assert.equal(factsOf({ contents, generationConfig: { maxOutputTokens: null } }).outputTokensMax, undefined);
});

test('inline media and thought signatures are not text, in either spelling', () => {
  const media = 'A'.repeat(9000);
  const parts = [
    { inline_data: { mime_type: 'image/png', data: media } },
    { text: 'x', thought_signature: media },
    { text: '', thoughtSignature: media },
  ];
  assert.ok(factsOf({ contents: { parts } }).inputCharacters < 50);
});

test('a counted request is read inside a count', () => {
  const facts = factsOf({ generate_content_request: { model: 'models/x', contents } }, { operation: 'count-tokens', pathModel: undefined });
  assert.deepEqual([facts.requestedModel, facts.inputCharacters], ['x', 5]);
});

test('built-in tools are read in any spelling, each kind once', () => {
  const rows: readonly (readonly [tools: unknown, expected: readonly string[] | undefined])[] = [
    [undefined, undefined],
    [[], undefined],
    [[{ functionDeclarations: [{ name: 'f' }] }, { fileSearch: {} }, { google_search: null }], undefined],
    ...['googleSearch', 'google_search', 'vendor_search', 'vendorSearch', 'googleSearchRetrieval', 'google_search_retrieval'].map(
      (name) => [[{ [name]: {} }], ['web-search']] as const,
    ),
    [{ vendor_search_retrieval: { dynamic_retrieval_config: { mode: 'MODE_DYNAMIC' } } }, ['web-search']],
    [
      [{ code_execution: {}, url_context: {} }, { codeExecution: {} }, { google_search: {} }],
      ['code-execution', 'url-context', 'web-search'],
    ],
  ];
  for (const [tools, expected] of rows) assert.deepEqual(factsOf({ contents, tools }).builtInTools, expected, JSON.stringify(tools));
  const counted = { generate_content_request: { model: 'models/x', contents, tools: [{ urlContext: {} }] } };
  assert.deepEqual(factsOf(counted, { operation: 'count-tokens' }).builtInTools, ['url-context']);
});

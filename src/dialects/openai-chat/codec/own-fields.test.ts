import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { JsonObject } from '../../../platform/json/json-value.ts';
import { decodeRequest } from './decode-request.ts';
import { encode } from './testing/test-kit.ts';

const messages = [{ role: 'user', content: 'Hi' }];

/** A client's request after decoding and encoding for a server of the same dialect. */
const again = (body: JsonObject): { readonly body: JsonObject; readonly notes: readonly string[] } =>
  encode(decodeRequest({ operation: 'generate', body: { model: 'm', messages, ...body }, headers: {} }));

const cases: Readonly<Record<string, JsonObject>> = {
  'fields of the vendor and of servers': {
    logit_bias: { 5: 1 },
    metadata: { a: 'b' },
    store: true,
    prompt_cache_key: 'k',
    min_p: 0.1,
    chat_template_kwargs: { style: 'short' },
    response_format: { type: 'grammar', grammar: 'root ::= "a"' },
  },
  'all fields for reasoning': {
    chat_template_kwargs: { enable_thinking: true, thinking_style: 'short' },
    thinking: { type: 'enabled', budget_tokens: 1024, display: 'none' },
    reasoning_effort: 'low',
  },
  'a search with its options': {
    web_search_options: {
      search_context_size: 'high',
      user_location: { type: 'approximate', approximate: { city: 'Bern', country: 'CH' } },
    },
  },
  'tools that a server runs': {
    tools: [{ type: 'function', function: { name: 'f', parameters: { type: 'object', properties: {} } } }, { type: 'browser_search' }],
  },
  'parts that no other dialect has': {
    messages: [
      {
        role: 'user',
        content: [
          { type: 'text', text: 'Look' },
          { type: 'point_cloud', url: 'https://a.example' },
        ],
      },
    ],
  },
};

for (const [what, body] of Object.entries(cases)) {
  test(`a request of this dialect that is encoded again keeps ${what}`, () => {
    const { body: written, notes } = again(body);
    assert.deepEqual(written, { model: 'm-1', messages, ...body });
    assert.deepEqual(notes, []);
  });
}

test('members of the gateway override those of the client', () => {
  const { body } = again({ stream: true, stream_options: { include_usage: false, include_obfuscation: false } });
  assert.deepEqual([body.model, body.stream_options], ['m-1', { include_usage: true }]);
});

test('fields that a translated reply cannot contain are not requested', () => {
  const { body, notes } = again({ top_logprobs: 2 });
  assert.deepEqual(body, { model: 'm-1', messages });
  assert.deepEqual(notes, ['dropped top_logprobs']);
  const passed = again({ logprobs: true, top_logprobs: 2 });
  assert.deepEqual([passed.body, passed.notes], [{ model: 'm-1', messages, logprobs: true, top_logprobs: 2 }, []]);
  assert.throws(() => again({ tools: [{ type: 'custom', custom: { name: 'c' } }] }), { code: 'untranslatable_field', param: 'tools[0]' });
});

test('a request of another dialect has no own fields', () => {
  const { body, notes } = encode({
    dialect: 'gemini-generate-content',
    vendorFields: [
      { field: 'labels', value: { a: 'b' }, weight: 'harmless' },
      { field: 'safetySettings', value: [], weight: 'matters' },
    ],
  });
  assert.equal('labels' in body || 'safetySettings' in body, false);
  assert.deepEqual(notes, ['dropped safetySettings']);
  const tool = { kind: 'vendor', name: 'googleMaps', wire: { googleMaps: {} }, path: 'tools[0]' } as const;
  assert.throws(() => encode({ dialect: 'gemini-generate-content', tools: [tool] }), { code: 'untranslatable_field' });
});

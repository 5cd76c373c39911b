import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { JsonObject } from '../../../platform/json/json-value.ts';
import { decodeRequest } from './decode-request.ts';
import { encode } from './testing/test-kit.ts';

const messages = [{ role: 'user', content: 'Hi' }];

/** What a client wrote, read and written again for a server of the same dialect. */
const again = (body: JsonObject): { readonly body: JsonObject; readonly notes: readonly string[] } =>
  encode(decodeRequest({ operation: 'generate', body: { model: 'm', messages, ...body }, headers: {} }));

const kept: Readonly<Record<string, JsonObject>> = {
  'fields of the vendor’s and of servers': {
    logit_bias: { 5: 1 },
    metadata: { a: 'b' },
    store: true,
    prompt_cache_key: 'k',
    min_p: 0.1,
    chat_template_kwargs: { style: 'short' },
    response_format: { type: 'grammar', grammar: 'root ::= "a"' },
  },
  'the ways to ask for thinking': {
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
  'parts that no other dialect knows': {
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

for (const [what, body] of Object.entries(kept)) {
  test(`a request of this dialect that is written again keeps ${what}`, () => {
    const { body: written, notes } = again(body);
    assert.deepEqual(written, { model: 'm-1', messages, ...body });
    assert.deepEqual(notes, []);
  });
}

test('what is written anew stands above what the client wrote', () => {
  const { body } = again({ stream: true, stream_options: { include_usage: false, include_obfuscation: false } });
  assert.deepEqual([body.model, body.stream_options], ['m-1', { include_usage: true }]);
});

test('what a reply that is written again cannot carry is not asked for', () => {
  const { body, notes } = again({ top_logprobs: 2 });
  assert.deepEqual(body, { model: 'm-1', messages });
  assert.deepEqual(notes, ['dropped top_logprobs']);
  const whole = again({ logprobs: true, top_logprobs: 2 });
  assert.deepEqual([whole.body, whole.notes], [{ model: 'm-1', messages, logprobs: true, top_logprobs: 2 }, []]);
  assert.throws(() => again({ tools: [{ type: 'custom', custom: { name: 'c' } }] }), { code: 'untranslatable_field', param: 'tools[0]' });
});

test('a request of another dialect brings nothing of its own', () => {
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

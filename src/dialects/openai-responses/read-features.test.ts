import assert from 'node:assert/strict';
import { describe, test } from 'node:test';

import type { JsonObject } from '../../platform/json/json-value.ts';
import { readConversation, readFeatures } from './read-features.ts';

const request = (body: JsonObject) => ({ operation: 'generate', body, headers: {} }) as const;
const user = (content: JsonObject[string]): JsonObject => ({ role: 'user', content: content ?? null });
const none = { images: false, documents: false, audio: false, tools: false };

describe('features', () => {
  const image = { type: 'input_image', image_url: 'https://example.com/a.png' };
  for (const [name, body, expected] of [
    ['plain text', { input: 'an input_image' }, {}],
    ['an image', { input: [user([{ type: 'input_text', text: 'x' }, image])] }, { images: true }],
    [
      'an image in the output of a function',
      { input: [{ type: 'function_call_output', call_id: 'c', output: [image] }] },
      { images: true },
    ],
    ['a text in the output of a function', { input: [{ type: 'function_call_output', call_id: 'c', output: 'input_image' }] }, {}],
    [
      'a screenshot',
      { input: [{ type: 'computer_call_output', output: { type: 'computer_screenshot', image_url: 'data:' } }] },
      { images: true },
    ],
    ['a file', { input: [user([{ type: 'input_file', file_id: 'f' }])] }, { documents: true }],
    ['sound', { input: [user([{ type: 'input_audio', input_audio: {} }])] }, { audio: true }],
    ['tools', { input: 'x', tools: [{ type: 'web_search' }] }, { tools: true }],
    ['an empty request', {}, {}],
  ] as const) {
    test(`the features of ${name} are read`, () => assert.deepEqual(readFeatures(request(body)), { ...none, ...expected }));
  }
});

describe('the conversation', () => {
  const opening = { instructions: 'be brief', input: 'hello', tools: [{ type: 'function', name: 'read' }] };
  const of = (body: JsonObject): string => readConversation(request(body));

  test('stays the same while the conversation grows, in any form of its text', () => {
    const grown = {
      ...opening,
      input: [
        user([{ type: 'input_text', text: 'hello' }]),
        { type: 'reasoning', id: 'rs_1' },
        { type: 'message', role: 'assistant', content: 'hi' },
      ],
    };
    assert.equal(of(grown), of(opening));
    assert.equal(of({ ...opening, instructions: null, input: [{ role: 'developer', content: 'be brief' }, user('hello')] }), of(opening));
    assert.equal(of({ ...opening, user: 'alice', safety_identifier: 'alice' }), of(opening));
  });

  test('differs if the beginning differs', () => {
    const others = [
      { ...opening, instructions: 'be long' },
      { ...opening, input: 'hello there' },
      { ...opening, tools: [{ type: 'web_search' }] },
    ];
    assert.equal(new Set([opening, ...others].map(of)).size, others.length + 1);
  });

  test('is the cache key or the conversation that the client names', () => {
    for (const named of [{ prompt_cache_key: 'k' }, { conversation: 'conv_1' }, { conversation: { id: 'conv_1' } }]) {
      assert.equal(of({ ...opening, ...named }), of({ input: 'other', ...named }));
      assert.notEqual(of({ ...opening, ...named }), of(opening));
    }
    assert.equal(of({ conversation: 'conv_1' }), of({ conversation: { id: 'conv_1' } }));
  });

  test('is read from a bounded part of a huge request', () => {
    const huge = 'x'.repeat(10_000_000);
    assert.ok(of({ instructions: huge, input: Array.from({ length: 1000 }, () => ({ role: 'system', content: huge })) }).length < 8000);
    for (const body of [{}, { input: [] }, { input: [null] }, { input: [{ type: 'item_reference', id: 'x' }] }])
      assert.equal(typeof of(body), 'string');
  });
});

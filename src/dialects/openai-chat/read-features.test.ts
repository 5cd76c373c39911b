import assert from 'node:assert/strict';
import { describe, test } from 'node:test';

import type { JsonObject } from '../../platform/json/json-value.ts';
import { readConversation, readFeatures } from './read-features.ts';

const request = (body: JsonObject) => ({ operation: 'generate', body, headers: {} }) as const;
const user = (content: JsonObject[string]): JsonObject => ({ role: 'user', content: content ?? null });
const none = { images: false, documents: false, audio: false, tools: false };

describe('features', () => {
  for (const [name, body, expected] of [
    ['plain text', { messages: [user('an image_url')] }, {}],
    ['an image', { messages: [user([{ type: 'image_url', image_url: { url: 'data:' } }])] }, { images: true }],
    ['a video of compatible servers', { messages: [user([{ type: 'video_url', video_url: { url: 'https://x' } }])] }, { images: true }],
    ['sound', { messages: [user([{ type: 'input_audio', input_audio: { data: '', format: 'wav' } }])] }, { audio: true }],
    ['a spoken answer', { messages: [user('x')], modalities: ['text', 'audio'] }, { audio: true }],
    ['an earlier spoken answer', { messages: [user('x'), { role: 'assistant', audio: { id: 'audio_1' } }] }, { audio: true }],
    ['a request for text only', { messages: [user('x')], modalities: ['text'] }, {}],
    ['a file', { messages: [user([{ type: 'file', file: { file_id: 'f' } }])] }, { documents: true }],
    ['tools', { messages: [user('x')], tools: [{ type: 'function', function: { name: 'f' } }] }, { tools: true }],
    ['the older functions', { messages: [user('x')], functions: [{ name: 'f' }] }, { tools: true }],
    ['no tools', { messages: [user('x')], tools: [], functions: [] }, {}],
    ['an empty request', {}, {}],
  ] as const) {
    test(`the features of ${name} are read`, () => assert.deepEqual(readFeatures(request(body)), { ...none, ...expected }));
  }
});

describe('the conversation', () => {
  const system = { role: 'system', content: 'be brief' };
  const opening = { messages: [system, user('hello')], tools: [{ type: 'function', function: { name: 'read' } }] };
  const of = (body: JsonObject): string => readConversation(request(body));

  test('stays the same while the conversation grows, in any form of its text', () => {
    assert.equal(of({ ...opening, messages: [system, user('hello'), { role: 'assistant', content: 'hi' }, user('more')] }), of(opening));
    assert.equal(
      of({ ...opening, messages: [{ role: 'developer', content: 'be brief' }, user([{ type: 'text', text: 'hello' }])] }),
      of(opening),
    );
    assert.equal(of({ ...opening, user: 'alice', safety_identifier: 'alice', metadata: { a: 'b' } }), of(opening));
  });

  test('differs if the beginning differs', () => {
    const others = [
      { ...opening, messages: [{ role: 'system', content: 'be long' }, user('hello')] },
      { ...opening, messages: [system, user('hello there')] },
      { ...opening, messages: [user('be brief'), user('hello')] },
      { ...opening, tools: [{ type: 'custom', custom: { name: 'read2' } }] },
      { ...opening, messages: [system, user([{ type: 'image_url', image_url: { url: `data:image/png;base64,${'A'.repeat(900)}B` } }])] },
      { ...opening, messages: [system, user([{ type: 'image_url', image_url: { url: `data:image/png;base64,${'A'.repeat(900)}C` } }])] },
    ];
    assert.equal(new Set([opening, ...others].map(of)).size, others.length + 1);
  });

  test('is the cache key if the client names one', () => {
    assert.equal(of({ ...opening, prompt_cache_key: 'k' }), of({ messages: [user('other')], prompt_cache_key: 'k' }));
    assert.notEqual(of({ ...opening, prompt_cache_key: 'k' }), of({ ...opening, prompt_cache_key: 'l' }));
    assert.equal(of({ ...opening, prompt_cache_key: '' }), of(opening));
  });

  test('is read from a bounded part of a huge request', () => {
    const huge = 'x'.repeat(10_000_000);
    assert.ok(
      of({ messages: Array.from({ length: 1000 }, () => ({ role: 'system', content: huge })), prompt_cache_key: null }).length < 8000,
    );
    assert.ok(of({ prompt_cache_key: huge }).length < 8000);
    for (const body of [{}, { messages: [] }, { messages: [null] }, { messages: [user(null)] }]) assert.equal(typeof of(body), 'string');
  });
});

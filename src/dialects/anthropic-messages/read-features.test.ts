import assert from 'node:assert/strict';
import { describe, test } from 'node:test';

import type { JsonObject } from '../../platform/json/json-value.ts';
import { readConversation, readFeatures } from './read-features.ts';

const request = (body: JsonObject) => ({ operation: 'generate', body, headers: {} }) as const;
const turn = (role: string, content: JsonObject[string]): JsonObject => ({ role, content: content ?? null });
const none = { images: false, documents: false, audio: false, tools: false };

describe('features', () => {
  const image = { type: 'image', source: { type: 'url', url: 'https://example.com/a.png' } };
  const document = { type: 'document', source: { type: 'file', file_id: 'file_1' } };
  for (const [name, body, found] of [
    ['plain text', { messages: [turn('user', 'an image and a document')] }, {}],
    ['an image', { messages: [turn('user', [image])] }, { images: true }],
    ['an image in an earlier turn', { messages: [turn('user', [image]), turn('assistant', 'ok'), turn('user', 'so?')] }, { images: true }],
    ['a document', { messages: [turn('user', [{ type: 'text', text: 'x' }, document])] }, { documents: true }],
    ['an uploaded file', { messages: [turn('user', [{ type: 'container_upload', file_id: 'f' }])] }, { documents: true }],
    [
      'an image in the result of a tool',
      { messages: [turn('user', [{ type: 'tool_result', content: [image, document] }])] },
      { images: true, documents: true },
    ],
    ['tools', { messages: [turn('user', 'x')], tools: [{ name: 't', input_schema: {} }] }, { tools: true }],
    ['an empty list of tools', { messages: [turn('user', 'x')], tools: [] }, {}],
    ['nothing at all', {}, {}],
  ] as const) {
    test(name, () => assert.deepEqual(readFeatures(request(body)), { ...none, ...found }));
  }
});

describe('the conversation', () => {
  const opening = { system: 'be brief', messages: [turn('user', 'hello')], tools: [{ name: 'read' }] };
  const of = (body: JsonObject): string => readConversation(request(body));

  test('a growing conversation stays the same, for any spelling of its text and any cache marks', () => {
    const grown = {
      ...opening,
      messages: [
        turn('user', [{ type: 'text', text: 'hello', cache_control: { type: 'ephemeral' } }]),
        turn('assistant', 'hi'),
        turn('user', 'more'),
      ],
    };
    assert.equal(of(grown), of(opening));
    assert.equal(
      of({ ...opening, system: [{ type: 'text', text: 'be brief', cache_control: { type: 'ephemeral', ttl: '1h' } }] }),
      of(opening),
    );
    assert.equal(of({ ...opening, model: 'other', max_tokens: 5, temperature: 1 }), of(opening));
  });

  test('another beginning is another conversation', () => {
    const others = [
      { ...opening, system: 'be long' },
      { ...opening, messages: [turn('user', 'hello there')] },
      { ...opening, tools: [{ name: 'write' }] },
      { ...opening, system: `${'x'.repeat(5000)}a${'x'.repeat(5000)}` },
      { ...opening, system: `${'x'.repeat(5000)}a${'x'.repeat(5001)}` },
    ];
    assert.equal(new Set([opening, ...others].map(of)).size, others.length + 1);
  });

  test('the session of Claude Code is read in both spellings, and a mere user is not one', () => {
    const named = (userId: string): JsonObject => ({ ...opening, metadata: { user_id: userId } });
    assert.notEqual(of(named('user_1_account__session_2')), of(named('user_1_account__session_3')));
    assert.equal(of({ ...named('user_1_account__session_2'), messages: [turn('user', 'other')] }), of(named('user_1_account__session_2')));
    assert.notEqual(of(named('{"device_id":"d","session_id":"s"}')), of(opening));
    assert.equal(of(named('alice')), of(opening));
  });

  test('a bounded part of a huge request is read', () => {
    const huge = 'x'.repeat(10_000_000);
    const long = of({
      system: Array.from({ length: 1000 }, () => ({ type: 'text', text: huge })),
      messages: [turn('user', huge)],
      tools: Array.from({ length: 5000 }, (_, index) => ({ name: `${index}${'n'.repeat(200)}` })),
    });
    assert.ok(long.length < 8000, String(long.length));
    for (const body of [{}, { messages: [] }, { messages: [turn('assistant', 'x')] }, { system: null, messages: [turn('user', null)] }])
      assert.equal(typeof of(body), 'string');
  });
});

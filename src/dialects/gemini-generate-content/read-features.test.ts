import assert from 'node:assert/strict';
import { describe, test } from 'node:test';

import type { JsonObject } from '../../platform/json/json-value.ts';
import { readConversation, readFeatures } from './read-features.ts';

const request = (body: JsonObject) => ({ operation: 'generate', body, headers: {} }) as const;
const says = (...parts: readonly JsonObject[]): JsonObject => ({ contents: [{ role: 'user', parts }] });
const inline = (mimeType: string): JsonObject => ({ inlineData: { mimeType, data: 'QQ==' } });
const none = { images: false, documents: false, audio: false, tools: false };

describe('features', () => {
  for (const [name, body, found] of [
    ['plain text', says({ text: 'image/png' }), {}],
    ['an image', says({ text: 'x' }, inline('image/png')), { images: true }],
    ['an image, the other spelling', says({ inline_data: { mime_type: 'IMAGE/PNG', data: '' } }), { images: true }],
    ['a video by its address, which has no type', says({ fileData: { fileUri: 'https://youtu.be/x' } }), { images: true }],
    ['sound', says(inline('audio/wav')), { audio: true }],
    ['a spoken answer', { ...says({ text: 'x' }), generationConfig: { responseModalities: ['AUDIO'] } }, { audio: true }],
    ['a document', says({ file_data: { mime_type: 'application/pdf', file_uri: 'x' } }), { documents: true }],
    [
      'an image that a function answered with',
      says({ functionResponse: { name: 'f', response: {}, parts: [inline('image/png')] } }),
      { images: true },
    ],
    ['tools', { ...says({ text: 'x' }), tools: [{ googleSearch: {} }] }, { tools: true }],
    ['a request that is counted', { generateContentRequest: says(inline('image/png')) }, { images: true }],
    ['a single content in place of a list', { contents: { parts: inline('image/png') } }, { images: true }],
    ['nothing at all', {}, {}],
  ] as const) {
    test(name, () => assert.deepEqual(readFeatures(request(body)), { ...none, ...found }));
  }
});

describe('the conversation', () => {
  const system = { parts: [{ text: 'be brief' }] };
  const tools = [{ functionDeclarations: [{ name: 'read' }] }];
  const opening = { ...says({ text: 'hello' }), systemInstruction: system, tools };
  const of = (body: JsonObject): string => readConversation(request(body));

  test('a growing conversation stays the same, in either spelling', () => {
    const contents = [
      { parts: [{ text: 'hello' }] },
      { role: 'model', parts: [{ text: 'hi' }] },
      { role: 'user', parts: [{ text: 'more' }] },
    ];
    assert.equal(of({ ...opening, contents }), of(opening));
    assert.equal(of({ contents, system_instruction: system, tools: [{ function_declarations: [{ name: 'read' }] }] }), of(opening));
    assert.equal(of({ generateContentRequest: opening }), of(opening), 'counting it belongs to it');
  });

  test('another beginning is another conversation', () => {
    const others = [
      { ...opening, systemInstruction: { parts: [{ text: 'be long' }] } },
      { ...opening, ...says({ text: 'hello there' }) },
      { ...opening, tools: [{ functionDeclarations: [{ name: 'write' }] }] },
    ];
    assert.equal(new Set([opening, ...others].map(of)).size, others.length + 1);
  });

  test('a bounded part of a huge request is read', () => {
    const huge = 'x'.repeat(10_000_000);
    const many = Array.from({ length: 1000 }, () => ({ text: huge }));
    assert.ok(of({ systemInstruction: { parts: many }, contents: [{ parts: many }] }).length < 8000);
    for (const body of [{}, { contents: [] }, { contents: [{ role: 'model', parts: [] }] }]) assert.equal(typeof of(body), 'string');
  });
});

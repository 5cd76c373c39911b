import assert from 'node:assert/strict';
import { test } from 'node:test';

import fc from 'fast-check';

import { measureInput } from './measure-input.ts';

const base64 = 'A'.repeat(100_000);

const pictures: readonly [string, unknown][] = [
  ['Messages, inline', { type: 'image', source: { type: 'base64', media_type: 'image/png', data: base64 } }],
  ['Messages, by address', { type: 'image', source: { type: 'url', url: `https://example.test/${base64}` } }],
  ['Chat completions', { type: 'image_url', image_url: { url: `data:image/png;base64,${base64}`, detail: 'high' } }],
  ['Responses', { type: 'input_image', image_url: `data:image/png;base64,${base64}` }],
  ['generateContent, inline', { inlineData: { mimeType: 'image/png', data: base64 } }],
  ['generateContent, by address', { file_data: { mime_type: 'image/png', file_uri: base64 } }],
];

for (const [name, part] of pictures)
  test(`an image counts as one, and its bytes do not count: ${name}`, () => {
    const { textBytes, images, files, fileBytes } = measureInput({ content: [part, part] });
    assert.deepEqual([images, files, fileBytes], [2, 0, 0]);
    assert.ok(textBytes < 1000, String(textBytes));
  });

const documents: readonly [string, unknown][] = [
  ['Messages', { type: 'document', source: { type: 'base64', media_type: 'application/pdf', data: base64 } }],
  ['Chat completions', { type: 'file', file: { filename: 'a.pdf', file_data: base64 } }],
  ['Chat completions, sound', { type: 'input_audio', input_audio: { data: base64, format: 'wav' } }],
  ['Responses', { type: 'input_file', filename: 'a.pdf', file_data: base64 }],
  ['generateContent', { inline_data: { mime_type: 'video/mp4', data: base64 } }],
];

for (const [name, part] of documents)
  test(`the bytes of a document count in addition to the text: ${name}`, () => {
    const { textBytes, images, files, fileBytes } = measureInput({ content: [part] });
    assert.deepEqual([images, files, fileBytes], [0, 1, base64.length]);
    assert.ok(textBytes < 1000, String(textBytes));
  });

const texts: readonly [string, unknown][] = [
  ['plain', { role: 'user', content: base64 }],
  ['a document of text', { type: 'document', source: { type: 'text', media_type: 'text/plain', data: base64 } }],
  ['what a search found', { type: 'web_search_result', url: base64, title: 'x' }],
  ['thoughts that are sealed', { type: 'redacted_thinking', data: base64 }],
  ['what a tool was called with', { type: 'tool_use', id: 'a', name: 'f', input: { mime_type: 'image/png', data: base64 } }],
  ['what a function was called with', { functionCall: { name: 'f', args: { mimeType: 'image/png', data: base64 } } }],
  ['what a function answered', { functionResponse: { name: 'f', response: { type: 'image', url: base64 } } }],
  ['a schema', { tools: [{ name: 'f', input_schema: { properties: { a: { type: 'image', url: base64 } } } }] }],
  ['long numbers', Array.from({ length: 5000 }, () => -0.000_123_456_789_012_345)],
  [
    'all that within an object that calls itself a picture',
    { mimeType: 'image/png', content: [{ type: 'tool_use', input: { data: base64 } }] },
  ],
  ['words beside a picture', { type: 'image_url', text: base64, image_url: { url: 'x' } }],
];

for (const [name, part] of texts)
  test(`every byte of text counts: ${name}`, () => {
    const { textBytes, fileBytes } = measureInput([part]);
    assert.ok(textBytes + fileBytes >= base64.length);
  });

test('a tool that makes images is not an image', () => {
  assert.equal(measureInput({ tools: [{ type: 'image_generation', size: '1024x1024' }] }).images, 0);
});

test('the count of bytes never falls below the bytes of a text, at any depth', () => {
  fc.assert(
    fc.property(fc.jsonValue({ maxDepth: 6 }), fc.string({ unit: 'grapheme' }), (around, text) => {
      const { textBytes } = measureInput({ around, content: [{ type: 'text', text }] });
      assert.ok(textBytes >= Buffer.byteLength(text));
    }),
  );
});

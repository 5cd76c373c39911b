import assert from 'node:assert/strict';
import { test } from 'node:test';

import fc from 'fast-check';

import type { ImageEvent, ImageReply } from '../../inference/image.ts';
import type { Usage } from '../../inference/usage.ts';
import type { JsonObject } from '../../platform/json/json-value.ts';
import { parseSseFrame } from '../../platform/sse/parse-sse-frame.ts';
import { readImageEvent, replayImages, writeImageEvent, writeImagesReply } from './image-events.ts';
import { readImageTokens, writeImageTokens } from './image-usage.ts';
import { readGeminiImages } from './read-gemini-images.ts';
import { readImagenReply } from './read-imagen-reply.ts';
import { readImagesReply } from './read-images-reply.ts';
import { requireImages } from './require-images.ts';

const none = { sources: [] };
const one = { sources: [{ kind: 'url', url: 'https://a.example/' } as const] };
const png = 'iVBORw0KGgoAAAANSUhEUg==';

test('a reply of the vendor has its images, their settings and tokens by kind', () => {
  const usage = {
    input_tokens: 250,
    input_tokens_details: { text_tokens: 50, image_tokens: 200 },
    output_tokens: 1100,
    output_tokens_details: { image_tokens: 1056, text_tokens: 44 },
    total_tokens: 1350,
  };
  const body = {
    created: 17,
    size: '1024x1024',
    quality: 'medium',
    output_format: 'png',
    data: [{ b64_json: png, revised_prompt: 'r' }],
    usage,
  };
  const reply = readImagesReply(body, none);
  assert.deepEqual(reply, {
    images: [{ content: { kind: 'inline', mediaType: 'image/png', data: png }, revisedPrompt: 'r' }],
    settings: { createdAtSeconds: 17, size: '1024x1024', quality: 'medium', outputFormat: 'png' },
    usage: {
      usage: { inputTokens: 250, inputImageTokens: 200, outputTokens: 1100, outputImageTokens: 1056 },
      raw: usage,
      trustworthy: true,
      splitsInput: true,
      replyParameters: { size: '1024x1024', quality: 'medium' },
    },
    withheld: [],
  });
  assert.ok(reply);
  assert.deepEqual(writeImagesReply(reply, 99), body);
});

test('without token counts, the output images and their sources are counted', () => {
  const reply = readImagesReply({ data: [{ url: 'https://a.example/1.jpg' }, { url: 'https://a.example/2.jpg' }] }, one);
  assert.deepEqual(reply?.usage.usage, { outputImages: 2, inputImages: 1 });
  assert.ok(reply);
  const data = [{ url: 'https://a.example/1.jpg' }, { url: 'https://a.example/2.jpg' }];
  assert.deepEqual(writeImagesReply(reply, 99), { created: 99, data });
});

const malformed: readonly [what: string, usage: JsonObject, counts: Usage][] = [
  ['a negative count', { input_tokens: -1, output_tokens: 5 }, { outputTokens: 5, outputImageTokens: 5 }],
  ['a text', { input_tokens: '10', output_tokens: 5 }, { outputTokens: 5, outputImageTokens: 5 }],
  [
    'more image tokens than tokens',
    { input_tokens: 10, input_tokens_details: { image_tokens: 11 }, output_tokens: 5 },
    { inputTokens: 10, outputTokens: 5, outputImageTokens: 5 },
  ],
  [
    'more cached tokens than input tokens',
    { input_tokens: 10, input_tokens_details: { cached_tokens: 11 }, output_tokens: 5 },
    { inputTokens: 10, outputTokens: 5, outputImageTokens: 5 },
  ],
];

for (const [what, usage, counts] of malformed)
  test(`usage with ${what} omits it and is not trustworthy`, () => {
    const report = readImageTokens(usage);
    assert.deepEqual([report?.usage, report?.trustworthy], [counts, false]);
  });

test('written usage is read back as the same counts', () => {
  const count = fc.integer({ min: 0, max: 1_000_000 });
  fc.assert(
    fc.property(count, count, count, count, count, (text, image, cached, imageOutput, textOutput) => {
      const usage: Usage = {
        inputTokens: text + image,
        ...(image > 0 && { inputImageTokens: image }),
        ...(cached > 0 && { cacheReadTokens: cached }),
        outputTokens: imageOutput + textOutput,
        outputImageTokens: imageOutput,
      };
      const report = readImageTokens(writeImageTokens({ usage, raw: null, trustworthy: true }));
      assert.deepEqual(report?.usage, usage);
      assert.equal(report?.trustworthy, true);
    }),
  );
});

test('the parts of a usage never exceed their total', () => {
  const value = fc.oneof(fc.integer({ min: -5, max: 50 }), fc.constantFrom(null, 'x', 1.5, 1e300));
  const details = fc.record({ image_tokens: value, cached_tokens: value, cached_tokens_details: fc.record({ image_tokens: value }) });
  const raw = fc.record({ input_tokens: value, output_tokens: value, input_tokens_details: details, output_tokens_details: details });
  fc.assert(
    fc.property(raw, (usage) => {
      const counts = readImageTokens(usage)?.usage ?? {};
      assert.ok((counts.inputImageTokens ?? 0) <= (counts.inputTokens ?? 0));
      assert.ok((counts.cacheReadImageTokens ?? 0) <= (counts.cacheReadTokens ?? 0));
      assert.ok((counts.outputImageTokens ?? 0) <= (counts.outputTokens ?? 0));
      for (const number of Object.values(counts)) assert.ok(number >= 0 && Number.isInteger(number));
    }),
  );
});

test("images of the answer are distinguished from text and from images of the model's reasoning", () => {
  const picture = { inlineData: { mimeType: 'image/png', data: png } };
  const reply = readGeminiImages(
    {
      candidates: [{ content: { parts: [{ text: 'Here' }, { thought: true, ...picture }, picture] }, finishReason: 'STOP' }],
      usageMetadata: {
        promptTokenCount: 8,
        candidatesTokenCount: 1120,
        totalTokenCount: 1128,
        candidatesTokensDetails: [{ modality: 'IMAGE', tokenCount: 1120 }],
      },
      modelVersion: 'gemini-3-pro-image-preview',
    },
    none,
  );
  assert.equal(reply?.images.length, 1);
  assert.deepEqual(reply?.usage.usage, { inputTokens: 8, outputTokens: 1120, outputImageTokens: 1120 });
  assert.deepEqual([reply?.withheld, reply?.servedModel], [[], 'gemini-3-pro-image-preview']);
});

const withoutPictures: readonly [what: string, body: JsonObject, reason: string][] = [
  ['a blocked prompt', { promptFeedback: { blockReason: 'PROHIBITED_CONTENT' } }, 'PROHIBITED_CONTENT'],
  ['an unsafe image', { candidates: [{ finishReason: 'IMAGE_SAFETY', finishMessage: 'Not shown.' }] }, 'Not shown.'],
  [
    'an answer in text',
    { candidates: [{ content: { parts: [{ text: 'I cannot.' }] }, finishReason: 'STOP' }] },
    'The model answered with text: I cannot.',
  ],
  ['an empty answer', { candidates: [{ finishReason: 'STOP' }] }, 'NO_IMAGE'],
];

for (const [what, body, reason] of withoutPictures)
  test(`${what} is never a success, and its reason is reported`, () => {
    const reply = readGeminiImages(body, none);
    assert.deepEqual([reply?.images, reply?.withheld], [[], [reason]]);
    assert.throws(() => reply && requireImages(reply), {
      code: /answered with text|NO_IMAGE/.test(reason) ? 'upstream_refused_request' : 'upstream_content_filtered',
      details: { openai_code: 'moderation_blocked' },
    });
  });

test('an empty list of images without a reason is an invalid answer', () => {
  assert.throws(() => requireImages({ images: [], withheld: [] }), { code: 'upstream_invalid_reply', status: 502 });
});

test('filtered images of Imagen are reported, and only the others are counted', () => {
  const reply = readImagenReply({
    predictions: [{ mimeType: 'image/png', bytesBase64Encoded: png, prompt: 'better' }, { raiFilteredReason: 'Unable to show.' }],
  });
  assert.deepEqual(reply, {
    images: [{ content: { kind: 'inline', mediaType: 'image/png', data: png }, revisedPrompt: 'better' }],
    settings: {},
    usage: { usage: { outputImages: 1 }, raw: null, trustworthy: true },
    withheld: ['Unable to show.'],
    isFiltered: true,
  });
  assert.deepEqual(readImagenReply({})?.withheld, ['All images were filtered.']);
});

test('a body of another form is not read as a reply', () => {
  for (const body of [{}, { data: 'x' }, { data: [{}] }, { data: [null] }] as JsonObject[])
    assert.equal(readImagesReply(body, none), undefined);
  assert.equal(readGeminiImages({ error: {} }, none), undefined);
  assert.equal(readImagenReply({ predictions: 'x' }), undefined);
});

const inline = (data: string) => ({ content: { kind: 'inline', mediaType: 'image/png', data } }) as const;

test('written events are read back unchanged, for generations and edits', () => {
  const settings = { createdAtSeconds: 5, size: '1024x1024', quality: 'low', background: 'opaque', outputFormat: 'png' };
  const usage = { usage: { inputTokens: 4, outputTokens: 272, outputImageTokens: 272 }, raw: null, trustworthy: true };
  const events: ImageEvent[] = [
    { kind: 'partial', index: 1, image: inline(png), settings },
    { kind: 'completed', image: inline(png), settings, usage },
  ];
  for (const operation of ['generate', 'edit'] as const) {
    for (const event of events) {
      const frame = parseSseFrame(writeImageEvent(event, { operation, createdAtSeconds: 9 }), true);
      assert.match(frame.event ?? '', operation === 'edit' ? /^image_edit\./ : /^image_generation\./);
      const read = readImageEvent(frame.data);
      assert.equal(read.kind, event.kind);
      if (read.kind === 'partial' && event.kind === 'partial') assert.deepEqual(read, event);
      if (read.kind === 'completed' && event.kind === 'completed')
        assert.deepEqual([read.image, read.settings, read.usage?.usage], [event.image, settings, usage.usage]);
    }
  }
});

test('a reply without a stream becomes events, and its usage is reported once', () => {
  const reply: ImageReply = {
    images: [inline(png), inline(png)],
    settings: {},
    usage: { usage: { inputTokens: 1, outputTokens: 2 }, raw: null, trustworthy: true },
    withheld: [],
  };
  const events = replayImages(reply);
  assert.deepEqual(
    events.map((event) => event.kind === 'completed' && event.usage !== undefined),
    [false, true],
  );
  const [first] = events;
  assert.ok(first);
  const { data } = parseSseFrame(writeImageEvent(first, { operation: 'generate', createdAtSeconds: 9 }), true);
  const { b64_json: _bytes, ...members } = JSON.parse(data) as JsonObject;
  assert.deepEqual(members, {
    type: 'image_generation.completed',
    created_at: 9,
    size: 'auto',
    quality: 'auto',
    background: 'auto',
    output_format: 'png',
  });
});

test('errors, unknown events and events without their image are distinguished', () => {
  const kinds = [
    '{"type":"error","error":{"message":"overloaded","code":"server_error"}}',
    '{"error":"plain"}',
    '[DONE]',
    '{broken',
    '{"type":"image_generation.progress"}',
    '{"type":"image_generation.completed"}',
  ].map((data) => readImageEvent(data).kind);
  assert.deepEqual(kinds, ['error', 'error', 'other', 'other', 'other', 'unclear']);
});

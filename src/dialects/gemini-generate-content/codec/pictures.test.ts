import assert from 'node:assert/strict';
import { test } from 'node:test';

import type { ImageReply } from '../../../inference/image.ts';
import type { JsonObject } from '../../../platform/json/json-value.ts';
import { pictureCodec } from './pictures.ts';

const wire = (generationConfig: JsonObject) => ({
  operation: 'generate' as const,
  headers: {},
  pathModel: 'models/m',
  body: { contents: [{ parts: [{ text: 'x' }] }], generationConfig },
});
const decode = (config: JsonObject) => pictureCodec.decode(wire({ responseModalities: ['IMAGE'], ...config }));

test('a request for images is recognized in both spellings', () => {
  for (const config of [{}, { responseModalities: ['TEXT'] }, { responseModalities: null }])
    assert.equal(pictureCodec.decode(wire(config)), undefined);
  const wish = pictureCodec.decode(
    wire({ response_modalities: ['TEXT', 'image'], image_config: { aspect_ratio: '3:2', image_size: '2K' } }),
  );
  assert.deepEqual([wish?.aspectRatio, wish?.resolution, wish?.count, wish?.chat.model], ['3:2', '2k', 1, 'm']);
});

test('a size of one vendor is noted, and an unknown size is refused', () => {
  const wish = decode({ imageConfig: { imageSize: '512' } });
  assert.deepEqual(
    [wish?.resolution, wish?.chat.vendorFields.map(({ field }) => field)],
    [undefined, ['generationConfig.imageConfig.imageSize']],
  );
  assert.throws(() => decode({ imageConfig: { imageSize: '9K' } }), { param: 'generationConfig.imageConfig.imageSize' });
  assert.throws(() => decode({ imageConfig: { aspectRatio: 'wide' } }), { param: 'generationConfig.imageConfig.aspectRatio' });
  assert.throws(() => decode({ candidateCount: 11 }), { param: 'generationConfig.candidateCount' });
});

test('each image is a candidate, and a withheld image has its finish message', () => {
  const reply: ImageReply = {
    images: [
      { content: { kind: 'inline', mediaType: 'image/webp', data: 'AAAA' }, revisedPrompt: 'a red coast' },
      { content: { kind: 'url', url: 'https://vendor.example/a.png' } },
    ],
    settings: {},
    usage: { usage: { inputTokens: 3, outputTokens: 272, outputImageTokens: 272 }, raw: null, trustworthy: true },
    withheld: ['too red'],
  };
  const writing = { requestId: 'req_1', requestedModel: 'm' };
  const whole = JSON.parse(pictureCodec.encode(reply, { ...writing, framing: undefined }).toString()) as JsonObject;
  assert.deepEqual(whole['candidates'], [
    {
      content: { parts: [{ text: 'a red coast' }, { inlineData: { mimeType: 'image/webp', data: 'AAAA' } }], role: 'model' },
      finishReason: 'STOP',
      index: 0,
    },
    { content: { parts: [{ fileData: { fileUri: 'https://vendor.example/a.png' } }], role: 'model' }, finishReason: 'STOP', index: 1 },
    { finishReason: 'IMAGE_SAFETY', finishMessage: 'too red', index: 2 },
  ]);
  assert.deepEqual((whole['usageMetadata'] as JsonObject)['totalTokenCount'], 275);
  const events = pictureCodec.encode(reply, { ...writing, framing: 'sse' }).toString();
  assert.deepEqual(JSON.parse(/^data: (.*)\r\n\r\n$/.exec(events)?.[1] ?? ''), whole);
  assert.deepEqual(JSON.parse(pictureCodec.encode(reply, { ...writing, framing: 'json-array' }).toString()), [whole]);
});

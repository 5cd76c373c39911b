import assert from 'node:assert/strict';
import { test } from 'node:test';

import type { ImageRequest } from '../../../inference/image.ts';
import { Frame } from '../../../platform/frames.ts';
import { openaiImagesOf } from '../../../upstreams/image-interfaces.ts';
import type { ReplyReport } from '../../../dialects/chat-dialect.ts';
import type { StreamRelay } from '../../attempts/exchange/reply-relay.ts';
import { createImageStream } from './image-stream.ts';

const request: ImageRequest = {
  operation: 'generate',
  requestedModel: 'm',
  prompt: 'a coast',
  count: 1,
  quality: 'low',
  size: { width: 1024, height: 1024 },
  stream: true,
  partialImages: 2,
  sources: [],
  otherFields: {},
};

const frame = (data: object | string): Frame => {
  const text = typeof data === 'string' ? data : JSON.stringify(data);
  return new Frame(Buffer.from(`data: ${text}\n\n`), undefined, text);
};
const partial = frame({ type: 'image_generation.partial_image', b64_json: 'AAAA', partial_image_index: 0 });
const usage = { input_tokens: 3, output_tokens: 372, total_tokens: 375 };
const completed = (more: object = { usage }): Frame => frame({ type: 'image_generation.completed', b64_json: 'AAAA', ...more });

type Charged = (report: ReplyReport, complete: boolean) => { usage: object; raw: null; trustworthy: true };
function open(changes: Partial<ImageRequest> = {}, charged?: Charged): StreamRelay {
  const made = openaiImagesOf('gpt-image-1.5');
  return createImageStream({ request: { ...request, ...changes }, made, chargedBy: 'tokens', createdAtSeconds: 1, charged });
}

const toldBy = ([bytes]: readonly Buffer[]) => JSON.parse(String(bytes).replace(/^event: .*\ndata: /, '')) as { usage?: object };

test('the client of a stream gets the charged usage, which may differ from the reported one', () => {
  const stream = open({}, () => ({ usage: { inputTokens: 3, outputTokens: 100 }, raw: null, trustworthy: true }));
  stream.read(partial);
  assert.deepEqual([stream.state(), stream.hasContent()], ['open', true]);
  const { usage: told } = toldBy(stream.read(completed()));
  assert.deepEqual(told, {
    total_tokens: 103,
    input_tokens: 3,
    output_tokens: 100,
    input_tokens_details: { text_tokens: 3, image_tokens: 0 },
  });
  assert.deepEqual([stream.state(), stream.hasEndMark, stream.report().usageReport?.usage.outputTokens], ['complete', true, 372]);
});

test('a stream whose client leaves before the usage is estimated by the delivered images', () => {
  const stream = open({ count: 2 });
  assert.equal(stream.report().usageReport, undefined, 'nothing was shown');
  for (const one of [partial, partial, completed({})]) stream.read(one);
  const { usageReport } = stream.report();
  assert.deepEqual([usageReport?.usage, usageReport?.outputGoesOn], [{ outputTokens: 472, outputImageTokens: 472 }, true]);
  assert.equal(stream.state(), 'open', 'one picture of two is no end');
});

test('a stream with fewer images than requested is complete if it reported its usage, and ends with its body', () => {
  const stream = open({ count: 3 });
  stream.read(completed());
  assert.deepEqual([stream.state(), stream.hasEndMark], ['complete', false]);
});

test('an image event without an image, and an error event, are failures', () => {
  for (const broken of [frame({ type: 'image_generation.completed' }), frame({ type: 'error', error: { message: 'no' } })]) {
    const stream = open();
    assert.deepEqual(stream.read(broken), []);
    assert.equal(stream.state(), 'failed');
    assert.ok(stream.report().error);
    assert.deepEqual(stream.read(completed()), [], 'what comes after it is nothing');
  }
  assert.deepEqual(open().read(frame('not json')), []);
});

test('nothing follows the last image', () => {
  const stream = open();
  stream.read(completed());
  assert.deepEqual(stream.read(completed()), []);
  assert.equal(stream.end(Buffer.alloc(0)).length, 0);
});

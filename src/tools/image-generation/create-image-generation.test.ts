import assert from 'node:assert/strict';
import { test } from 'node:test';

import { GatewayError } from '../../inference/gateway-error.ts';
import type { ImageInput } from '../../inference/image.ts';
import type { ImageGenerationTool } from '../../inference/inference-request.ts';
import type { JsonObject } from '../../platform/json/json-value.ts';
import { silentLogger as logger } from '../../platform/log.ts';
import type { ToolRun } from '../gateway-tool.ts';
import { createImageGeneration } from './create-image-generation.ts';
import type { MakeImage, ToolImage } from './make-image.ts';

const tool: ImageGenerationTool = {
  kind: 'image-generation',
  settings: { quality: 'low' },
  action: 'auto',
  partialImages: 2,
  wire: { type: 'image_generation' },
  path: 'tools[0]',
};
const owner = { userName: 'u', keyId: 'k', callId: 'call' };

const made: MakeImage = ({ request }) =>
  Promise.resolve({
    image: { mediaType: 'image/png', data: request.prompt, settings: {} },
    revisedPrompt: undefined,
    costNanoUsd: 5n,
  });

/** A tool whose requests are recorded. */
function open(changes: Partial<ImageGenerationTool> = {}, make: MakeImage = made) {
  const orders: ToolImage[] = [];
  const record: MakeImage = (order) => {
    orders.push(order);
    return make(order);
  };
  return { orders, tool: createImageGeneration({ make: record, logger })({ ...tool, ...changes }, owner) };
}

const run = (args: JsonObject, more: Partial<ToolRun> = {}): ToolRun => ({
  callId: 'c',
  arguments: args,
  firstSource: 1,
  knowsAddress: () => false,
  signal: new AbortController().signal,
  ...more,
});

const inConversation: readonly ImageInput[] = [
  { kind: 'url', url: 'https://example.org/one.png' },
  { kind: 'inline', mediaType: 'image/png', data: 'two' },
];

test('an image is requested with the settings of the tool, and its cost and result are returned', async () => {
  const { tool: opened, orders } = open();
  const outcome = await opened.run(run({ prompt: 'a kite' }));
  assert.deepEqual(outcome.shown.results, [{ image: { mediaType: 'image/png', data: 'a kite', settings: {} } }]);
  assert.deepEqual([outcome.costNanoUsd, outcome.usage, outcome.sources], [5n, {}, []]);
  const [order] = orders;
  assert.deepEqual(order?.part, { parentCallId: 'call', rowId: 'call.1.image' });
  assert.deepEqual(
    [order?.request.operation, order?.request.quality, order?.request.count, order?.request.stream, order?.request.partialImages],
    ['generate', 'low', 1, false, 0],
  );
});

test('unfinished images are requested only if the client can be shown them', async () => {
  const { tool: opened, orders } = open();
  const shown: number[] = [];
  await opened.run(run({ prompt: 'a kite' }, { onPartialImage: (number) => shown.push(number) }));
  assert.deepEqual([orders[0]?.request.stream, orders[0]?.request.partialImages], [true, 2]);
  orders[0]?.onPartial(1, { mediaType: undefined, data: '', settings: {} });
  assert.deepEqual(shown, [1]);
});

test('images of the conversation and those that the tool made can be edited by their numbers', async () => {
  const { tool: opened, orders } = open({ settings: { mask: { kind: 'url', url: 'https://example.org/mask.png' } } });
  await opened.run(run({ prompt: 'new' }, { images: inConversation }));
  await opened.run(run({ prompt: 'both', images: [2, 3] }, { images: inConversation }));
  assert.deepEqual([orders[0]?.request.operation, orders[0]?.request.mask], ['generate', undefined]);
  assert.equal(orders[1]?.request.operation, 'edit');
  assert.deepEqual(orders[1]?.request.sources, [inConversation[1], { kind: 'inline', mediaType: 'image/png', data: 'new' }]);
  assert.ok(orders[1]?.request.mask);
  assert.equal(orders[1]?.part?.rowId, 'call.2.image');
});

test('the action of the request decides whether images of the conversation are used', async () => {
  const generating = open({ action: 'generate' });
  await generating.tool.run(run({ prompt: 'x', images: [1] }, { images: inConversation }));
  assert.deepEqual(generating.orders[0]?.request.sources, []);
  assert.ok(!('images' in ((generating.tool.offer.parameters?.properties as JsonObject) ?? {})));
  const editing = open({ action: 'edit' });
  await editing.tool.run(run({ prompt: 'x' }, { images: inConversation }));
  assert.deepEqual(editing.orders[0]?.request.sources, [inConversation[1]]);
});

for (const [what, changes, args, failure] of [
  ['no prompt', {}, {}, 'invalid-input'],
  ['an image that is not there', {}, { prompt: 'x', images: [1] }, 'invalid-input'],
  ['an edit without any image', { action: 'edit' }, { prompt: 'x' }, 'invalid-input'],
] as const)
  test(`a request with ${what} fails, and nothing is made`, async () => {
    const { tool: opened, orders } = open(changes);
    const outcome = await opened.run(run(args));
    assert.deepEqual([outcome.shown.failed, outcome.shown.failure, orders.length], [true, failure, 0]);
  });

test('one reply has at most 64 images, which is what its receipt lists', async () => {
  const { tool: opened, orders } = open();
  for (let count = 0; count < 64; count++) await opened.run(run({ prompt: 'x' }));
  assert.equal((await opened.run(run({ prompt: 'x' }))).shown.failure, 'limit-reached');
  assert.equal(orders.length, 64);
});

test('the model learns why an image could not be made, and nothing about internal errors', async () => {
  const refused = open({}, () => Promise.reject(new GatewayError('invalid_value', 'the prompt was blocked')));
  assert.match((await refused.tool.run(run({ prompt: 'x' }))).answer, /could not be made: the prompt was blocked/);
  const broken = open({}, () => Promise.reject(new Error('secret detail')));
  const outcome = await broken.tool.run(run({ prompt: 'x' }));
  assert.deepEqual([outcome.answer, outcome.shown.failed], ['The image could not be made.', true]);
});

test('a gateway without an image model refuses the tool and names the field', () => {
  assert.throws(() => createImageGeneration({ make: undefined, logger })(tool, owner), { code: 'tool_unavailable', param: 'tools[0]' });
});

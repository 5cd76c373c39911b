import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';

import OpenAI from 'openai';

import { createAccounts } from '../../src/accounts/create-accounts.ts';
import { systemClock } from '../../src/platform/clock.ts';
import { openSqliteStore } from '../../src/store/sqlite/open-sqlite-store.ts';
import { chatOnly, models } from '../responses/models.ts';
import { eventually } from '../support/http.ts';
import { type ImageWeir, kindOf, startImageWeir } from './image-weir.ts';
import { testAuthor } from '../../src/audit/testing/test-change.ts';

const tools: OpenAI.Responses.Tool[] = [{ type: 'image_generation', quality: 'low', size: '1024x1024' }];
const input = 'Draw a red kite.';

function imageOf({ output }: OpenAI.Responses.Response): OpenAI.Responses.ResponseOutputItem.ImageGenerationCall {
  const found = output.find((item) => item.type === 'image_generation_call');
  assert.ok(found, JSON.stringify(output).slice(0, 400));
  return found;
}

/** One image model for chat models whose upstreams have no image tool, as docs/guide/images.md shows. */
describe('the image tool of Responses on upstreams without it', () => {
  let running: ImageWeir;
  before(async () => {
    running = await startImageWeir({
      models: { ...models, piecewise: { targets: [{ upstream: 'gemini', model: 'imagen-4.0-generate-001' }] } },
      upstreams: ({ openai }) => chatOnly(openai),
      config: { tools: { imageGeneration: { model: 'gpt-image-1.5' } } },
    });
  });
  after(() => running[Symbol.asyncDispose]());

  /** The rows of a call in its receipt, once it has this many. */
  async function partsOf(callId: string, count: number): Promise<readonly { readonly id: string; readonly nanoUsd: bigint }[]> {
    const { json } = await eventually(
      () => running.receipt(callId),
      (receipt) => receipt.status === 200 && receipt.json.rows.length === count,
    );
    const rows: { readonly id: string; readonly amount: { readonly nano_usd: string } }[] = json.rows;
    const parts = rows.map((row) => ({ id: row.id, nanoUsd: BigInt(row.amount.nano_usd) }));
    assert.equal(
      BigInt(json.total.nano_usd),
      parts.reduce((sum, { nanoUsd }) => sum + nanoUsd, 0n),
    );
    return parts;
  }

  for (const model of ['chat', 'messages', 'generate-content'])
    test(`${model}: a whole reply has the image, and its parts add up to the call`, async () => {
      const { data, response } = await running.client().responses.create({ model, input, tools }).withResponse();
      const image = imageOf(data);
      assert.deepEqual([image.status, kindOf(image.result ?? '')], ['completed', 'png']);
      assert.equal(data.output.at(-1)?.type, 'message');
      const callId = String(response.headers.get('x-weir-request-id'));
      const parts = await partsOf(callId, 3);
      assert.deepEqual(
        parts.map(({ id }) => id),
        [callId, `${callId}.2`, `${callId}.1.image`],
      );
      const row = await running.ledger.row(`${callId}.1.image`);
      assert.deepEqual(
        [row.parentCallId, row.requestedModel, row.end, row.usage.outputImageTokens],
        [callId, 'gpt-image-1.5', 'finished', 272],
      );
      assert.ok(row.charge.amountNanoUsd > 0n);
    });

  test('a stream shows unfinished images and then the image, in the events of the vendor', async () => {
    const { data, response } = await running
      .client()
      .responses.create({ model: 'chat', input, tools: [{ ...tools[0], type: 'image_generation', partial_images: 2 }], stream: true })
      .withResponse();
    const events = await Array.fromAsync(data);
    assert.deepEqual(
      events.flatMap(({ type }) => (type.includes('image_generation_call') ? [type.split('.').at(-1)] : [])),
      ['in_progress', 'generating', 'partial_image', 'partial_image', 'completed'],
    );
    assert.deepEqual(
      events.map((event) => ('sequence_number' in event ? event.sequence_number : -1)),
      events.map((_, index) => index),
    );
    const partial = events.find((event) => event.type === 'response.image_generation_call.partial_image');
    assert.equal(kindOf(partial?.partial_image_b64), 'png');
    const last = events.at(-1);
    assert.ok(last?.type === 'response.completed');
    assert.equal(kindOf(imageOf(last.response).result ?? ''), 'png');
    const row = await running.ledger.row(`${String(response.headers.get('x-weir-request-id'))}.1.image`);
    assert.deepEqual([row.stream, row.usage.outputImageTokens], [true, 272 + 2 * 100]);
  });

  test('an image of an earlier reply is edited', async () => {
    const first = await running.client().responses.create({ model: 'chat', input, tools, store: true });
    const { data, response } = await running
      .client()
      .responses.create({
        model: 'chat',
        previous_response_id: first.id,
        input: 'Draw it at night.',
        tools: [{ type: 'image_generation', quality: 'low', size: '1024x1024', action: 'edit' }],
      })
      .withResponse();
    assert.equal(imageOf(data).status, 'completed');
    const row = await running.ledger.row(`${String(response.headers.get('x-weir-request-id'))}.1.image`);
    assert.ok((row.usage.inputImageTokens ?? 0) > 0, JSON.stringify(row.usage));
  });

  test('a vendor that has the tool runs it itself', async () => {
    const { response } = await running
      .client()
      .responses.create({ model: 'responses', input, tools }, { headers: { 'x-simulator-tag': 'native' } })
      .withResponse();
    const record = running.simulator.records().find(({ tag }) => tag === 'native');
    assert.deepEqual(record?.requestBody?.['tools'], tools);
    await partsOf(String(response.headers.get('x-weir-request-id')), 1);
  });

  test('an image that the key cannot pay is not made, and the model receives the reason', async () => {
    const store = await openSqliteStore({ path: join(running.weir.dataDirectory, 'weir.sqlite') });
    const accounts = createAccounts({ store, clock: systemClock, random: randomBytes, author: testAuthor });
    const { secret } = await accounts.createApiKey({ userName: 'poor', name: 'poor', limits: { spendTotal: '0.007' } });
    await store.close();
    const { models: served } = running.client(secret);
    await eventually(
      () => served.list().catch(() => undefined),
      (list) => list !== undefined,
    );
    const before = running.simulator.records().length;
    const data = await running.client(secret).responses.create({ model: 'chat', input, tools, max_output_tokens: 100 });
    assert.deepEqual([imageOf(data).status, imageOf(data).result], ['failed', null]);
    assert.match(data.output_text, /could not be made: Spend limit/);
    assert.equal(running.simulator.records().length, before + 2, 'the image upstream was not called');
  });

  test('a value that the interface does not have is refused with its field', async () => {
    await assert.rejects(
      running.client().responses.create({ model: 'chat', input, tools: [{ type: 'image_generation', size: 'huge' as '1024x1024' }] }),
      (error) => error instanceof OpenAI.BadRequestError && error.param === 'tools[0].size',
    );
  });
});

test('the image tool is refused with its field if no image model is configured and the upstream does not have the tool', async () => {
  await using running = await startImageWeir({ models, upstreams: ({ openai }) => chatOnly(openai) });
  await assert.rejects(
    running.client().responses.create({ model: 'chat', input, tools }),
    (error) =>
      error instanceof OpenAI.BadRequestError &&
      error.code === 'tool_unavailable' &&
      /^400 tools\[0\]: .*tools\.imageGeneration\.model/.test(error.message),
  );
});

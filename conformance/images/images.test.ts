import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';

import { APIError, toFile } from 'openai';

import { eventually } from '../support/http.ts';
import { openCall } from '../support/open-call.ts';
import { type ImageWeir, kindOf, onePixel, startImageWeir } from './image-weir.ts';

let running: ImageWeir;
before(async () => {
  running = await startImageWeir();
});
after(() => running[Symbol.asyncDispose]());

/** The upstreams that generate images, and the meters of their rows. */
const makers = [
  { model: 'gpt-image-1.5', vendor: 'openai', kind: 'png', usage: ['inputTokens', 'outputImageTokens', 'outputTokens'] },
  { model: 'gemini-2.5-flash-image', vendor: 'gemini', kind: 'png', usage: ['inputTokens', 'outputImageTokens', 'outputTokens'] },
  { model: 'imagen-4.0-generate-001', vendor: 'gemini', kind: 'png', usage: ['outputImages'] },
  { model: 'grok-imagine-image', vendor: 'xai', kind: 'jpeg', usage: ['outputImages'] },
] as const;

describe('images from text', () => {
  for (const { model, vendor, kind, usage } of makers)
    test(`${model}: bytes, a row with a price, a matching receipt, and the usage that is charged`, async () => {
      const { data, response } = await running.client().images.generate({ model, prompt: 'a coast' }).withResponse();
      assert.equal(kindOf(data.data?.[0]?.b64_json), kind);
      const callId = String(response.headers.get('x-weir-request-id'));
      const row = await running.ledger.row(callId);
      assert.deepEqual([row.end, row.vendor, row.dialect, row.estimated], ['finished', vendor, 'openai-images', false]);
      assert.deepEqual(Object.keys(row.usage).toSorted(), [...usage]);
      assert.ok(row.charge.amountNanoUsd > 0n);
      assert.equal(data.usage?.output_tokens, row.usage.outputTokens);
      assert.equal(data.usage?.input_tokens, row.usage.inputTokens);
      const receipt = await running.receipt(callId);
      assert.equal(receipt.json.total.nano_usd, row.charge.amountNanoUsd.toString());
    });

  for (const { model, kind, usage } of makers)
    test(`${model}: a stream ends with the finished image, and has the charged usage`, async () => {
      const { data: stream, response } = await running
        .client()
        .images.generate({ model, prompt: 'a coast', stream: true, partial_images: 2 })
        .withResponse();
      const events = await Array.fromAsync(stream);
      const partials = model === 'gpt-image-1.5' ? ['image_generation.partial_image', 'image_generation.partial_image'] : [];
      assert.deepEqual(
        events.map(({ type }) => type),
        [...partials, 'image_generation.completed'],
      );
      assert.ok(events.every(({ b64_json }) => kindOf(b64_json) === kind));
      const row = await running.ledger.row(String(response.headers.get('x-weir-request-id')));
      assert.deepEqual([row.end, row.stream, Object.keys(row.usage).toSorted()], ['finished', true, [...usage]]);
      const last = events.at(-1);
      assert.equal(last?.type === 'image_generation.completed' ? last.usage?.output_tokens : -1, row.usage.outputTokens);
    });

  test("a self-hosted server gets the vendor's format with its own name of the model", async () => {
    const asked = { model: 'own-picture', prompt: 'x', quality: 'low' } as const;
    const { data, response } = await running.client().images.generate(asked).withResponse();
    assert.equal(kindOf(data.data?.[0]?.b64_json), 'png');
    const row = await running.ledger.row(String(response.headers.get('x-weir-request-id')));
    assert.deepEqual([row.vendor, row.upstreamModel, row.translation], ['openai-compatible', 'stable-diffusion', undefined]);
    assert.equal(data.usage?.output_tokens, row.usage.outputTokens);
  });

  test('several images of a stream are one call', async () => {
    const asked = { model: 'gpt-image-1.5', prompt: 'x', n: 3, quality: 'low', size: '1024x1024' } as const;
    const { data: stream, response } = await running
      .client()
      .images.generate({ ...asked, stream: true })
      .withResponse();
    assert.equal((await Array.fromAsync(stream)).length, 3);
    const row = await running.ledger.row(String(response.headers.get('x-weir-request-id')));
    assert.deepEqual([row.end, row.usage.outputImageTokens], ['finished', 816]);
  });

  test('images that are priced by the piece cost their number', async () => {
    const { response } = await running.client().images.generate({ model: 'imagen-4.0-generate-001', prompt: 'x', n: 3 }).withResponse();
    const row = await running.ledger.row(String(response.headers.get('x-weir-request-id')));
    assert.deepEqual([row.usage, row.charge.amountNanoUsd], [{ outputImages: 3 }, 120_000_000n]);
  });

  test('a field that a model does not support is in the warning and in the receipt, and is refused if the loss is too great', async () => {
    const asked = { prompt: 'x', quality: 'high', output_format: 'webp' } as const;
    const { response } = await running
      .client()
      .images.generate({ model: 'grok-imagine-image', ...asked })
      .withResponse();
    assert.match(String(response.headers.get('x-gateway-warning')), /dropped quality .*dropped output_format/);
    const receipt = await running.receipt(String(response.headers.get('x-weir-request-id')));
    assert.equal(receipt.json.rows[0].upstream_dialect, 'xai-images');
    assert.ok(receipt.json.rows[0].notes.request.some(({ field }: { field: string }) => field === 'quality'));
    await refuses(running.client().images.generate({ model: 'gemini-2.5-flash-image', prompt: 'x', n: 2 }), 400, /^400 n: /);
  });

  test('addresses are passed on if the vendor returns them', async () => {
    const created = await running.client().images.generate({ model: 'grok-imagine-image', prompt: 'x', response_format: 'url' });
    assert.match(created.data?.[0]?.url ?? '', /^http:/);
  });
});

describe('images from images', () => {
  const picture = () => toFile(onePixel, 'a.png', { type: 'image/png' });

  for (const model of ['gpt-image-1.5', 'gemini-2.5-flash-image', 'grok-imagine-image'])
    test(`${model}: a form with two files is accepted`, async () => {
      const image = [await picture(), await picture()];
      const { data, response } = await running.client().images.edit({ model, prompt: 'bluer', image }).withResponse();
      assert.notEqual(kindOf(data.data?.[0]?.b64_json), 'none');
      const row = await running.ledger.row(String(response.headers.get('x-weir-request-id')));
      assert.deepEqual([row.end, row.charge.amountNanoUsd > 0n], ['finished', true]);
      assert.ok((row.usage.inputImageTokens ?? row.usage.inputImages ?? 0) >= 2, JSON.stringify(row.usage));
    });

  for (const model of ['gpt-image-1.5', 'gemini-2.5-flash-image', 'grok-imagine-image'])
    test(`${model}: JSON with image data is accepted`, async () => {
      const body = { model, prompt: 'bluer', images: [{ image_url: `data:image/png;base64,${onePixel.toString('base64')}` }] };
      const created = await running.client().post<{ data: { b64_json: string }[] }>('/images/edits', { body });
      assert.notEqual(kindOf(created.data[0]?.b64_json), 'none');
    });

  test('a form may request a stream', async () => {
    const asked = { model: 'gpt-image-1.5', prompt: 'bluer', image: await picture(), stream: true, partial_images: 1 } as const;
    const events = await Array.fromAsync(await running.client().images.edit(asked));
    assert.deepEqual(
      events.map(({ type }) => type),
      ['image_edit.partial_image', 'image_edit.completed'],
    );
  });

  test('a form is sent to another vendor if the first does not answer', async () => {
    const { response } = await running
      .client()
      .images.edit({ model: 'second-picture', prompt: 'bluer', image: await picture() })
      .withResponse();
    const row = await running.ledger.row(String(response.headers.get('x-weir-request-id')));
    assert.deepEqual([row.end, row.upstream, row.failedAttempts?.length], ['finished', 'gemini', 1]);
  });
});

describe('failures of image calls', () => {
  test('an invalid request is refused with its field, and no upstream is called', async () => {
    const before = running.simulator.records().length;
    const images = running.client().images;
    const model = 'gpt-image-1.5';
    await refuses(images.generate({ model, prompt: 'x', n: 11 }), 400, /n/);
    await refuses(images.generate({ model, prompt: '' }), 400, /prompt/);
    await refuses(images.generate({ model: 'gpt-4.1', prompt: 'x' }), 400, /writes texts/);
    await refuses(images.generate({ model: 'nobody', prompt: 'x' }), 404, /nobody/);
    await refuses(images.edit({ model, prompt: 'x', image: [] }), 400, /image/);
    await refuses(
      images.edit({ model, prompt: 'x', image: await toFile(Buffer.from('x'), 'a.txt', { type: 'text/plain' }) }),
      400,
      /mimetype/,
    );
    assert.equal(running.simulator.records().length, before);
  });

  test("a moderation refusal has the vendor's format, whichever vendor refused", async () => {
    for (const { model } of makers) {
      const asked = running.client().images.generate({ model, prompt: 'x' }, { headers: { 'x-simulator-stop': 'refusal' } });
      const error = await asked.then(
        () => assert.fail(model),
        (cause: unknown) => cause,
      );
      assert.ok(error instanceof APIError && error.status !== undefined && error.status < 500, `${model}: ${String(error)}`);
    }
  });

  test('a failing upstream is replaced by another, and the call is charged once', async () => {
    const { data, response } = await running.client().images.generate({ model: 'second-picture', prompt: 'x' }).withResponse();
    assert.equal(kindOf(data.data?.[0]?.b64_json), 'png');
    const row = await running.ledger.row(String(response.headers.get('x-weir-request-id')));
    assert.deepEqual([row.upstream, row.failedAttempts?.map(({ upstream }) => upstream)], ['gemini', ['broken']]);
  });

  test('an upstream without usage is not free: the row marks its tokens as an estimate', async () => {
    const asked = { model: 'gpt-image-1.5', prompt: 'x', quality: 'low', size: '1024x1024' } as const;
    for (const stream of [false, true]) {
      const headers = { 'x-simulator-usage': 'absent' };
      const { response } = await running
        .client()
        .images.generate({ ...asked, stream }, { headers })
        .withResponse();
      const row = await running.ledger.row(String(response.headers.get('x-weir-request-id')));
      assert.deepEqual([row.estimated, row.usage.outputImageTokens], [true, 272], stream ? 'stream' : 'whole');
      assert.ok(row.charge.amountNanoUsd > 0n);
    }
  });

  test('a stream that breaks ends with an error that makes SDKs throw', async () => {
    const asked = { model: 'gpt-image-1.5', prompt: 'x', stream: true, partial_images: 3 } as const;
    const headers = { 'x-simulator-fault': 'reset-mid-stream;after=2' };
    const { data: stream, response } = await running.client().images.generate(asked, { headers }).withResponse();
    await assert.rejects(Array.fromAsync(stream), APIError);
    const row = await running.ledger.row(String(response.headers.get('x-weir-request-id')));
    assert.deepEqual([row.end, row.estimated], ['cut', true]);
    assert.ok((row.usage.outputImageTokens ?? 0) >= 100);
  });

  test('a client that disconnects during a stream is charged for the images that it received', async () => {
    const body = JSON.stringify({ model: 'gpt-image-1.5', prompt: 'x', stream: true, partial_images: 3 });
    const headers = { authorization: `Bearer ${running.weir.apiKey}`, 'x-simulator-fault': 'stall-mid-stream;after=2;ms=30000' };
    const open = openCall(`${running.weir.gatewayUrl}/v1/images/generations`, { headers, body });
    const head = await open.head;
    await open.until((text) => text.includes('partial_image_index'));
    open.leave('rst');
    const row = await eventually(
      () => running.ledger.row(String(head.headers['x-weir-request-id'])),
      () => true,
    );
    assert.deepEqual([row.end, row.estimated], ['client-left', true]);
    assert.ok((row.usage.outputImageTokens ?? 0) >= 100 && row.charge.amountNanoUsd > 0n, JSON.stringify(row.usage));
  });
});

test('a client that disconnects after the images were made is charged for its order, and the row marks it as an estimate', async () => {
  for (const [model, usage, estimated] of [
    ['gpt-image-1.5', { inputTokens: 1, outputTokens: 272, outputImageTokens: 272 }, true],
    ['imagen-4.0-generate-001', { outputImages: 1 }, false],
  ] as const) {
    const body = JSON.stringify({ model, prompt: 'x', quality: 'low', size: '1024x1024' });
    const headers = { authorization: `Bearer ${running.weir.apiKey}`, 'x-simulator-fault': 'stall-after-headers;ms=30000' };
    const rows = (await running.ledger.all()).length;
    const open = openCall(`${running.weir.gatewayUrl}/v1/images/generations`, { headers, body });
    open.head.catch(() => {});
    await eventually(
      () => running.simulator.records(),
      (records) => records.some(({ ending, status }) => ending === 'open' && status === 200),
    );
    // The head has been sent: a call that is made and answered now follows it.
    await running.client().images.generate({ model: 'grok-imagine-image', prompt: 'x' });
    open.leave('rst');
    const all = await eventually(
      () => running.ledger.all(),
      (found) => found.length > rows + 1,
    );
    const row = all.find(({ end, requestedModel, stream }) => end === 'client-left' && requestedModel === model && stream === false);
    assert.deepEqual([row?.end, row?.usage, row?.estimated], ['client-left', usage, estimated]);
    assert.ok((row?.charge.amountNanoUsd ?? 0n) > 0n);
  }
});

async function refuses(asked: Promise<unknown>, status: number, words: RegExp): Promise<void> {
  await assert.rejects(asked, (error) => {
    assert.ok(error instanceof APIError, String(error));
    assert.equal(error.status, status, error.message);
    assert.match(error.message, words);
    return true;
  });
}

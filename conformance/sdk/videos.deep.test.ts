import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';

import { createXai } from '@ai-sdk/xai';
import { experimental_generateVideo as generateVideo } from 'ai';
import OpenAI from 'openai';

import { eventually, post } from '../support/http.ts';
import { startVideosBench, type VideosBench } from '../videos/start-videos-bench.ts';

const picture = 'data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg==';

/** USD by model, the cost of the SDKs' videos by the shipped price book. Failed videos are not included. */
const costs: Record<string, { callCount: number; totalAmount: number }> = {};

function cost(model: string, usd: number): void {
  const known = (costs[model] ??= { callCount: 0, totalAmount: 0 });
  known.callCount += 1;
  known.totalAmount += usd;
}

const isMp4 = (bytes: ArrayBuffer | Uint8Array): boolean =>
  Buffer.from(bytes as Uint8Array)
    .subarray(4, 8)
    .toString() === 'ftyp';

/** The openai SDK's videos and the AI SDK's provider for xAI: generation, download and cost. */
describe('SDKs that make videos', () => {
  let bench: VideosBench;
  let client: OpenAI;
  before(async () => {
    bench = await startVideosBench({}, { monitor: true });
    const defaultHeaders = { 'x-simulator-video': 'ms=200' };
    client = new OpenAI({ baseURL: `${bench.weir.gatewayUrl}/v1`, apiKey: bench.weir.apiKey, maxRetries: 0, defaultHeaders });
  });
  after(() => bench[Symbol.asyncDispose]());

  const finished = (id: string) =>
    eventually(
      () => client.videos.retrieve(id),
      ({ status }) => status === 'completed',
      60_000,
    );

  test('openai: three videos, a remix, pages in both directions and a part of a file are available', async () => {
    const created = await Promise.all(
      ['one', 'two', 'three'].map((prompt) => client.videos.create({ model: 'sora-2', prompt, seconds: '4', size: '1280x720' })),
    );
    for (const { id, seconds, size, status } of await Promise.all(created.map(({ id }) => finished(id)))) {
      assert.deepEqual([seconds, size, status], ['4', '1280x720', 'completed'], id);
      cost('sora-2', 0.4);
    }
    const source = created[0];
    assert.ok(source);
    const remix = await client.videos.remix(source.id, { prompt: 'in blue' });
    const remixed = await finished(remix.id);
    assert.deepEqual([remixed.remixed_from_video_id, remixed.seconds, remixed.size], [source.id, '4', '1280x720']);
    cost('sora-2', 0.4);

    const newestFirst: string[] = [];
    for await (const { id } of client.videos.list({ limit: 2 })) newestFirst.push(id);
    const oldestFirst: string[] = [];
    for await (const { id } of client.videos.list({ limit: 3, order: 'asc' })) oldestFirst.push(id);
    assert.deepEqual(newestFirst, oldestFirst.toReversed());
    assert.deepEqual(newestFirst.toSorted(), [...created.map(({ id }) => id), remix.id].toSorted());
    assert.equal(newestFirst[0], remix.id);

    const whole = Buffer.from(await (await client.videos.downloadContent(source.id)).arrayBuffer());
    assert.ok(isMp4(whole));
    const part = await client.videos.downloadContent(source.id, { variant: 'video' }, { headers: { range: 'bytes=100-299' } });
    assert.deepEqual([part.status, part.headers.get('content-range')], [206, `bytes 100-299/${whole.length}`]);
    assert.deepEqual(Buffer.from(await part.arrayBuffer()), whole.subarray(100, 300));
    await assert.rejects(
      client.videos.downloadContent(source.id, { variant: 'thumbnail' }),
      (error) => error instanceof OpenAI.BadRequestError,
    );
  });

  test('openai: a failure is an object with its error', async () => {
    const { id } = await client.videos.create(
      { model: 'sora-2', prompt: 'odd' },
      { headers: { 'x-simulator-video': 'ms=100;end=failed' } },
    );
    const failed = await eventually(
      () => client.videos.retrieve(id),
      ({ status }) => status === 'failed',
      60_000,
    );
    assert.ok(failed.error?.code && failed.error.message);
    await assert.rejects(client.videos.downloadContent(id), (error) => error instanceof OpenAI.NotFoundError);
  });

  /**
   * The SDK downloads the file by the returned link, without a key. Its own download refuses addresses of this machine,
   * so the test replaces it.
   */
  const download = async ({ url }: { readonly url: URL }) => {
    const answer = await fetch(url);
    assert.equal(answer.status, 200);
    return { data: new Uint8Array(await answer.arrayBuffer()), mediaType: answer.headers.get('content-type') ?? undefined };
  };
  const generate = (options: Omit<Parameters<typeof generateVideo>[0], 'model'>) => {
    const { apiKey, gatewayUrl } = bench.weir;
    const xai = createXai({ baseURL: `${gatewayUrl}/v1`, apiKey, headers: { 'x-simulator-video': 'ms=200' } });
    return generateVideo({ model: xai.video('vendor-imagine-video'), maxRetries: 0, download, ...options });
  };
  const providerOptions = { xai: { pollIntervalMs: 200, resolution: '480p' } };

  test('@ai-sdk/xai: a video is made from text', async () => {
    const { video, warnings } = await generate({ prompt: 'a lighthouse', duration: 2, aspectRatio: '9:16', providerOptions });
    assert.ok(isMp4(video.uint8Array));
    assert.deepEqual([video.mediaType, warnings], ['video/mp4', []]);
    assert.equal(
      bench.simulator.records().some(({ requestBody }) => requestBody?.['aspect_ratio'] === '9:16'),
      true,
    );
    cost('vendor-imagine-video', 0.1);
  });

  test('@ai-sdk/xai: a video is made from an image', async () => {
    const { video } = await generate({ prompt: { image: picture, text: 'a dot moves' }, duration: 3, providerOptions });
    assert.ok(isMp4(video.uint8Array));
    assert.equal(bench.simulator.videos().find(({ prompt }) => prompt === 'a dot moves')?.['imageCount'], 1);
    cost('vendor-imagine-video', 0.152);
  });

  test('@ai-sdk/xai: a video is edited by the link that the gateway returned', async () => {
    const created = await bench.ask('POST', '/videos/generations', {
      body: { model: 'vendor-imagine-video', prompt: 'source', duration: 2 },
      headers: { 'x-simulator-video': 'ms=100' },
    });
    const done = await eventually(
      () => bench.ask('GET', `/videos/${created.json.request_id}`),
      ({ status }) => status === 200,
      60_000,
    );
    cost('vendor-imagine-video', 0.1);
    const videoUrl: string = done.json.video.url;
    const { video } = await generate({
      prompt: 'in green',
      providerOptions: { xai: { pollIntervalMs: 200, mode: 'edit-video', videoUrl } },
    });
    assert.ok(isMp4(video.uint8Array));
    assert.ok(bench.simulator.records().some(({ path }) => path === '/v1/videos/edits'));
    // An edit is priced as 720p, whatever its source is.
    cost('vendor-imagine-video', 0.14);
  });

  test("the books match the SDKs' results", async () => {
    const nowSeconds = Math.floor(Date.now() / 1000);
    const question = { type: 3, startTime: nowSeconds - 3600, endTime: nowSeconds + 3600 };
    const read = async () => {
      const answer = await post(`${bench.weir.monitorUrl}/bill/stats`, question, { token: bench.weir.billingToken });
      const sums: typeof costs = {};
      for (const { modelName, callCount, totalAmount, totalPromptTokens, totalCompletionTokens } of answer.json.data) {
        const sum = (sums[modelName] ??= { callCount: 0, totalAmount: 0 });
        sum.callCount += callCount;
        sum.totalAmount += totalAmount;
        assert.deepEqual([totalPromptTokens, totalCompletionTokens], [0, 0]);
      }
      return sums;
    };
    const calls = (sums: typeof costs): number => Object.values(sums).reduce((all, { callCount }) => all + callCount, 0);
    const books = await eventually(read, (sums) => calls(sums) >= calls(costs));
    const rounded = (sums: typeof costs) =>
      Object.fromEntries(
        Object.entries(sums)
          .toSorted(([one], [other]) => (one < other ? -1 : 1))
          .map(([model, { callCount, totalAmount }]) => [model, { callCount, totalAmount: Math.round(totalAmount * 1e9) }]),
      );
    assert.deepEqual(rounded(books), rounded(costs));
  });
});

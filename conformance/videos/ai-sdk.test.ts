import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';

import { createXai } from '@ai-sdk/xai';
import { experimental_generateVideo as generateVideo } from 'ai';

import { startVideosBench, type VideosBench } from './start-videos-bench.ts';

describe('the AI SDK’s provider for xAI', () => {
  let bench: VideosBench;
  before(async () => {
    bench = await startVideosBench();
  });
  after(() => bench[Symbol.asyncDispose]());

  test('makes a video, waits for it and downloads it', async () => {
    const { apiKey, gatewayUrl } = bench.weir;
    const xai = createXai({ baseURL: `${gatewayUrl}/v1`, apiKey, headers: { 'x-simulator-video': 'ms=500' } });
    const { video } = await generateVideo({
      model: xai.video('vendor-imagine-video'),
      prompt: 'a lighthouse',
      duration: 2,
      aspectRatio: '16:9',
      maxRetries: 0,
      providerOptions: { xai: { pollIntervalMs: 200, resolution: '480p' } },
      // The file is its owner's alone: it is asked for with the key.
      download: async ({ url }) => {
        const answer = await fetch(url, { headers: { authorization: `Bearer ${apiKey}` } });
        assert.equal(answer.status, 200);
        return { data: new Uint8Array(await answer.arrayBuffer()), mediaType: answer.headers.get('content-type') ?? undefined };
      },
    });
    assert.equal(video.mediaType, 'video/mp4');
    assert.equal(Buffer.from(video.uint8Array).subarray(4, 8).toString(), 'ftyp');
  });
});

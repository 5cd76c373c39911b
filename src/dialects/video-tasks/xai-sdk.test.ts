import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createXai } from '@ai-sdk/xai';
import { GatewayError } from '../../inference/gateway-error.ts';
import { parseJsonObject } from '../../platform/json/parse-json.ts';
import { encodeVideoError } from './encode-video-error.ts';
import { encodeCreatedVideo, encodeVideoTask, type VideoTaskView } from './encode-video-task.ts';
import { type ReadVideo, readVideoRequest } from './read-video-request.ts';

const view: VideoTaskView = {
  id: 'task_1',
  form: 'xai-videos',
  model: 'grok-imagine-video',
  status: 'queued',
  progress: 0,
  createdAt: 1_785_963_542,
  prompt: 'p',
  metadata: '{}',
  seconds: 5,
};
const url = 'https://gateway.example/v1/videos/task_1/content';
const actions = { generations: 'generate', edits: 'edit', extensions: 'extend' } as const;

/** Connects xAI's SDK to this dialect through its `fetch`. Status requests return the views one after another. */
function connect(views: readonly VideoTaskView[]): { readonly sdk: ReturnType<typeof createXai>; readonly read: ReadVideo[] } {
  const read: ReadVideo[] = [];
  const left = [...views];
  const answer = (address: string, init: RequestInit | undefined): Response => {
    if (init?.method !== 'POST') {
      const { status, body } = encodeVideoTask(left.shift() ?? view);
      return new Response(new Uint8Array(body), { status, headers: { 'content-type': 'application/json' } });
    }
    const action = actions[address.slice(address.lastIndexOf('/') + 1) as keyof typeof actions];
    try {
      const bytes = Buffer.from(typeof init.body === 'string' ? init.body : '');
      read.push(readVideoRequest({ form: 'xai-videos', action, bytes, body: parseJsonObject(bytes) ?? {} }, 'compatible'));
      return new Response(new Uint8Array(encodeCreatedVideo(view).body), { status: 200 });
    } catch (error) {
      assert.ok(error instanceof GatewayError);
      const { status, headers, body } = encodeVideoError(error, 'req_1', 'xai-videos');
      return new Response(new Uint8Array(body), { status, headers });
    }
  };
  const fetch = (address: string | URL | Request, init?: RequestInit): Promise<Response> =>
    Promise.resolve(answer(address instanceof Request ? address.url : String(address), init));
  return { sdk: createXai({ apiKey: 'k', baseURL: 'https://gateway.example/v1', fetch }), read };
}

type Generated = { readonly videos: readonly unknown[] };

async function generate(
  { sdk }: ReturnType<typeof connect>,
  xai: Record<string, string | number | string[]> = {},
  more: { readonly duration?: number; readonly aspectRatio?: `${number}:${number}` } = {},
): Promise<Generated> {
  return sdk.video('grok-imagine-video').doGenerate({
    prompt: 'p',
    n: 1,
    aspectRatio: more.aspectRatio,
    resolution: undefined,
    duration: more.duration,
    fps: undefined,
    seed: undefined,
    image: undefined,
    frameImages: undefined,
    inputReferences: undefined,
    generateAudio: undefined,
    providerOptions: { xai: { pollIntervalMs: 1, ...xai } },
  });
}

const completed: VideoTaskView = { ...view, status: 'completed', progress: 100, url };

test('xAI’s SDK creates a video, waits for it and finds it', async () => {
  const connection = connect([view, { ...view, status: 'in_progress', progress: 40 }, completed]);
  const { videos } = await generate(connection, { resolution: '720p', user: 'u' }, { duration: 7, aspectRatio: '1:1' });
  assert.deepEqual(videos, [{ type: 'url', url, mediaType: 'video/mp4' }]);
  const { mode, durationSeconds, resolution, aspectRatio, user } = connection.read[0]?.request ?? {};
  assert.deepEqual([mode, durationSeconds, resolution, aspectRatio, user], ['text', 7, '720p', '1:1', 'u']);
});

test('xAI’s SDK sends edits, extensions and references', async () => {
  const videoUrl = 'https://media.example/v.mp4';
  const cases: readonly [Record<string, string | string[]>, string][] = [
    [{ mode: 'edit-video', videoUrl }, 'remix'],
    [{ mode: 'extend-video', videoUrl }, 'extension'],
    [{ mode: 'reference-to-video', referenceImageUrls: ['https://media.example/a.png'] }, 'references'],
  ];
  for (const [options, mode] of cases) {
    const connection = connect([completed]);
    await generate(connection, options);
    assert.equal(connection.read[0]?.request.mode, mode);
  }
});

test('xAI’s SDK reports a failed, withheld or refused video as an error with its reason', async () => {
  const over = (code: 'content_moderated' | 'task_expired' | 'upstream_failed'): VideoTaskView => ({
    ...view,
    status: 'failed',
    error: { code, message: 'No.' },
  });
  await assert.rejects(generate(connect([over('content_moderated')])), { name: 'XAI_VIDEO_MODERATION_ERROR' });
  await assert.rejects(generate(connect([over('task_expired')])), { name: 'XAI_VIDEO_GENERATION_EXPIRED' });
  await assert.rejects(generate(connect([over('upstream_failed')])), { name: 'XAI_VIDEO_GENERATION_FAILED' });
  await assert.rejects(generate(connect([]), {}, { duration: 16 }), { statusCode: 400, message: /invalid_duration: duration must be/ });
});

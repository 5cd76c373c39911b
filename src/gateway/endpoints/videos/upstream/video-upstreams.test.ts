import assert from 'node:assert/strict';
import { test } from 'node:test';

import { videoProtocols } from '../../../../dialects/video-tasks/video-protocols.ts';
import type { VideoTask } from '../../../../tasks/video-task.ts';
import type { TaskReport } from '../../../../tasks/video-upstreams.ts';
import { createFakeVideos, type FakeAnswer, type FakeVideos } from '../testing/fake-videos.ts';
import { createVideoUpstreams } from './video-upstreams.ts';

const signal = new AbortController().signal;
const task = {
  id: 'task_1',
  callId: 'req_1',
  upstream: 'a',
  credentialId: 'a',
  protocol: 'xai-videos',
  upstreamTaskId: 'up/1',
} as unknown as VideoTask;

function upstreamsOf(videos: FakeVideos) {
  return createVideoUpstreams({
    routing: () => videos.context.settings.routing,
    protocols: videoProtocols,
    openAddress: () => Promise.reject(new Error('nothing is opened here')),
    timeouts: () => ({ firstByteMs: 1000, idleMs: 1000 }),
  });
}

async function ask(
  answer: FakeAnswer,
  more: Partial<VideoTask> = {},
): Promise<{ readonly reading: TaskReport; readonly path: string | undefined }> {
  const videos = createFakeVideos([{ id: 'a', answers: [answer] }]);
  const reading = await upstreamsOf(videos).ask({ ...task, ...more }, signal);
  return { reading, path: videos.sent[0]?.request.path };
}

test('a task is polled by the id of the upstream', async () => {
  const { reading, path } = await ask({ status: 202, body: { status: 'pending', progress: 40 } });
  assert.equal(path, '/base/videos/up%2F1');
  assert.deepEqual(reading, { status: 'in_progress', progress: 40 });
});

test('a finished task has the result of its file', async () => {
  const video = { url: 'https://files.example/1.mp4', duration: 5, respect_moderation: true };
  const { reading } = await ask({ status: 200, body: { status: 'done', video } });
  assert.equal(reading.status, 'completed');
  assert.ok(reading.status === 'completed' && reading.result.includes('https://files.example/1.mp4') && reading.durationMs === 5000);
});

const silences: readonly (readonly [what: string, answer: FakeAnswer, isOurs: boolean])[] = [
  ['500', { status: 500 }, false],
  ['429', { status: 429 }, false],
  ['a broken connection', 'ECONNRESET', false],
  ['401', { status: 401 }, true],
  ['403', { status: 403 }, true],
];

for (const [what, answer, isOurs] of silences) {
  test(`${what} proves nothing about the task`, async () => {
    const { reading } = await ask(answer);
    assert.ok(reading.status === 'unclear' && reading.isOurs === isOurs);
  });
}

test('a task whose upstream is removed or reconfigured reports a problem for the operator', async () => {
  for (const changes of [{ upstream: 'gone' }, { protocol: 'openai-videos' }]) {
    const { reading, path } = await ask({ status: 200 }, changes);
    assert.ok(reading.status === 'unclear' && reading.isOurs);
    assert.equal(path, undefined);
  }
});

test('another credential of the upstream replaces one that was removed', async () => {
  const { reading } = await ask({ status: 202, body: { status: 'pending', progress: 1 } }, { credentialId: 'renewed' });
  assert.equal(reading.status, 'in_progress');
});

const submission = {
  path: '/video/generations',
  headers: { 'content-type': 'application/json' },
  bodyBase64: Buffer.from('{"a":1}').toString('base64'),
};
const sealed = { prompt: 'p', metadata: '{}', submission };

test('a submission is sent again, unchanged and with its key, only if the upstream supports idempotency keys', async () => {
  for (const [protocol, expected] of [
    ['video-generations', 'up_2'],
    ['xai-videos', undefined],
  ] as const) {
    const answer = { status: 200, body: { id: 'up_2', object: 'video', status: 'queued', progress: 0 } };
    const videos = createFakeVideos([{ id: 'a', protocol, answers: [answer] }]);
    const again = await upstreamsOf(videos).submitAgain({ ...task, protocol }, sealed, signal);
    assert.equal(typeof again === 'object' ? again.upstreamTaskId : again, expected);
    if (expected === undefined) continue;
    const request = videos.sent[0]?.request;
    assert.deepEqual(
      [request?.path, request?.headers['idempotency-key'], request?.body?.toString()],
      ['/base/video/generations', 'req_1', '{"a":1}'],
    );
  }
});

test('a submission that fails again stays unclear, and a refusal ends it', async () => {
  for (const [answer, expected] of [
    [{ status: 503 }, 'unclear'],
    [{ status: 401 }, 'unclear'],
    ['ECONNREFUSED', 'unclear'],
    [{ status: 403 }, 'unclear'],
    [{ status: 403, body: { error: 'Content violates usage guidelines.' } }, 'refused'],
    [{ status: 400, body: { error: { message: 'no' } } }, 'refused'],
  ] as const) {
    const videos = createFakeVideos([{ id: 'a', protocol: 'video-generations', answers: [answer] }]);
    assert.equal(await upstreamsOf(videos).submitAgain({ ...task, protocol: 'video-generations' }, sealed, signal), expected);
  }
});

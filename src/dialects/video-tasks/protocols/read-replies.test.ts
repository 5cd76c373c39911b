import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { SubmissionAnswer, UpstreamVideo, VideoProtocolId, WholeReply } from '../video-protocol.ts';
import { videoProtocols } from '../video-protocols.ts';

const replyOf = (status: number, body: unknown): WholeReply => ({
  status,
  body: Buffer.from(typeof body === 'string' ? body : JSON.stringify(body)),
});

const statusOf = (protocol: VideoProtocolId, status: number, body: unknown): UpstreamVideo =>
  videoProtocols[protocol].readStatus(replyOf(status, body), 'up_1');
const answerOf = (protocol: VideoProtocolId, status: number, body: unknown): SubmissionAnswer =>
  videoProtocols[protocol].readSubmission(replyOf(status, body));

const protocols = ['xai-videos', 'openai-videos', 'video-generations'] as const;

test('xAI: every state is read, including 202 and old replies without a status', () => {
  const url = 'https://vidgen.example/1.mp4';
  const usage = { cost_in_usd_ticks: 2_500_000_000 };
  const done = { status: 'completed', result: { kind: 'url', url }, durationMs: 5000 };
  const raw = { model: 'grok-imagine-video', usage, video: { duration: 5, respect_moderation: true } };
  const video = { url, duration: 5, respect_moderation: true };
  const cases: readonly [number, unknown, unknown][] = [
    [202, '', { status: 'queued' }],
    [202, ' \n', { status: 'queued' }],
    [202, {}, { status: 'queued' }],
    [202, { status: 'pending', progress: 0 }, { status: 'queued', progress: 0 }],
    [202, { status: 'pending', progress: 37.5 }, { status: 'in_progress', progress: 37 }],
    [200, { status: 'done', progress: 100, model: 'grok-imagine-video', video, usage }, { ...done, raw }],
    [200, { model: 'grok-imagine-video', video, usage }, { ...done, raw }],
    [
      200,
      { status: 'done', video: { url: '', duration: 5, respect_moderation: false } },
      {
        status: 'failed',
        error: { code: 'content_moderated', message: "The generated video was withheld by the provider's moderation." },
        isBilled: true,
        durationMs: 5000,
        raw: { video: { duration: 5, respect_moderation: false } },
      },
    ],
    [
      200,
      { status: 'failed', error: { code: 'internal', message: 'GPU on fire' } },
      { status: 'failed', error: { code: 'upstream_failed', message: 'GPU on fire' }, isBilled: false },
    ],
  ];
  for (const [status, body, expected] of cases) assert.deepEqual(statusOf('xai-videos', status, body), expected, JSON.stringify(body));
  const expired = statusOf('xai-videos', 200, { status: 'expired' });
  assert.ok(expired.status === 'failed' && expired.error.code === 'task_expired' && !expired.isBilled);
});

test('OpenAI: every state is read', () => {
  const cases: readonly [unknown, unknown][] = [
    [
      { status: 'queued', progress: 0 },
      { status: 'queued', progress: 0 },
    ],
    [
      { status: 'in_progress', progress: 33 },
      { status: 'in_progress', progress: 33 },
    ],
    [
      { status: 'completed', model: 'sora-2', seconds: '8', size: '1280x720' },
      {
        status: 'completed',
        result: { kind: 'path', path: '/videos/up_1/content' },
        durationMs: 8000,
        raw: { model: 'sora-2', seconds: '8', size: '1280x720' },
      },
    ],
    [
      { status: 'failed', error: { code: 'moderation_blocked', message: 'No.' } },
      { status: 'failed', error: { code: 'content_moderated', message: 'No.' }, isBilled: false },
    ],
    [
      { status: 'failed', error: null },
      { status: 'failed', error: { code: 'upstream_failed', message: 'The upstream could not make the video.' }, isBilled: false },
    ],
  ];
  for (const [body, expected] of cases) assert.deepEqual(statusOf('openai-videos', 200, body), expected);
});

test('gateways of the contract: all their names for the same four states are read, with and without envelopes', () => {
  const words: Readonly<Record<string, readonly string[]>> = {
    queued: ['queued', 'NOT_START', 'SUBMITTED', 'pending'],
    in_progress: ['in_progress', 'processing', 'IN_PROGRESS', 'running'],
    completed: ['completed', 'succeeded', 'SUCCESS', 'success', 'done'],
    failed: ['failed', 'FAILURE', 'error', 'expired', 'cancelled'],
    unclear: ['unknown', '', 'UNKNOWN', 'constructor', '__proto__', 'toString'],
  };
  for (const [stage, spellings] of Object.entries(words)) {
    for (const status of spellings) {
      assert.equal(statusOf('video-generations', 200, { id: 'up_1', status }).status, stage, status);
      assert.equal(statusOf('video-generations', 200, { code: 'success', data: { task_id: 'up_1', status } }).status, stage, status);
    }
  }
  assert.deepEqual(statusOf('video-generations', 200, { data: { status: 'running', progress: '50%' } }), {
    status: 'in_progress',
    progress: 50,
  });
  assert.deepEqual(statusOf('video-generations', 200, { status: 'failed', fail_reason: 'no GPU' }), {
    status: 'failed',
    error: { code: 'upstream_failed', message: 'no GPU' },
    isBilled: false,
  });
  assert.deepEqual(statusOf('video-generations', 200, { status: 'completed', seconds: '5', metadata: { url: 'http://10.0.0.1/' } }), {
    status: 'completed',
    result: { kind: 'path', path: '/videos/up_1/content' },
    durationMs: 5000,
    raw: { seconds: '5' },
  });
});

test('a reply without information is unclear and fails no task (F46, F49, F50)', () => {
  const cases: readonly [number, unknown][] = [
    [200, ''],
    [200, '[]'],
    [200, '<html>'],
    [200, 'null'],
    [200, {}],
    [200, { status: 'paused' }],
    [200, { status: 7 }],
    [200, { error: 'internal' }],
    [202, '<html>'],
    [204, ''],
    [301, ''],
    [400, { error: { message: 'bad' } }],
    [401, { error: { message: 'key' } }],
    [403, {}],
    [404, ''],
    [404, '<html>404 page not found</html>'],
    [408, {}],
    [429, {}],
    [500, { status: 'failed' }],
    [502, '<html>'],
    [503, { status: 'failed', error: 'x' }],
  ];
  for (const protocol of protocols) {
    for (const [status, body] of cases) {
      assert.equal(statusOf(protocol, status, body).status, 'unclear', `${protocol} ${status} ${JSON.stringify(body)}`);
    }
    assert.deepEqual(statusOf(protocol, 404, { code: 'not_found', error: 'no such request' }), { status: 'missing' });
    assert.deepEqual(statusOf(protocol, 410, { error: { message: 'gone' } }), { status: 'missing' });
  }
  for (const url of ['', 'file:///etc/passwd', 'gopher://x/', '/videos/1', 7, null]) {
    assert.equal(statusOf('xai-videos', 200, { status: 'done', video: { url } }).status, 'unclear', String(url));
  }
  fc.assert(
    fc.property(fc.constantFrom(...protocols), fc.integer({ min: 100, max: 599 }), fc.json(), (protocol, status, body) => {
      const reading = statusOf(protocol, status, body);
      assert.ok(reading.status !== 'failed' && reading.status !== 'completed', body);
    }),
  );
});

test('an accepted submission has an id that is valid in a path', () => {
  const accepted: readonly [VideoProtocolId, unknown, string, string][] = [
    ['xai-videos', { request_id: 'd97415a1' }, 'd97415a1', 'queued'],
    ['openai-videos', { id: 'video_1', object: 'video', status: 'queued', progress: 0 }, 'video_1', 'queued'],
    ['video-generations', { id: 'task_1', task_id: 'task_1', status: 'in_progress' }, 'task_1', 'in_progress'],
    ['video-generations', { task_id: 'task_1' }, 'task_1', 'queued'],
    ['video-generations', { code: 'success', data: 'task_1' }, 'task_1', 'queued'],
    ['video-generations', { code: 'success', data: { task_id: 'task_1', status: 'SUBMITTED' } }, 'task_1', 'queued'],
  ];
  for (const [protocol, body, upstreamTaskId, status] of accepted) {
    const answer = answerOf(protocol, 200, body);
    assert.ok(answer.type === 'accepted', JSON.stringify(body));
    assert.deepEqual([answer.upstreamTaskId, answer.video.status], [upstreamTaskId, status]);
  }
  for (const protocol of protocols) {
    for (const id of ['', '.', '..', 7, null, 'x'.repeat(513)]) {
      assert.equal(answerOf(protocol, 200, { id, request_id: id }).type, 'unclear', `${protocol} ${String(id)}`);
    }
    assert.equal(videoProtocols[protocol].statusPath('a/../b?c#d'), '/videos/a%2F..%2Fb%3Fc%23d');
  }
});

test('a refusal is read in every shape of error, and anything else is unclear', () => {
  const shapes: readonly [unknown, string, string | undefined][] = [
    [{ error: { message: 'Too long.', param: 'duration', code: 'x' } }, 'Too long.', 'duration'],
    [{ code: 'invalid-argument', error: 'Too long.' }, 'Too long.', undefined],
    [{ error: 'Too long.' }, 'Too long.', undefined],
    [{ code: 'invalid_request', message: 'Too long.', data: null }, 'Too long.', undefined],
    [{ error: { message: 'Key sk-abcdefghijk is bad.' } }, 'Key … is bad.', undefined],
    ['<html>', '', undefined],
  ];
  for (const protocol of protocols) {
    for (const [body, message, param] of shapes) {
      const expected = { type: 'refused', status: 422, message, ...(param === undefined ? {} : { param }) };
      assert.deepEqual(answerOf(protocol, 422, body), expected, JSON.stringify(body));
    }
    for (const status of [301, 408, 425, 499, 500, 502, 503, 504])
      assert.equal(answerOf(protocol, status, { error: 'x' }).type, 'unclear', String(status));
    for (const body of ['', '<html>', '[]', '{}']) assert.equal(answerOf(protocol, 200, body).type, 'unclear', body);
  }
});

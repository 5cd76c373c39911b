import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { VideoForm, VideoRequest } from '../../../inference/video.ts';
import type { VideoProtocolId, VideoSubmission } from '../video-protocol.ts';
import { videoProtocols } from '../video-protocols.ts';
import { read, refusalOf } from '../testing/test-kit.ts';

const image = 'https://media.example/a.png';
const png = 'data:image/png;base64,iVBORw0KGgo=';
const video = 'https://media.example/v.mp4';

type Options = { readonly form?: VideoForm; readonly action?: 'edit' | 'extend'; readonly changes?: Partial<VideoRequest> };

function submit(protocol: VideoProtocolId, body: string | Record<string, unknown>, { changes, ...options }: Options = {}): VideoSubmission {
  const { request } = read(body, options);
  return videoProtocols[protocol].encodeSubmission({ ...request, ...changes }, 'upstream-model');
}

/** Path, body, and the bill: milliseconds, images, resolution. */
type Case = readonly [body: Record<string, unknown>, options: Options, path: string, sent: Record<string, unknown>, bill: readonly [number, number, string]]; // prettier-ignore

function check(protocol: VideoProtocolId, cases: readonly Case[]): void {
  for (const [body, options, path, sent, [outputVideoMs, inputImages, resolution]] of cases) {
    const submission = submit(protocol, body, options);
    const label = JSON.stringify(body);
    assert.equal(submission.path, path, label);
    assert.deepEqual(JSON.parse(submission.body.toString()), { prompt: 'p', ...sent }, label);
    assert.deepEqual(submission.billing, { usage: { outputVideoMs, inputImages }, parameters: { resolution } }, label);
    assert.deepEqual(submission.headers, { 'content-type': 'application/json' });
  }
}

const model = 'upstream-model';

test('xAI: length, resolution and ratio are always sent, the ratio not with images', () => {
  const text = { model, duration: 5, resolution: '480p', aspect_ratio: '16:9' };
  const pictured = { model, duration: 5, resolution: '480p' };
  check('xai-videos', [
    [{}, {}, '/videos/generations', text, [5000, 0, '480p']],
    [{ duration: '15', metadata: { resolution: '720p', aspect_ratio: '1:1' } }, {}, '/videos/generations', { model, duration: 15, resolution: '720p', aspect_ratio: '1:1' }, [15_000, 0, '720p']], // prettier-ignore
    [{ image }, {}, '/videos/generations', { ...pictured, image: { url: image } }, [5000, 1, '480p']],
    [{ image: png, metadata: { aspect_ratio: '3:2' } }, {}, '/videos/generations', { ...pictured, aspect_ratio: '3:2', image: { url: png } }, [5000, 1, '480p']], // prettier-ignore
    [
      { images: [image, png] },
      {},
      '/videos/generations',
      { ...pictured, reference_images: [{ url: image }, { url: png }] },
      [5000, 2, '480p'],
    ],
    [{ metadata: { video } }, {}, '/videos/edits', { model, video: { url: video } }, [8700, 0, '720p']],
    [{ video: { url: video } }, { form: 'xai-videos', action: 'extend' }, '/videos/extensions', { model, video: { url: video }, duration: 6 }, [36_000, 0, '720p']], // prettier-ignore
    [{ user: 'u', metadata: { user: 'other', model: 'other', duration: 9 } }, {}, '/videos/generations', { ...text, user: 'u', duration: 9 }, [9000, 0, '480p']], // prettier-ignore
    [{ size: '1280x720' }, { form: 'openai-videos' }, '/videos/generations', { ...text, resolution: '720p' }, [5000, 0, '720p']],
  ]);
});

test('OpenAI: only supported lengths and sizes are sent', () => {
  check('openai-videos', [
    [{}, {}, '/videos', { model, seconds: '4', size: '1280x720' }, [4000, 0, '720p']],
    [{}, { form: 'openai-videos' }, '/videos', { model, seconds: '4', size: '720x1280' }, [4000, 0, '720p']],
    [{ seconds: '12', size: '1024x1792' }, { form: 'openai-videos' }, '/videos', { model, seconds: '12', size: '1024x1792' }, [12_000, 0, '1024p']], // prettier-ignore
    [{ duration: 8, metadata: { resolution: '1080p' }, image }, {}, '/videos', { model, seconds: '8', size: '1920x1080', input_reference: { image_url: image } }, [8000, 1, '1080p']], // prettier-ignore
    [
      {},
      { changes: { mode: 'remix', video: { kind: 'task', taskId: 'video_1/..' } } },
      '/videos/video_1%2F../remix',
      {},
      [12_000, 0, '720p'],
    ],
    [{}, { changes: { mode: 'remix', video: { kind: 'task', taskId: 'video_1' }, durationSeconds: 8, resolution: '1080p' } }, '/videos/video_1/remix', {}, [8000, 0, '1080p']], // prettier-ignore
    [{}, { changes: { mode: 'extension', video: { kind: 'task', taskId: 'video_1' }, durationSeconds: 20 } }, '/videos/extensions', { seconds: '20', video: { id: 'video_1' } }, [20_000, 0, '720p']], // prettier-ignore
  ]);
});

test('a gateway with the contract receives the request almost unchanged', () => {
  check('video-generations', [
    [{}, {}, '/video/generations', { model, duration: 5, metadata: {} }, [5000, 0, '480p']],
    [{ image, metadata: { resolution: '720p', seed: 1 } }, {}, '/video/generations', { model, duration: 5, image, metadata: { resolution: '720p', seed: 1 } }, [5000, 1, '720p']], // prettier-ignore
    [{ images: [image, png], seed: 7 }, {}, '/video/generations', { model, duration: 5, images: [image, png], seed: 7, metadata: {} }, [5000, 2, '480p']], // prettier-ignore
    [{ metadata: { video } }, {}, '/video/generations', { model, metadata: { video } }, [8700, 0, '720p']],
    [{ size: '720x1280', seconds: '8' }, { form: 'openai-videos' }, '/video/generations', { model, duration: 8, metadata: { resolution: '720p', aspect_ratio: '9:16' } }, [8000, 0, '720p']], // prettier-ignore
    [{ metadata: { Resolution: '720p', user: 'other' } }, {}, '/video/generations', { model, duration: 5, metadata: { Resolution: '720p', user: 'other', resolution: '720p' } }, [5000, 0, '720p']], // prettier-ignore
    [{ video, metadata: { video: null } }, {}, '/video/generations', { model, metadata: { video } }, [8700, 0, '720p']],
    [{ metadata: { a: 1 } }, { changes: { mode: 'remix', video: { kind: 'task', taskId: 'task_1' } } }, '/videos/task_1/remix', { model, metadata: { a: 1 } }, [8700, 0, '720p']], // prettier-ignore
  ]);
});

test('metadata reaches an upstream of the same interface byte by byte, including model, prompt and user; others report what was left out', () => {
  const metadata = '{ "model":"x", "prompt":"y","user":{"id":1}, "seed":1.0, "resolution":null }';
  const body = `{"model":"m","prompt":"p","metadata":${metadata}}`;
  const same = submit('video-generations', body);
  assert.ok(same.body.toString().endsWith(`,"metadata":${metadata}}`), same.body.toString());
  assert.deepEqual(same.ignored, []);
  for (const protocol of ['xai-videos', 'openai-videos'] as const)
    assert.deepEqual(submit(protocol, body).ignored, ['metadata.model', 'metadata.prompt', 'metadata.user']);
  const foreign = submit('video-generations', body, { form: 'openai-videos' });
  assert.deepEqual(foreign.ignored, ['metadata.model', 'metadata.prompt', 'metadata.user']);
  assert.doesNotMatch(foreign.body.toString(), /"x"|"y"/);
});

test('metadata keeps its digits and escapes', () => {
  const metadata =
    '{ "seed":12345678901234567890, "ratio":1.0e0, "n\\u0061me":"\\ud83d\\ude00", "deep":{"duration":99, "a":[1.10]}, "__proto__":{"x":1} }';
  const body = `{"model":"m","prompt":"p","metadata":${metadata}}`;
  const merged =
    '"seed":12345678901234567890,"ratio":1.0e0,"n\\u0061me":"\\ud83d\\ude00","deep":{"duration":99, "a":[1.10]},"__proto__":{"x":1}}';
  assert.ok(submit('xai-videos', body).body.toString().endsWith(`,${merged}`));
  assert.ok(submit('openai-videos', body).body.toString().endsWith(`,${merged}`));
  assert.ok(submit('video-generations', body).body.toString().endsWith(`,"metadata":${metadata}}`));
});

test('members of one interface are not sent to others, and the client is notified', () => {
  const xai = { form: 'xai-videos' } as const;
  assert.match(submit('xai-videos', { generate_audio: false }, xai).body.toString(), /"generate_audio":false/);
  for (const protocol of ['openai-videos', 'video-generations'] as const) {
    const { body, ignored } = submit(protocol, { generate_audio: false }, xai);
    assert.deepEqual([body.includes('generate_audio'), ignored], [false, ['generate_audio']]);
  }
  const twice = submit('xai-videos', { generate_audio: false, metadata: { generate_audio: true } }, xai);
  assert.deepEqual(twice.ignored, ['metadata.generate_audio']);
});

test('a request that an interface cannot express is refused before it is sent', () => {
  const cases: readonly [VideoProtocolId, Record<string, unknown>, Options, string, RegExp][] = [
    ['openai-videos', { duration: 5 }, {}, 'duration', /^duration must be 4, 8 or 12 for this model, but got 5\.$/],
    ['openai-videos', { metadata: { resolution: '480p' } }, {}, 'resolution', /1280x720/],
    ['openai-videos', { images: [image, image] }, {}, 'images', /only one image/],
    ['openai-videos', { metadata: { video } }, {}, 'video', /made itself/],
    ['xai-videos', { size: '1024x1792' }, {}, 'resolution', /480p, 720p or 1080p/],
    ['xai-videos', { seconds: '20' }, { form: 'openai-videos' }, 'duration', /from 1 to 15/],
    ['xai-videos', { video, duration: 11 }, { form: 'xai-videos', action: 'extend' }, 'duration', /from 1 to 10/],
    ['xai-videos', {}, { changes: { mode: 'remix', video: { kind: 'task', taskId: 'task_1' } } }, 'video', /id of a task/],
    ['video-generations', { video }, { form: 'xai-videos', action: 'extend' }, 'video', /extend/],
    ['video-generations', { size: '1024x1792' }, {}, 'aspect_ratio', /'4:7'/],
  ];
  for (const [protocol, body, options, param, words] of cases) {
    const refusal = refusalOf(() => submit(protocol, body, options));
    assert.equal(refusal.param, param, JSON.stringify(body));
    assert.match(refusal.message, words);
  }
});

test('metadata with the maximum depth of a body is forwarded', () => {
  const deep = `${'{"a":'.repeat(61)}1${'}'.repeat(61)}`;
  const { body } = submit('xai-videos', `{"model":"m","prompt":"p","metadata":{"x":${deep}}}`);
  assert.ok(body.includes(`"x":${deep}`));
});

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { GatewayError, type ErrorCode } from '../../inference/gateway-error.ts';
import { encodeVideoError } from './encode-video-error.ts';
import { encodeCreatedVideo, encodeDeletedVideo, encodeVideoList, encodeVideoTask, type VideoTaskView } from './encode-video-task.ts';

const view: VideoTaskView = {
  id: 'task_1',
  form: 'video-generations',
  model: 'vendor-imagine-video',
  status: 'in_progress',
  progress: 37.9,
  createdAt: 1_785_963_542,
  prompt: 'a cat',
  metadata: '{"resolution":"720p", "seed":12345678901234567890}',
  seconds: 5,
  resolution: '720p',
  aspectRatio: '16:9',
};
const completed: VideoTaskView = {
  ...view,
  status: 'completed',
  progress: 100,
  completedAt: 1_785_963_601,
  url: 'https://gateway.example/v1/videos/task_1/content',
};
const moderated = { code: 'content_moderated', message: 'Withheld.' } as const;
const failed: VideoTaskView = { ...view, status: 'failed', completedAt: 1_785_963_601, error: moderated };

const bodyOf = (task: VideoTaskView): Record<string, unknown> =>
  JSON.parse(encodeVideoTask(task).body.toString()) as Record<string, unknown>;

test('the contract’s object has the right members, byte by byte', () => {
  assert.equal(
    encodeVideoTask(view).body.toString(),
    '{"id":"task_1","task_id":"task_1","object":"video","model":"vendor-imagine-video","status":"in_progress","progress":37,"created_at":1785963542,' +
      '"prompt":"a cat","seconds":"5","size":"1280x720","metadata":{"resolution":"720p", "seed":12345678901234567890}}',
  );
  assert.deepEqual(encodeCreatedVideo(view), encodeVideoTask(view));
});

test('metadata keeps all its digits, and the address is added once there is a video', () => {
  const text = encodeVideoTask(completed).body.toString();
  assert.match(
    text,
    /"metadata":\{"resolution":"720p","seed":12345678901234567890,"url":"https:\/\/gateway\.example\/v1\/videos\/task_1\/content"\}/,
  );
  const replaced = encodeVideoTask({ ...completed, metadata: '{"\\u0075rl":"mine","n":1.0}' }).body.toString();
  assert.match(replaced, /"metadata":\{"url":"https:[^"]*","n":1\.0\}/);
  assert.match(encodeVideoTask({ ...completed, metadata: '{}' }).body.toString(), /"metadata":\{"url":/);
});

test('only a failed task has an error in the contract’s object; OpenAI’s object always has all members', () => {
  assert.equal('error' in bodyOf(view), false);
  assert.deepEqual(bodyOf(failed).error, moderated);
  const { error, completed_at, expires_at, remixed_from_video_id } = bodyOf({ ...view, form: 'openai-videos' });
  assert.deepEqual([error, completed_at, expires_at, remixed_from_video_id], [null, null, null, null]);
});

test('progress is a whole number, and 100 only with a video', () => {
  const cases: readonly [VideoTaskView['status'], number, number][] = [
    ['queued', 0, 0],
    ['in_progress', 100, 99],
    ['in_progress', 99.9, 99],
    ['in_progress', -3, 0],
    ['in_progress', Number.NaN, 0],
    ['failed', 100, 99],
    ['completed', 40, 100],
  ];
  for (const [status, progress, shown] of cases) assert.equal(bodyOf({ ...view, status, progress }).progress, shown);
});

test('xAI’s form has 202 until the end, and a withheld video is done without an address', () => {
  const xai = (task: VideoTaskView): unknown => {
    const { status, body } = encodeVideoTask({ ...task, form: 'xai-videos' });
    return [status, JSON.parse(body.toString())];
  };
  const { model } = view;
  assert.equal(encodeCreatedVideo({ ...view, form: 'xai-videos' }).body.toString(), '{"request_id":"task_1"}');
  assert.deepEqual(xai(view), [202, { status: 'pending', progress: 37, model }]);
  const video = { url: completed.url, duration: 5, respect_moderation: true };
  assert.deepEqual(xai(completed), [200, { status: 'done', progress: 100, model, video }]);
  assert.deepEqual(xai(failed), [
    200,
    { status: 'done', progress: 100, model, video: { url: '', duration: 5, respect_moderation: false } },
  ]);
  const lost = { code: 'task_lost', message: 'Lost.' } as const;
  assert.deepEqual(xai({ ...failed, error: lost }), [200, { status: 'failed', model, error: lost }]);
  assert.deepEqual(xai({ ...failed, error: { code: 'task_expired', message: 'x' } }), [
    200,
    { status: 'expired', model, error: { code: 'task_expired', message: 'x' } },
  ]);
});

test('lists and deletions have OpenAI’s form', () => {
  const page = JSON.parse(encodeVideoList([completed, { ...failed, id: 'task_2', form: 'xai-videos' }], true).toString()) as {
    data: { object: string }[];
  };
  assert.deepEqual({ ...page, data: page.data.map(({ object }) => object) }, { object: 'list', data: ['video', 'video'], first_id: 'task_1', last_id: 'task_2', has_more: true }); // prettier-ignore
  assert.equal(encodeVideoList([], false).toString(), '{"object":"list","data":[],"first_id":null,"last_id":null,"has_more":false}');
  assert.deepEqual(encodeDeletedVideo('task_1'), { id: 'task_1', object: 'video.deleted', deleted: true });
});

test('errors have OpenAI’s object and the codes of these endpoints', () => {
  const cases: readonly [ErrorCode, string | undefined, string][] = [
    ['invalid_value', 'duration', 'invalid_duration'],
    ['invalid_value', 'metadata.duration', 'invalid_duration'],
    ['invalid_value', 'seconds', 'invalid_duration'],
    ['invalid_media', 'images[2].url', 'invalid_image'],
    ['invalid_media', 'metadata.video', 'invalid_media'],
    ['invalid_value', 'metadata.resolution', 'invalid_request'],
    ['missing_required_field', 'model', 'missing_model'],
    ['missing_required_field', 'prompt', 'missing_prompt'],
    ['missing_required_field', 'video', 'invalid_request'],
    ['invalid_json', undefined, 'invalid_json'],
    ['duplicate_key', 'duration', 'invalid_json'],
    ['missing_api_key', undefined, 'invalid_api_key'],
    ['object_not_found', undefined, 'task_not_found'],
    ['model_not_found', 'model', 'model_not_found'],
    ['task_not_finished', undefined, 'task_not_finished'],
    ['rate_limited', undefined, 'rate_limit_exceeded'],
    ['upstream_unreachable', undefined, 'no_available_channel'],
    ['internal_error', undefined, 'server_error'],
  ];
  for (const [ours, param, code] of cases) {
    const error = new GatewayError(ours, 'No.', param === undefined ? {} : { param });
    const reply = encodeVideoError(error, 'req_1');
    assert.equal(reply.status, error.status);
    const type = error.status === 429 ? 'requests' : error.status >= 500 ? 'server_error' : 'invalid_request_error';
    assert.deepEqual(
      JSON.parse(reply.body.toString()),
      { error: { message: 'No.', type, param: param ?? null, code }, code, message: 'No.' },
      ours,
    );
  }
  const xai = encodeVideoError(new GatewayError('invalid_value', 'No.', { param: 'duration' }), 'req_1', 'xai-videos');
  assert.equal(xai.body.toString(), '{"code":"invalid_duration","error":"No."}');
});

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { read, refusalOf } from './testing/test-kit.ts';

const png = 'data:image/png;base64,iVBORw0KGgo=';
const address = 'https://media.example/a.png';
const asUrl = { kind: 'url', url: address };

test('a text to video request of the contract is read, and absent fields stay absent', () => {
  assert.deepEqual(read({ model: 'vendor-imagine-video', prompt: 'a cat' }, { mode: 'documented' }), {
    request: {
      form: 'video-generations',
      mode: 'text',
      requestedModel: 'vendor-imagine-video',
      prompt: 'a cat',
      images: [],
      metadata: '{}',
    },
    ignored: [],
  });
});

test('the mode follows from images and videos, wherever they are', () => {
  const cases: readonly [Record<string, unknown>, string, number][] = [
    [{}, 'text', 0],
    [{ image: address }, 'image', 1],
    [{ image: png }, 'image', 1],
    [{ image: { url: address } }, 'image', 1],
    [{ images: [address] }, 'image', 1],
    [{ images: [{ type: 'image_url', image_url: { url: address } }] }, 'image', 1],
    [{ images: [address, { image_url: png }] }, 'references', 2],
    [{ images: Array.from({ length: 7 }, () => address) }, 'references', 7],
    [{ reference_images: [{ url: address }] }, 'references', 1],
    [{ metadata: { image: address } }, 'image', 1],
    [{ metadata: { video: 'https://media.example/v.mp4' } }, 'remix', 0],
    [{ metadata: { video: null } }, 'text', 0],
  ];
  for (const [body, mode, images] of cases) {
    const { request } = read(body);
    assert.deepEqual([request.mode, request.images.length], [mode, images], JSON.stringify(body));
  }
  assert.deepEqual(read({ image: address }).request.images, [asUrl]);
  assert.deepEqual(read({ image: png }).request.images, [{ kind: 'data', mediaType: 'image/png', base64: 'iVBORw0KGgo=' }]);
});

test('a length is a whole number of seconds in any spelling', () => {
  const cases: readonly [string, number | undefined][] = [
    ['5', 5],
    ['"5"', 5],
    ['15.0', 15],
    ['1e1', 10],
    ['0.5e1', 5],
    ['null', undefined],
  ];
  for (const [text, seconds] of cases) {
    for (const name of ['duration', 'seconds', 'Duration', 'd\\u0075ration']) {
      assert.equal(read(`{"model":"m","prompt":"p","${name}":${text}}`).request.durationSeconds, seconds, `${name} ${text}`);
    }
  }
  for (const text of [
    '0',
    '16',
    '-1',
    '5.5',
    '15.0000000000000001',
    '1e400',
    '9007199254740993',
    '"15.0"',
    '" 5"',
    '"0x5"',
    'true',
    '[5]',
  ]) {
    const refusal = refusalOf(() => read(`{"model":"m","prompt":"p","duration":${text}}`));
    assert.deepEqual([refusal.code, refusal.param], ['invalid_value', 'duration'], text);
    assert.match(refusal.message, /^duration must be a whole number of seconds from 1 to 15, but got /);
  }
});

test('two values of one field must be equal', () => {
  assert.equal(read({ duration: 5, seconds: '5', metadata: { duration: 5.0 } }).request.durationSeconds, 5);
  const cases: readonly [Record<string, unknown>, string][] = [
    [{ duration: 5, metadata: { duration: 15 } }, 'metadata.duration'],
    [{ duration: 5, seconds: 15 }, 'seconds'],
    [{ duration: 5, DURATION: 15 }, 'DURATION'],
    [{ metadata: { aspect_ratio: '1:1', aspectRatio: '16:9' } }, 'metadata.aspectRatio'],
    [{ size: '1280x720', metadata: { resolution: '480p' } }, 'size'],
    [{ image: address, metadata: { image: png } }, 'metadata.image'],
    [{ image: address, images: [address] }, 'images'],
    [{ image: address, metadata: { images: [address] } }, 'metadata.images'],
    [{ images: [address], reference_images: [address] }, 'reference_images'],
    [{ Prompt: 'other' }, 'Prompt'],
    [{ Model: 'other' }, 'Model'],
    [{ Metadata: {}, metadata: {} }, 'metadata'],
  ];
  for (const [body, param] of cases) assert.equal(refusalOf(() => read(body)).param, param, JSON.stringify(body));
});

test('a remix ignores and names fields that do not apply to it, but refuses values out of range', () => {
  const video = 'https://media.example/v.mp4';
  const { request, ignored } = read({ duration: 9, image: address, metadata: { video, resolution: '720p', seed: 1 } });
  assert.deepEqual(request, {
    form: 'video-generations',
    mode: 'remix',
    requestedModel: 'm',
    prompt: 'p',
    images: [],
    video: { kind: 'url', url: video },
    metadata: JSON.stringify({ video, resolution: '720p', seed: 1 }),
  });
  assert.deepEqual(ignored, ['duration', 'metadata.resolution', 'image']);
  for (const [body, param] of [
    [{ duration: 16, metadata: { video } }, 'duration'],
    [{ metadata: { video, resolution: '4k' } }, 'metadata.resolution'],
    [{ metadata: { video, aspect_ratio: '5:1' } }, 'metadata.aspect_ratio'],
  ] as const) {
    assert.equal(refusalOf(() => read(body)).param, param);
  }
});

test('metadata cannot override model, prompt and user', () => {
  const { request } = read({ metadata: { model: 'other', prompt: 'other', User: 'other', seed: 1 } });
  assert.deepEqual([request.requestedModel, request.prompt, request.user], ['m', 'p', undefined]);
});

test('metadata stays as it was written', () => {
  const metadata = '{ "seed": 12345678901234567890, "b":[1.0, {"\\u00e9":-0}], "__proto__":{"x":1} }';
  assert.equal(read(`{"model":"m","prompt":"p","metadata":${metadata}}`).request.metadata, metadata);
});

test('invalid addresses and data are refused, and the refusal does not repeat them', () => {
  const bad = ['file:///etc/passwd', 'gopher://a.example/', 'ftp://a.example/', 'javascript:1', '//a.example', 'iVBORw0KGgo=', '', 'https://', 'https://a b/', 'https:\\\\a.example', 'http:///x', 'data:text/html;base64,PGI+', 'data:image/png,raw', 'data:image/png;base64,', 'data:image/png;base64,<b>', 'data:;base64,aGk=', 'data:image/png;base64', 'https://a.example/\n', `https://a.example/${'x'.repeat(9000)}`]; // prettier-ignore
  for (const url of bad) {
    for (const [body, param] of [
      [{ image: url }, 'image'],
      [{ images: [address, url] }, 'images[1]'],
      [{ image: { url } }, 'image.url'],
      [{ metadata: { video: url } }, 'metadata.video'],
    ] as const) {
      const refusal = refusalOf(() => read(body));
      assert.deepEqual([refusal.code, refusal.param], ['invalid_media', param], url.slice(0, 40));
      assert.ok(url.length < 8 || !refusal.message.includes(url));
    }
  }
  assert.equal(refusalOf(() => read({ metadata: { video: png } })).code, 'invalid_media');
  assert.equal(refusalOf(() => read({ image: { file_id: 'file_1' } })).param, 'image.file_id');
});

test('other wrong values are refused with their field', () => {
  const cases: readonly [Record<string, unknown>, string, string][] = [
    [{ model: undefined }, 'model', 'missing_required_field'],
    [{ prompt: undefined }, 'prompt', 'missing_required_field'],
    [{ prompt: null }, 'prompt', 'missing_required_field'],
    [{ prompt: ' ' }, 'prompt', 'invalid_value'],
    [{ prompt: 7 }, 'prompt', 'invalid_value'],
    [{ model: 'x'.repeat(257) }, 'model', 'invalid_value'],
    [{ metadata: '{}' }, 'metadata', 'invalid_value'],
    [{ metadata: [] }, 'metadata', 'invalid_value'],
    [{ images: [] }, 'images', 'invalid_value'],
    [{ images: Array.from({ length: 8 }, () => address) }, 'images', 'invalid_value'],
    [{ images: address }, 'images', 'invalid_media'],
    [{ metadata: { resolution: '4k' } }, 'metadata.resolution', 'invalid_value'],
    [{ size: '1x1' }, 'size', 'invalid_value'],
    [{ user: 7 }, 'user', 'invalid_value'],
    [{ callback_url: 'file:///x' }, 'callback_url', 'invalid_value'],
    [{ webhook_url: 'https://me:secret@a.example/' }, 'webhook_url', 'invalid_value'],
    [{ callback_url: 'https://a.example/', webhook_url: 'https://a.example/' }, 'webhook_url', 'invalid_value'],
  ];
  for (const [body, param, code] of cases) {
    const refusal = refusalOf(() => read(body));
    assert.deepEqual([refusal.param, refusal.code], [param, code], JSON.stringify(body).slice(0, 80));
    assert.ok(!refusal.message.includes('secret'));
  }
});

test('documented mode accepts only the contract', () => {
  const documented = { mode: 'documented' } as const;
  const model = 'vendor-imagine-video';
  assert.equal(read({ model, duration: 15, callback_url: 'https://a.example/x' }, documented).request.callbackUrl, 'https://a.example/x');
  const cases: readonly [Record<string, unknown>, string][] = [
    [{ model: 'grok-imagine-video' }, 'model'],
    [{ duration: '5' }, 'duration'],
    [{ seconds: 5 }, 'seconds'],
    [{ duration: null }, 'duration'],
    [{ metadata: { resolution: '1080p' } }, 'metadata.resolution'],
    [{ metadata: { aspect_ratio: '7:4' } }, 'metadata.aspect_ratio'],
    [{ seed: 1 }, 'seed'],
    [{ image: { url: address } }, 'image'],
    [{ metadata: { video: { url: address } } }, 'metadata.video'],
    [{ metadata: { video: null } }, 'metadata.video'],
  ];
  for (const [body, param] of cases) assert.equal(refusalOf(() => read({ model, ...body }, documented)).param, param);
});

test('members that the form does not define are stored as they are written', () => {
  const { request } = read('{"model":"m","prompt":"p","se\\u0065d":1e2,"__proto__":{"x":1}}');
  assert.equal(request.extraFields, '{"se\\u0065d":1e2,"__proto__":{"x":1}}');
  assert.equal(({} as { x?: number }).x, undefined);
});

test('OpenAI’s form has its own defaults, sizes, references and remixes', () => {
  const openai = { form: 'openai-videos' } as const;
  const { request } = read(
    '{"prompt":"p","seconds":"8","size":"1792x1024","input_reference":{"image_url":"https://media.example/a.png"}}',
    openai,
  );
  assert.deepEqual(request, {
    form: 'openai-videos',
    mode: 'image',
    requestedModel: 'sora-2',
    prompt: 'p',
    durationSeconds: 8,
    images: [asUrl],
    resolution: '1024p',
    aspectRatio: '7:4',
    metadata: '{}',
  });
  const remix = read('{"prompt":"p"}', { ...openai, source: { taskId: 'video_1', model: 'sora-2-pro' } }).request;
  assert.deepEqual([remix.mode, remix.requestedModel, remix.video], ['remix', 'sora-2-pro', { kind: 'task', taskId: 'video_1' }]);
  assert.equal(refusalOf(() => read({ prompt: 'x'.repeat(32_001) }, openai)).param, 'prompt');
  assert.equal(refusalOf(() => read({ input_reference: { file_id: 'file_1' } }, openai)).param, 'input_reference.file_id');
});

test('requests of xAI’s SDK are read on each of its three paths', () => {
  const xai = { form: 'xai-videos' } as const;
  const video = { url: 'https://media.example/v.mp4' };
  const asVideo = { kind: 'url', url: video.url };
  const request = read(
    { duration: 7, aspect_ratio: '1:1', resolution: '1080p', image: { url: address }, generate_audio: true },
    xai,
  ).request;
  assert.deepEqual([request.mode, request.durationSeconds, request.resolution, request.aspectRatio], ['image', 7, '1080p', '1:1']);
  assert.equal(request.extraFields, '{"generate_audio":true}');
  const edited = read({ video, user: 'u' }, { ...xai, action: 'edit' }).request;
  assert.deepEqual([edited.mode, edited.video, edited.user], ['remix', asVideo, 'u']);
  const extended = read({ video, duration: 6 }, { ...xai, action: 'extend' }).request;
  assert.deepEqual([extended.mode, extended.video, extended.durationSeconds], ['extension', asVideo, 6]);
  assert.equal(refusalOf(() => read({}, { ...xai, action: 'edit' })).param, 'video');
  assert.equal(refusalOf(() => read({ video }, xai)).param, 'video');
});

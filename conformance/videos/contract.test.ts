import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';

import { call, eventually, post } from '../support/http.ts';
import { startVideosBench, type VideosBench } from './start-videos-bench.ts';

const wish = { model: 'vendor-imagine-video', prompt: 'a red kite' };
/** A PNG of one white dot, as base64 and as a data URI. */
const dot = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg==';
const picture = `data:image/png;base64,${dot}`;
const ratios = ['1:1', '16:9', '9:16', '4:3', '3:4', '3:2', '2:3'];
const soon = { 'x-simulator-video': 'ms=100' };

type Row = readonly [name: string, body: unknown, code: string, param: string | null];

/** Bounds of the interface document; refused in both modes. */
const refusals: readonly Row[] = [
  ['2.2 model is required', { prompt: 'x' }, 'missing_model', 'model'],
  ['2.2 prompt is required', { model: wish.model }, 'missing_prompt', 'prompt'],
  ['2.2 an empty prompt counts as missing', { ...wish, prompt: ' ' }, 'invalid_request', 'prompt'],
  ['2.2 a prompt is a string', { ...wish, prompt: 5 }, 'invalid_request', 'prompt'],
  ['8 duration 0', { ...wish, duration: 0 }, 'invalid_duration', 'duration'],
  ['8 duration 16', { ...wish, duration: 16 }, 'invalid_duration', 'duration'],
  ['8 duration -1', { ...wish, duration: -1 }, 'invalid_duration', 'duration'],
  ['2.2 duration is whole', { ...wish, duration: 2.5 }, 'invalid_duration', 'duration'],
  ['2.2 duration is a number', { ...wish, duration: 'five' }, 'invalid_duration', 'duration'],
  ['8 duration is bounded in metadata, too', { ...wish, metadata: { duration: 60 } }, 'invalid_duration', 'metadata.duration'],
  ['2.2 either image or images', { ...wish, image: picture, images: [picture] }, 'invalid_image', 'images'],
  ['2.2 an image is a URL or a data URI', { ...wish, image: dot }, 'invalid_image', 'image'],
  ['2.2 an image is a public address', { ...wish, image: 'file:///etc/passwd' }, 'invalid_image', 'image'],
  ['2.2 images is an array', { ...wish, images: picture }, 'invalid_image', 'images'],
  ['2.2 images has items', { ...wish, images: [] }, 'invalid_image', 'images'],
  ['2.2 metadata is an object', { ...wish, metadata: 'seed' }, 'invalid_request', 'metadata'],
  ['2.2 metadata.resolution', { ...wish, metadata: { resolution: '9000p' } }, 'invalid_request', 'metadata.resolution'],
  ['2.2 metadata.aspect_ratio', { ...wish, metadata: { aspect_ratio: '16x9' } }, 'invalid_request', 'metadata.aspect_ratio'],
  ['2.2 metadata.video is a URL', { ...wish, metadata: { video: 'not one' } }, 'invalid_media', 'metadata.video'],
  ['2.2 the body is an object', [], 'invalid_json', null],
  ['2.2 the body is JSON', '{"model":', 'invalid_json', null],
];

/** Fields that only the letter of the document refuses. */
const documentedRefusals: readonly Row[] = [
  ['2.2 a field that is not in the table', { ...wish, seed: 1 }, 'invalid_request', 'seed'],
  ['2.2 duration as a string', { ...wish, duration: '5' }, 'invalid_duration', 'duration'],
  ['2.2 resolution has two values', { ...wish, metadata: { resolution: '1080p' } }, 'invalid_request', 'metadata.resolution'],
  ['2.2 null is not a value', { ...wish, image: null }, 'invalid_image', 'image'],
];

/** Requests that both modes accept, and the upstream's request besides model and prompt. */
const accepted: readonly (readonly [name: string, body: object, sent: object])[] = [
  ['2.2 the defaults', {}, { duration: 5, resolution: '480p', aspect_ratio: '16:9' }],
  ['8 duration 1', { duration: 1 }, { duration: 1, resolution: '480p', aspect_ratio: '16:9' }],
  ['8 duration 15', { duration: 15 }, { duration: 15, resolution: '480p', aspect_ratio: '16:9' }],
  ['2.2 720p', { metadata: { resolution: '720p' } }, { duration: 5, resolution: '720p', aspect_ratio: '16:9' }],
  ...ratios.map((ratio): (typeof accepted)[number] => [
    `2.2 ${ratio}`,
    { metadata: { aspect_ratio: ratio } },
    { duration: 5, resolution: '480p', aspect_ratio: ratio },
  ]),
  ['4.1.4 the ratio of an image is its own', { image: picture }, { duration: 5, resolution: '480p', image: { url: picture } }],
  [
    '4.1.4 unless a ratio is requested',
    { image: picture, metadata: { aspect_ratio: '1:1' } },
    { duration: 5, resolution: '480p', aspect_ratio: '1:1', image: { url: picture } },
  ],
  ['2.2 one of images is the image', { images: [picture] }, { duration: 5, resolution: '480p', image: { url: picture } }],
  [
    '4.1.6 several images, as strings',
    { images: [picture, picture] },
    { duration: 5, resolution: '480p', reference_images: [{ url: picture }, { url: picture }] },
  ],
  ['4.1.6 images as objects', { images: [{ url: picture }] }, { duration: 5, resolution: '480p', image: { url: picture } }],
  [
    '1 members of metadata beyond the table pass',
    { metadata: { seed: 7, negative_prompt: 'rain', fps: 24 } },
    { duration: 5, resolution: '480p', aspect_ratio: '16:9', seed: 7, negative_prompt: 'rain', fps: 24 },
  ],
];

for (const validation of ['compatible', 'documented'])
  describe(`the contract of videos, validation ${validation}`, () => {
    let bench: VideosBench;
    before(async () => {
      bench = await startVideosBench({ validation }, { monitor: true });
    });
    after(() => bench[Symbol.asyncDispose]());

    /** Videos of earlier tests are polled meanwhile. */
    const lastPosted = () => bench.simulator.records().findLast(({ method }) => method === 'POST');
    const create = (body: unknown, headers: Readonly<Record<string, string>> = {}) =>
      bench.ask('POST', '/video/generations', { body, headers });

    for (const [name, body, code, param] of validation === 'documented' ? [...refusals, ...documentedRefusals] : refusals)
      test(`${name}: 400, and no request reaches the upstream`, async () => {
        const jobs = bench.simulator.videos().length;
        const { status, json, headers } = await create(body);
        assert.deepEqual([status, json.code, json.error.code, json.error.param], [400, code, code, param], JSON.stringify(json));
        assert.deepEqual([json.error.type, json.message], ['invalid_request_error', json.error.message]);
        assert.match(String(headers['content-type']), /^application\/json/);
        assert.equal(bench.simulator.videos().length, jobs);
      });

    for (const [name, body, sent] of accepted)
      test(`${name}: accepted, and sent with the intended meaning`, async () => {
        const { status, json, text } = await create({ ...wish, ...body });
        assert.equal(status, 200, text);
        assert.match(json.id, /^task_\w+$/);
        assert.deepEqual([json.task_id, json.object, json.model, json.status, json.progress], [json.id, 'video', wish.model, 'queued', 0]);
        assert.equal(Number.isInteger(json.created_at), true);
        const { model: _model, prompt, ...others } = lastPosted()?.requestBody ?? {};
        assert.deepEqual([prompt, others], [wish.prompt, sent]);
      });

    test('4.1.2, 4.1.3, 4.1.5 metadata.video is a remix with its own length and size, whatever other fields say', async () => {
      const metadata = { video: 'https://files.example/in.mp4', resolution: '480p', aspect_ratio: '1:1' };
      const created = await create({ ...wish, duration: 15, metadata });
      assert.equal(created.status, 200, created.text);
      assert.equal(created.headers['x-weir-ignored-fields'], 'duration, metadata.resolution, metadata.aspect_ratio');
      const record = lastPosted();
      assert.equal(record?.path, '/v1/videos/edits');
      assert.deepEqual(record.requestBody?.['video'], { url: metadata.video });
      for (const absent of ['duration', 'resolution', 'aspect_ratio', 'image'])
        assert.equal(record.requestBody?.[absent], undefined, absent);
      const { json: receipt } = await bench.ask('GET', `/videos/${created.json.id}/receipt`);
      assert.deepEqual([receipt.held.usage, receipt.pricing_parameters], [{ outputVideoMs: 8700, inputImages: 0 }, { resolution: '720p' }]);
    });

    // The strictness of validation does not affect accepted requests.
    if (validation === 'documented') return;

    test('2.1, 3, 4.2 a task lives through the four states and ends with its video', async () => {
      const { json: created } = await create({ ...wish, duration: 2 }, { 'x-simulator-video': 'ms=3000' });
      const seen: string[] = [];
      const done = await eventually(
        async () => {
          const [one, other] = await Promise.all(['videos', 'video/generations'].map((path) => bench.ask('GET', `/${path}/${created.id}`)));
          assert.deepEqual([one?.status, other?.status], [200, 200]);
          // It may have advanced between the two.
          if (one?.json.status === other?.json.status)
            assert.deepEqual(Object.keys(one?.json).toSorted(), Object.keys(other?.json).toSorted());
          const { status, progress, metadata, error } = one?.json ?? {};
          if (seen.at(-1) !== status) seen.push(status);
          assert.ok(Number.isInteger(progress) && progress >= 0 && progress <= 100, String(progress));
          assert.equal(status === 'completed', progress === 100);
          assert.equal(status === 'completed', typeof metadata.url === 'string');
          assert.equal(error, undefined);
          return one?.json;
        },
        ({ status }) => status === 'completed',
        60_000,
      );
      const states = ['queued', 'in_progress', 'completed', 'failed'];
      assert.deepEqual(
        seen,
        seen.toSorted((left, right) => states.indexOf(left) - states.indexOf(right)),
      );
      assert.deepEqual([done.id, done.object, done.model, done.created_at], [created.id, 'video', wish.model, created.created_at]);
      const content = await call(done.metadata.url, { headers: { authorization: `Bearer ${bench.weir.apiKey}` } });
      assert.deepEqual([content.status, content.headers['content-type']], [200, 'video/mp4']);
      assert.equal(content.headers['cache-control'], 'private, no-store');
      assert.equal((await call(done.metadata.url)).status, 401);
    });

    test('2.1, 3, 7 a failed task has an error and no address', async () => {
      const { json: created } = await create(wish, { 'x-simulator-video': 'ms=100;end=failed;message=too%20odd' });
      const { status, error, metadata, progress } = await bench.ended(created.id);
      assert.deepEqual([status, typeof error.code, typeof error.message, metadata], ['failed', 'string', 'string', {}]);
      assert.ok(progress < 100);
    });

    test('2.3, 4.7, 4.8 the statistics have no tokens, the amount and the duration; and so does the workbook', async () => {
      const key = await bench.createKey('ann', 'films');
      const id = await bench.make({ duration: 3, metadata: { resolution: '720p' } }, { key, headers: soon });
      await bench.ended(id, { key });
      const nowSeconds = Math.floor(Date.now() / 1000);
      const question = { type: 3, startTime: nowSeconds - 3600, endTime: nowSeconds + 3600, tokenName: 'films', modelName: wish.model };
      const token = { token: bench.weir.billingToken };
      const { monitorUrl } = bench.weir;
      const { json } = await eventually(
        () => post(`${monitorUrl}/bill/stats`, question, token),
        (answer) => answer.json?.data?.length > 0,
      );
      assert.deepEqual([json.code, json.data.length], [200, 1]);
      const { time, timeGroup, totalUseTime, ...record } = json.data[0];
      assert.match(time, /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d$/);
      assert.ok(Number.isInteger(timeGroup) && Number.isInteger(totalUseTime));
      assert.deepEqual(record, {
        userName: 'ann',
        tokenName: 'films',
        modelName: wish.model,
        totalPromptTokens: 0,
        totalCompletionTokens: 0,
        totalCacheTokens: 0,
        totalCacheCreationTokens: 0,
        callCount: 1,
        totalAmount: 0.21,
      });
      const sheet = await post(`${monitorUrl}/bill/excel`, question, token);
      const type = 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet';
      assert.deepEqual([sheet.status, sheet.headers['content-type']], [200, type]);
      for (const path of ['stats', 'excel']) assert.equal((await post(`${monitorUrl}/bill/${path}`, question)).status, 401);
    });

    test('5, 9 a request without a key is 401; without /v1, and for an unknown id, 404', async () => {
      for (const [method, path] of [
        ['POST', '/video/generations'],
        ['GET', '/videos/task_x'],
        ['GET', '/video/generations/task_x'],
        ['GET', '/videos/task_x/content'],
      ] as const) {
        const url = `${bench.weir.gatewayUrl}/v1${path}`;
        for (const headers of [{}, { authorization: 'Bearer sk-wrong' }]) {
          const { status, json } = await call(url, { method, headers, ...(method === 'POST' ? { body: JSON.stringify(wish) } : {}) });
          assert.deepEqual([status, json.code, json.error.type], [401, 'invalid_api_key', 'invalid_request_error'], path);
        }
        assert.equal((await call(url.replace('/v1/', '/'), { method })).status, 404);
        if (method === 'GET') {
          const { status, json } = await bench.ask('GET', path);
          assert.deepEqual([status, json.code], [404, 'task_not_found']);
        }
      }
      const unknown = await create({ ...wish, model: 'nobody-has-it' });
      assert.deepEqual([unknown.status, unknown.json.code], [404, 'model_not_found']);
    });
  });

import assert from 'node:assert/strict';
import { after, before, beforeEach, test } from 'node:test';
import { asText, isRecord } from '../read-json.ts';
import { readVideo } from '../media/read-video.ts';
import { openBench, readObject, type VideoBench } from './video-client.ts';

let bench: VideoBench;
before(async () => {
  bench = await openBench('xai');
});
beforeEach(() => bench.simulator.reset());
after(() => bench.simulator.close());

const model = 'grok-imagine-video';
const png = `data:image/png;base64,${Buffer.from('89504e470d0a1a0a0000000d494844520000028000000168', 'hex').toString('base64')}`;

async function finish(
  path: string,
  body: object,
): Promise<{ readonly file: Uint8Array; readonly video: unknown; readonly usage: unknown; readonly url: string }> {
  const accepted = await bench.post(path, body);
  assert.equal(accepted.status, 200);
  bench.pass(1000);
  const { video, usage } = await readObject(await bench.get(`/videos/${asText((await readObject(accepted))['request_id'])}`));
  const url = isRecord(video) ? asText(video['url']) : '';
  const file = await (await fetch(url)).bytes();
  return { file, video, usage, url };
}

test('a request is queued, then pending with rising progress, then done', async () => {
  const id = await bench.submit();
  const told: unknown[] = [];
  for (const ms of [0, 250, 250, 500]) {
    bench.pass(ms);
    const reply = await bench.get(`/videos/${id}`);
    const body = await reply.text();
    told.push(reply.status === 202 ? body : (JSON.parse(body) as { status: string }).status);
  }
  assert.deepEqual(told, ['', '{"status":"pending","progress":25}', '{"status":"pending","progress":50}', 'done']);
});

for (const { note, body, size, seconds, ticks } of [
  { note: 'by itself', body: {}, size: [854, 480], seconds: 6, ticks: 3_000_000_000 },
  {
    note: 'as asked',
    body: { duration: 2, resolution: '720p', aspect_ratio: '9:16' },
    size: [720, 1280],
    seconds: 2,
    ticks: 1_400_000_000,
  },
  { note: 'with an image', body: { duration: 1, image: { url: png } }, size: [854, 480], seconds: 1, ticks: 520_000_000 },
  {
    note: 'of the later model',
    body: { model: `${model}-1.5`, duration: 1, resolution: '1080p' },
    size: [1920, 1080],
    seconds: 1,
    ticks: 2_500_000_000,
  },
] as const) {
  test(`a video ${note} has the requested length, size and price`, async () => {
    const { file, video, usage } = await finish('/videos/generations', { model, prompt: 'A cat.', ...body });
    const facts = await readVideo(file);
    assert.deepEqual([facts?.width, facts?.height, facts?.seconds], [...size, seconds]);
    assert.ok(isRecord(video));
    assert.deepEqual([video['duration'], video['respect_moderation']], [seconds, true]);
    assert.deepEqual(usage, { cost_in_usd_ticks: ticks });
  });
}

test('an edit is as long as its input but never longer than 8.7 s, and an extension adds to it', async () => {
  const body = { model, prompt: 'A cat.' };
  const long = await finish('/videos/generations', { ...body, duration: 10, resolution: '720p', aspect_ratio: '4:3' });
  const inline = `data:video/mp4;base64,${Buffer.from(long.file).toString('base64')}`;
  for (const url of [long.url, inline]) {
    const edited = await readVideo((await finish('/videos/edits', { ...body, video: { url } })).file);
    assert.deepEqual([edited?.width, edited?.height], [960, 720]);
    assert.ok(edited && edited.seconds <= 8.7 && edited.seconds > 8.7 - 1 / 24, `${edited?.seconds}`);
  }
  const extended = await finish('/videos/extensions', { ...body, duration: 3, video: { url: long.url } });
  assert.equal((await readVideo(extended.file))?.seconds, 13);
});

for (const { note, path = '/videos/generations', body, status, shape } of [
  { note: 'no model', body: { prompt: 'x' }, status: 422, shape: ['error'] },
  { note: 'no prompt', body: { model }, status: 400, shape: ['code', 'error'] },
  { note: 'a duration as text', body: { model, prompt: 'x', duration: '5' }, status: 422, shape: ['error'] },
  { note: 'a duration that is too long', body: { model, prompt: 'x', duration: 16 }, status: 400, shape: ['code', 'error'] },
  { note: 'an unknown ratio', body: { model, prompt: 'x', aspect_ratio: '5:4' }, status: 422, shape: ['error'] },
  { note: '1080p of the earlier model', body: { model, prompt: 'x', resolution: '1080p' }, status: 400, shape: ['code', 'error'] },
  {
    note: 'an invalid image',
    body: { model, prompt: 'x', image: { url: 'data:text/plain;base64,AA==' } },
    status: 400,
    shape: ['code', 'error'],
  },
  {
    note: 'an edit with a duration',
    path: '/videos/edits',
    body: { model, prompt: 'x', duration: 5, video: { url: 'http://h/v' } },
    status: 400,
    shape: ['code', 'error'],
  },
  {
    note: 'an edit of a file that is not a video',
    path: '/videos/edits',
    body: { model, prompt: 'x', video: { url: 'data:video/mp4;base64,AAAA' } },
    status: 400,
    shape: ['code', 'error'],
  },
  { note: 'an unknown model', body: { model: 'missing-video', prompt: 'x' }, status: 404, shape: ['code', 'error'] },
]) {
  test(`${note} is refused and makes no job`, async () => {
    const reply = await bench.post(path, body);
    assert.equal(reply.status, status);
    assert.deepEqual(Object.keys(await readObject(reply)), shape);
    assert.deepEqual(bench.simulator.videos(), []);
  });
}

test('an unknown request is answered in the third format of errors', async () => {
  const reply = await bench.get('/videos/d97415a1-5796-b7ec-379f-4e6819e08fdf');
  assert.equal(reply.status, 404);
  const { error } = await readObject(reply);
  assert.ok(isRecord(error) && typeof error['message'] === 'string');
});

test('without a key a request is not shown, but its file is public until the link expires', async () => {
  const { url } = await finish('/videos/generations', { model, prompt: 'A cat.', duration: 1 });
  assert.equal((await bench.get(`/videos/${asText(bench.simulator.videos()[0]?.['id'])}`, { authorization: '' })).status, 401);
  assert.equal((await fetch(url)).status, 200);
  bench.pass(86_400_000);
  assert.equal((await fetch(url)).status, 410);
});

test('the list of models includes the video models', async () => {
  const text = await (await bench.get('/models')).text();
  for (const id of [model, `${model}-1.5`]) assert.ok(text.includes(`"${id}"`));
});

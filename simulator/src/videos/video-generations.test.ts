import assert from 'node:assert/strict';
import { after, before, beforeEach, test } from 'node:test';
import { asText } from '../read-json.ts';
import { readVideo } from '../media/read-video.ts';
import { openBench, readObject, type VideoBench } from './video-client.ts';

let bench: VideoBench;
before(async () => {
  bench = await openBench('gateway');
});
beforeEach(() => bench.simulator.reset());
after(() => bench.simulator.close());

const path = '/video/generations';
const request = { model: 'vendor-imagine-video', prompt: 'A cat.' };
const portrait = `data:image/png;base64,${Buffer.from('89504e470d0a1a0a0000000d494844520000010000000200', 'hex').toString('base64')}`;

test('a task is the same on both paths, and its file needs a key', async () => {
  const made = await readObject(await bench.post(path, request));
  assert.equal(made['task_id'], made['id']);
  bench.pass(1000);
  const [one, other] = await Promise.all([bench.get(`/videos/${asText(made['id'])}`), bench.get(`${path}/${asText(made['id'])}`)]);
  const task = await readObject(one);
  assert.deepEqual(await readObject(other), task);
  const url = `${bench.url}/videos/${asText(made['id'])}/content`;
  assert.deepEqual([task['status'], task['progress'], task['metadata']], ['completed', 100, { url }]);
  assert.equal((await fetch(url)).status, 401);
  const reply = await bench.get(`/videos/${asText(made['id'])}/content`);
  assert.equal(reply.headers.get('content-type'), 'video/mp4');
  assert.deepEqual(await readVideo(await reply.bytes()), { seconds: 5, width: 854, height: 480 });
});

for (const { note, body, shape } of [
  { note: 'a length', body: { duration: 15 }, shape: { width: 854, height: 480, frames: 360 } },
  {
    note: 'a ratio and a resolution',
    body: { metadata: { resolution: '720p', aspect_ratio: '3:2' } },
    shape: { width: 1080, height: 720, frames: 120 },
  },
  { note: "an image's ratio", body: { image: portrait }, shape: { width: 480, height: 960, frames: 120 } },
  {
    note: "a ratio that differs from the image's",
    body: { images: [{ url: portrait }], metadata: { aspect_ratio: '1:1' } },
    shape: { width: 480, height: 480, frames: 120 },
  },
  {
    note: 'an image that is not fetched',
    body: { images: ['https://images.example/a.png'] },
    shape: { width: 854, height: 480, frames: 120 },
  },
]) {
  test(`a task keeps ${note}`, async () => {
    await bench.post(path, { ...request, ...body });
    assert.deepEqual(bench.simulator.videos()[0]?.['shape'], shape);
  });
}

test('a remix has the shape of its input', async () => {
  const from = await bench.submit('', { duration: 2, metadata: { aspect_ratio: '1:1' } });
  bench.pass(1000);
  const bytes = await (await bench.get(`/videos/${from}/content`)).bytes();
  for (const video of [`${bench.url}/videos/${from}/content`, `data:video/mp4;base64,${Buffer.from(bytes).toString('base64')}`]) {
    await bench.post(path, { ...request, metadata: { video } });
    assert.deepEqual(bench.simulator.videos().at(-1)?.['shape'], { width: 480, height: 480, frames: 48 });
  }
});

test('a form means the same as a JSON body', async () => {
  const form = new FormData();
  for (const [name, value] of Object.entries({ ...request, metadata: '{"resolution":"720p"}' })) form.set(name, value);
  const reply = await fetch(`${bench.url}${path}`, { method: 'POST', headers: { authorization: 'Bearer k' }, body: form });
  assert.equal(reply.status, 200);
  assert.deepEqual(bench.simulator.videos()[0]?.['shape'], { width: 1280, height: 720, frames: 120 });
});

test('many submissions with the same key make one task, another body is refused, another caller is served', async () => {
  const key = { 'idempotency-key': 'k1' };
  const ids = await Promise.all([1, 2, 3].map(async () => (await readObject(await bench.post(path, request, key)))['id']));
  assert.equal(new Set(ids).size, 1);
  assert.equal((await bench.post(path, { ...request, duration: 6 }, key)).status, 409);
  assert.equal((await bench.post(path, request, { ...key, authorization: 'Bearer other' })).status, 200);
  assert.deepEqual(
    bench.simulator.videos().map((job) => [job['idempotencyKey'], job['submissions']]),
    [
      ['k1', 3],
      ['k1', 1],
    ],
  );
});

test('a repeated submission whose first answer was lost gets its task', async () => {
  const key = { 'idempotency-key': 'k2' };
  const body = { ...request, metadata: { simulator: 'accept=cut' } };
  await assert.rejects(bench.post(path, body, key));
  const { id } = await readObject(await bench.post(path, body, key));
  assert.deepEqual(
    bench.simulator.videos().map((job) => [job['id'], job['submissions']]),
    [[id, 2]],
  );
});

for (const { note, body } of [
  { note: 'no prompt', body: { prompt: '' } },
  { note: 'an invalid length', body: { duration: 0 } },
  { note: 'an unknown resolution', body: { metadata: { resolution: '1080p' } } },
  { note: 'image and images', body: { image: portrait, images: [portrait] } },
  { note: 'metadata that is not an object', body: { metadata: 'x' } },
  { note: 'a remix of nothing', body: { metadata: { video: 'x' } } },
]) {
  test(`${note} is refused`, async () => {
    assert.equal((await bench.post(path, { ...request, ...body })).status, 400);
    assert.deepEqual(bench.simulator.videos(), []);
  });
}

test("a task is not among the vendor's own videos, and none of those is among tasks", async () => {
  const task = await bench.submit();
  await bench.post('/videos', { prompt: 'x' });
  const video = asText(bench.simulator.videos().at(-1)?.['id']);
  assert.ok(!(await (await bench.get('/videos')).text()).includes(task));
  assert.equal((await bench.get(`${path}/${video}`)).status, 404);
});

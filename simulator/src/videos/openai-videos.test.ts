import assert from 'node:assert/strict';
import { after, before, beforeEach, test } from 'node:test';
import OpenAI from 'openai';
import { readVideo } from '../media/read-video.ts';
import { assertValid, readSpec, skipWithoutSpecs } from '../vendor-specs.ts';
import { openBench, readObject, type VideoBench } from './video-client.ts';

let bench: VideoBench;
let client: OpenAI;
before(async () => {
  bench = await openBench('openai');
  client = new OpenAI({ baseURL: bench.url, apiKey: 'sk-video', maxRetries: 0 });
});
beforeEach(() => bench.simulator.reset());
after(() => bench.simulator.close());

const png = Buffer.from('89504e470d0a1a0a0000000d494844520000028000000168', 'hex');

test("the vendor's own client makes, polls, downloads, remixes, lists and deletes videos", async () => {
  const reference = new File([png], 'start.png', { type: 'image/png' });
  const made = await client.videos.create({
    prompt: 'A cat.',
    model: 'sora-2',
    seconds: '4',
    size: '1280x720',
    input_reference: reference,
  });
  assert.deepEqual([made.status, made.progress, made.seconds, made.size], ['queued', 0, '4', '1280x720']);
  assert.deepEqual(bench.simulator.videos()[0]?.['inputs'], ['image: image/png 640x360, 24 bytes']);
  bench.pass(500);
  assert.deepEqual([(await client.videos.retrieve(made.id)).status, (await client.videos.retrieve(made.id)).progress], ['in_progress', 50]);
  await assert.rejects(client.videos.downloadContent(made.id), { status: 400 });
  await assert.rejects(client.videos.delete(made.id), { status: 409 });
  bench.pass(500);
  const done = await client.videos.retrieve(made.id);
  assert.deepEqual([done.status, done.progress, done.completed_at, done.error], ['completed', 100, done.created_at + 1, null]);
  const facts = await readVideo(await (await client.videos.downloadContent(made.id)).bytes());
  assert.deepEqual(facts, { seconds: 4, width: 1280, height: 720 });
  const remixed = await client.videos.remix(made.id, { prompt: 'A dog.' });
  assert.equal(remixed.remixed_from_video_id, made.id);
  const ids: string[] = [];
  for await (const video of client.videos.list({ limit: 1, order: 'asc' })) ids.push(video.id);
  assert.deepEqual(ids, [made.id, remixed.id]);
  assert.deepEqual(await client.videos.delete(made.id), { id: made.id, object: 'video.deleted', deleted: true });
  await assert.rejects(client.videos.retrieve(made.id), { status: 404 });
});

test('a JSON body means the same as a form', async () => {
  const image = { image_url: `data:image/png;base64,${png.toString('base64')}` };
  const made = await readObject(
    await bench.post('/videos', { prompt: 'A cat.', model: 'sora-2-pro', seconds: '12', size: '1792x1024', input_reference: image }),
  );
  assert.deepEqual([made['seconds'], made['size'], made['model']], ['12', '1792x1024', 'sora-2-pro']);
});

for (const { note, body, param } of [
  { note: 'no prompt', body: {}, param: 'prompt' },
  { note: 'seconds as a number', body: { prompt: 'x', seconds: 4 }, param: 'seconds' },
  { note: 'seconds that are not offered', body: { prompt: 'x', seconds: '5' }, param: 'seconds' },
  { note: 'a size of the larger model', body: { prompt: 'x', size: '1024x1792' }, param: 'size' },
  { note: 'a prompt that is too long', body: { prompt: 'x'.repeat(32_001) }, param: 'prompt' },
  { note: 'a reference that is not an image', body: { prompt: 'x', input_reference: { image_url: 'cat' } }, param: 'input_reference' },
]) {
  test(`${note} is refused with the name of the member`, async () => {
    const reply = await bench.post('/videos', body);
    assert.equal(reply.status, 400);
    assert.equal(((await reply.json()) as { error: { param: string } }).error.param, param);
    assert.deepEqual(bench.simulator.videos(), []);
  });
}

for (const { note, range, status, contentRange } of [
  { note: 'the beginning', range: 'bytes=0-9', status: 206, contentRange: (length: number) => `bytes 0-9/${length}` },
  { note: 'the rest', range: 'bytes=10-', status: 206, contentRange: (length: number) => `bytes 10-${length - 1}/${length}` },
  { note: 'the end', range: 'bytes=-5', status: 206, contentRange: (length: number) => `bytes ${length - 5}-${length - 1}/${length}` },
  {
    note: 'more bytes than there are',
    range: 'bytes=0-99999999',
    status: 206,
    contentRange: (length: number) => `bytes 0-${length - 1}/${length}`,
  },
  { note: 'bytes after the end', range: 'bytes=99999999-', status: 416, contentRange: (length: number) => `bytes */${length}` },
  { note: 'an unreadable form', range: 'bytes=b-a', status: 200, contentRange: () => null },
]) {
  test(`a range header with ${note} is answered with ${status}`, async () => {
    const id = await bench.submit();
    bench.pass(1000);
    const whole = await (await bench.get(`/videos/${id}/content`)).bytes();
    const reply = await bench.get(`/videos/${id}/content`, { range });
    assert.equal(reply.status, status);
    assert.equal(reply.headers.get('content-range'), contentRange(whole.length));
    const [, from = '0', to = `${whole.length - 1}`] = /(\d+)-(\d+)/.exec(reply.headers.get('content-range') ?? '') ?? [];
    assert.deepEqual(await reply.bytes(), status === 416 ? new Uint8Array() : whole.slice(Number(from), Number(to) + 1));
  });
}

test('content needs a key', async () => {
  const id = await bench.submit();
  bench.pass(1000);
  assert.equal((await bench.get(`/videos/${id}/content`, { authorization: '' })).status, 401);
});

test("objects match the vendor's own description", { skip: skipWithoutSpecs }, async () => {
  const { validator } = readSpec('openai');
  const ids = [await bench.submit(), await bench.submit('end=failed')];
  for (const ms of [0, 500, 500]) {
    bench.pass(ms);
    for (const id of ids) assertValid(validator('VideoResource'), await readObject(await bench.get(`/videos/${id}`)), `after ${ms}`);
  }
  assertValid(validator('VideoListResource'), await readObject(await bench.get('/videos')), 'list');
  const deleted = await fetch(`${bench.url}/videos/${ids[0]}`, { method: 'DELETE', headers: { authorization: 'Bearer sk-video' } });
  assertValid(validator('DeletedVideoResource'), await readObject(deleted), 'deleted');
});

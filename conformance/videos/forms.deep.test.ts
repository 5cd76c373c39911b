import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';

import OpenAI, { toFile } from 'openai';
import { request } from 'undici';

import { eventually } from '../support/http.ts';
import { startVideosBench, type VideosBench } from './start-videos-bench.ts';
import { steerJob } from './task-books.ts';

/** A PNG of one white dot. */
const png = Buffer.from('iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg==', 'base64');

describe('the three interfaces of videos', () => {
  let bench: VideosBench;
  let client: OpenAI;
  before(async () => {
    bench = await startVideosBench();
    client = new OpenAI({
      baseURL: `${bench.weir.gatewayUrl}/v1`,
      apiKey: bench.weir.apiKey,
      maxRetries: 0,
      defaultHeaders: { 'x-simulator-video': 'ms=300' },
    });
  });
  after(() => bench[Symbol.asyncDispose]());

  const finished = (id: string) =>
    eventually(
      () => client.videos.retrieve(id),
      ({ status }) => status === 'completed',
      60_000,
    );

  test('OpenAI’s SDK can create, retrieve, list, download, remix and delete', async () => {
    const created = await client.videos.create({ model: 'sora-2', prompt: 'a boat', seconds: '4', size: '1280x720' });
    assert.deepEqual([created.object, created.status, created.seconds, created.size], ['video', 'queued', '4', '1280x720']);
    const done = await finished(created.id);
    assert.deepEqual([done.progress, done.error], [100, null]);
    const content = await client.videos.downloadContent(created.id);
    assert.equal(
      Buffer.from(await content.arrayBuffer())
        .subarray(4, 8)
        .toString(),
      'ftyp',
    );
    const remix = await client.videos.remix(created.id, { prompt: 'a blue boat' });
    assert.deepEqual([remix.remixed_from_video_id, remix.model], [created.id, 'sora-2']);
    await finished(remix.id);
    const ids: string[] = [];
    for await (const video of client.videos.list({ limit: 1 })) ids.push(video.id);
    assert.deepEqual(ids, [remix.id, created.id]);
    assert.equal((await client.videos.delete(remix.id)).deleted, true);
    await assert.rejects(client.videos.retrieve(remix.id), (error) => error instanceof OpenAI.NotFoundError);
    // Its vendor received the source's own id.
    const job = bench.simulator.videos().find(({ prompt }) => prompt === 'a blue boat');
    assert.equal(job?.['interface'], 'openai-videos');
  });

  test('OpenAI’s SDK: a video begins with an image', async () => {
    const reference = await toFile(png, 'dot.png', { type: 'image/png' });
    const created = await client.videos.create({ model: 'sora-2', prompt: 'from a dot', seconds: '4', input_reference: reference });
    await finished(created.id);
    assert.equal(bench.simulator.videos().find(({ prompt }) => prompt === 'from a dot')?.['imageCount'], 1);
  });

  test('OpenAI’s SDK: an invalid field is named', async () => {
    await assert.rejects(client.videos.create({ model: 'sora-2', prompt: 'x', seconds: '5' as '4' }), (error) => {
      assert.ok(error instanceof OpenAI.BadRequestError);
      return true;
    });
  });

  test('xAI’s form: a request id, 202 while it is pending, then the video', async () => {
    const created = await bench.ask('POST', '/videos/generations', {
      body: { model: 'vendor-imagine-video', prompt: 'a hill', duration: 2 },
      headers: { 'x-simulator-video': 'end=never' },
    });
    assert.deepEqual([created.status, Object.keys(created.json)], [200, ['request_id']]);
    const path = `/videos/${created.json.request_id}`;
    const pending = await bench.ask('GET', path);
    assert.deepEqual([pending.status, pending.json.status], [202, 'pending']);
    await steerJob(bench.simulator, 'a hill', 'end=done');
    const done = await eventually(
      () => bench.ask('GET', path),
      ({ status }) => status === 200,
      60_000,
    );
    assert.equal(done.json.status, 'done');
    // Its clients download it without a key.
    assert.ok(done.json.video.url.startsWith(`${bench.weir.gatewayUrl}/v1${path}/content?expires=`), done.json.video.url);
    const refusal = await bench.ask('POST', '/videos/generations', { body: { model: 'vendor-imagine-video' } });
    assert.deepEqual([refusal.status, typeof refusal.json.error], [400, 'string']);
  });

  test('a video of the gateway can be remixed by its address and by its id', async () => {
    const source = await bench.make({ duration: 2, prompt: 'source' });
    const { metadata } = await bench.ended(source);
    const byAddress = await bench.make({ prompt: 'by address', metadata: { video: metadata.url } });
    const byId = await bench.ask('POST', `/videos/${source}/remix`, {
      body: { prompt: 'by id' },
      headers: { 'x-simulator-video': 'ms=100' },
    });
    assert.equal(byId.status, 200, byId.text);
    for (const id of [byAddress, byId.json.id]) assert.equal((await bench.ended(id)).status, 'completed');
    const { json } = await bench.ask('GET', `/videos/${byId.json.id}`);
    assert.equal(json.remixed_from_video_id, source);
    const jobs = bench.simulator.videos().filter(({ prompt }) => prompt === 'by address' || prompt === 'by id');
    assert.equal(jobs.length, 2);
    // Only the gateway's clients could fetch it, so the file itself was sent.
    for (const { inputs } of jobs) assert.ok(!JSON.stringify(inputs).includes(bench.weir.gatewayUrl));
    const { json: receipt } = await bench.ask('GET', `/videos/${byId.json.id}/receipt`);
    assert.equal(receipt.held.usage.outputVideoMs, 8700);
    assert.equal(receipt.charged.usage.outputVideoMs, 2000);
  });

  test('a video can be made through another gateway', async () => {
    const id = await bench.make({ model: 'chained', duration: 2, prompt: 'chained' });
    assert.equal((await bench.ended(id)).status, 'completed');
    assert.equal((await bench.ask('HEAD', `/videos/${id}/content`)).headers['content-type'], 'video/mp4');
  });

  test('events: the state comes at once, then each change, and an end', async () => {
    const id = await bench.make({ prompt: 'told' }, { headers: { 'x-simulator-video': 'end=never' } });
    const url = `${bench.weir.gatewayUrl}/v1/videos/${id}/events`;
    const { statusCode, headers, body } = await request(url, { headers: { authorization: `Bearer ${bench.weir.apiKey}` } });
    assert.equal(statusCode, 200);
    assert.match(String(headers['content-type']), /^text\/event-stream/);
    let text = '';
    for await (const piece of body) {
      if (text === '') await steerJob(bench.simulator, 'told', 'end=done');
      text += String(piece);
    }
    const frames = text.split('\n\n').filter((frame) => frame.startsWith('event:'));
    const events = frames.map((frame) => {
      const [, name, data] = /^event: (.*)\ndata: (.*)$/.exec(frame) ?? [];
      return { name, task: JSON.parse(data ?? '') as { id: string; status: string; progress: number; sequence: number } };
    });
    assert.ok(events.length >= 2);
    assert.equal(events.at(-1)?.name, 'video.completed');
    for (const [index, { name, task }] of events.entries()) {
      assert.deepEqual([name, task.id, task.sequence], [`video.${task.status}`, id, index]);
      assert.ok(task.progress >= (events[index - 1]?.task.progress ?? 0));
    }
    const again = await bench.ask('GET', `/videos/${id}/events`);
    assert.match(again.text, /^event: video\.completed\ndata: .*"sequence":0\}\n\n$/);
  });
});

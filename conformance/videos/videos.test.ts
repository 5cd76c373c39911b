import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { after, before, describe, test } from 'node:test';

import { request } from 'undici';

import { startVideosBench, type VideosBench } from './start-videos-bench.ts';

describe('videos with the real gateway and simulated vendors', () => {
  let bench: VideosBench;
  let id: string;
  let file: Buffer;

  const fetchContent = async (headers: Readonly<Record<string, string>> = {}, method: 'GET' | 'HEAD' = 'GET') => {
    const url = `${bench.weir.gatewayUrl}/v1/videos/${id}/content`;
    const answer = await request(url, { method, headers: { authorization: `Bearer ${bench.weir.apiKey}`, ...headers } });
    return { status: answer.statusCode, headers: answer.headers, bytes: Buffer.from(await answer.body.arrayBuffer()) };
  };

  before(async () => {
    bench = await startVideosBench();
    id = await bench.make({ duration: 2, metadata: { resolution: '480p', seed: 1 } });
    assert.equal((await bench.ended(id)).status, 'completed');
    file = (await fetchContent()).bytes;
  });
  after(() => bench[Symbol.asyncDispose]());

  test('the object has the contract’s form, on both paths', async () => {
    const [one, other] = await Promise.all([bench.ask('GET', `/videos/${id}`), bench.ask('GET', `/video/generations/${id}`)]);
    assert.equal(one.text, other.text);
    const { object, model, status, progress, metadata, seconds } = one.json;
    assert.deepEqual([object, model, status, progress, seconds], ['video', 'vendor-imagine-video', 'completed', 100, '2']);
    assert.deepEqual(metadata, { resolution: '480p', seed: 1, url: `${bench.weir.gatewayUrl}/v1/videos/${id}/content` });
  });

  test('the file is a video, with all metadata for a client', async () => {
    const { status, headers, bytes } = await fetchContent();
    assert.equal(status, 200);
    assert.equal(bytes.subarray(4, 8).toString(), 'ftyp');
    assert.equal(headers['content-type'], 'video/mp4');
    assert.equal(headers['content-length'], String(bytes.length));
    assert.equal(headers['accept-ranges'], 'bytes');
    assert.equal(headers.etag, `"${createHash('sha256').update(bytes).digest('hex')}"`);
    assert.equal(headers['cache-control'], 'private, no-store');
    assert.equal(headers['content-disposition'], `inline; filename="${id}.mp4"`);
    assert.equal(headers['x-content-type-options'], 'nosniff');
  });

  test('HEAD has the same headers and no body', async () => {
    const { status, headers, bytes } = await fetchContent({}, 'HEAD');
    assert.deepEqual([status, headers['content-length'], bytes.length], [200, String(file.length), 0]);
  });

  test('ranges', async () => {
    const last = file.length - 1;
    for (const [field, start, end] of [
      ['bytes=0-0', 0, 0],
      ['bytes=10-99', 10, 99],
      [`bytes=${last}-`, last, last],
      ['bytes=-7', last - 6, last],
      ['bytes=5-999999999', 5, last],
    ] as const) {
      const { status, headers, bytes } = await fetchContent({ range: field });
      assert.equal(status, 206, field);
      assert.equal(headers['content-range'], `bytes ${start}-${end}/${file.length}`);
      assert.deepEqual(bytes, file.subarray(start, end + 1));
    }
    const beyond = await fetchContent({ range: `bytes=${file.length}-` });
    assert.deepEqual([beyond.status, beyond.headers['content-range']], [416, `bytes */${file.length}`]);
    for (const whole of ['bytes=0-1,3-4', 'lines=1-2', 'bytes=9-1'])
      assert.equal((await fetchContent({ range: whole })).status, 200, whole);
  });

  test('conditions', async () => {
    const etag = `"${createHash('sha256').update(file).digest('hex')}"`;
    const known = await fetchContent({ 'if-none-match': `"x", ${etag}` });
    assert.deepEqual([known.status, known.bytes.length, known.headers.etag], [304, 0, etag]);
    assert.equal((await fetchContent({ 'if-none-match': '"x"' })).status, 200);
    assert.equal((await fetchContent({ range: 'bytes=0-1', 'if-range': etag })).status, 206);
    assert.equal((await fetchContent({ range: 'bytes=0-1', 'if-range': '"x"' })).status, 200);
  });

  test("other variants are refused with the field's name", async () => {
    assert.equal((await bench.ask('GET', `/videos/${id}/content?variant=video`)).status, 200);
    const { status, json } = await bench.ask('GET', `/videos/${id}/content?variant=thumbnail`);
    assert.equal(status, 400);
    assert.match(json.error.message, /thumbnail/);
  });

  test('an unfinished video has no content yet, and cannot be deleted', async () => {
    const open = await bench.make({}, { headers: { 'x-simulator-video': 'end=never' } });
    const content = await bench.ask('GET', `/videos/${open}/content`);
    assert.deepEqual([content.status, content.json.code], [400, 'task_not_finished']);
    assert.match(content.json.message, /queued|in_progress/);
    assert.equal((await bench.ask('DELETE', `/videos/${open}`)).status, 400);
    const { headers } = await bench.ask('GET', `/videos/${open}`);
    assert.deepEqual([headers['retry-after'], headers['openai-poll-after-ms']], ['5', '5000']);
  });

  test('a failure has a reason, costs nothing and has no content', async () => {
    const failed = await bench.make({}, { headers: { 'x-simulator-video': 'ms=100;end=failed;message=too%20odd' } });
    const task = await bench.ended(failed);
    assert.equal(task.status, 'failed');
    assert.equal(typeof task.error.code, 'string');
    assert.equal(typeof task.error.message, 'string');
    const content = await bench.ask('GET', `/videos/${failed}/content`);
    assert.deepEqual([content.status, content.json.code], [404, 'result_unavailable']);
    assert.ok(content.json.message.includes(`${task.error.code}: ${task.error.message}`), content.text);
    const { json } = await bench.ask('GET', `/videos/${failed}/receipt`);
    assert.deepEqual([json.state, json.charged.amount_usd], ['released', '0']);
  });

  test('the receipt has the held and the charged amount', async () => {
    const { json } = await bench.ask('GET', `/videos/${id}/receipt`);
    assert.equal(json.state, 'settled');
    assert.deepEqual(json.pricing_parameters, { resolution: '480p' });
    assert.equal(json.held.usage.outputVideoMs, 2000);
    assert.equal(json.charged.usage.outputVideoMs, 2000);
    assert.match(json.charged.amount_usd, /^\d+(\.\d+)?$/);
    assert.equal(json.request_id.slice(0, 4), 'req_');
  });

  test('metadata is returned digit by digit, also through another gateway', async () => {
    const metadata = '{"seed":12345678901234567890.1200,"nested":{"a":[1e400,true,null]},"negative_prompt":"\\u00e9"}';
    const created = await bench.ask('POST', '/video/generations', {
      body: `{"model":"chained","prompt":"digits","metadata":${metadata}}`,
      headers: { 'x-simulator-video': 'ms=100' },
    });
    assert.equal(created.status, 200, created.text);
    assert.ok(created.text.includes(metadata), created.text);
    const done = await bench.ended(created.json.id);
    assert.equal(done.status, 'completed');
    // Additions are at the end, and nothing before them has changed.
    const { text } = await bench.ask('GET', `/videos/${created.json.id}`);
    assert.ok(text.includes(metadata.slice(0, -1)), text);
  });

  test('the same order twice is one video', async () => {
    const body = { model: 'vendor-imagine-video', prompt: 'once' };
    const headers = { 'idempotency-key': 'a-key', 'x-simulator-video': 'ms=100' };
    const [first, second] = await Promise.all([0, 1].map(() => bench.ask('POST', '/video/generations', { body, headers })));
    assert.deepEqual([first?.status, second?.status], [200, 200]);
    assert.equal(first?.json.id, second?.json.id);
    const other = await bench.ask('POST', '/video/generations', { body: { ...body, prompt: 'another' }, headers });
    assert.deepEqual([other.status, other.json.code], [409, 'idempotency_conflict']);
    const stranger = await bench.createKey('someone', 'key');
    const theirs = await bench.ask('POST', '/video/generations', { body, headers, key: stranger });
    assert.notEqual(theirs.json.id, first?.json.id);
  });

  test('lists page, newest first', async () => {
    const all = await bench.ask('GET', '/videos?limit=100');
    const ids: string[] = all.json.data.map((task: { id: string }) => task.id);
    assert.ok(ids.includes(id) && ids.length > 3);
    const paged: string[] = [];
    for (let page = await bench.ask('GET', '/videos?limit=2'); ;) {
      paged.push(...page.json.data.map((task: { id: string }) => task.id));
      if (page.json.has_more !== true) break;
      page = await bench.ask('GET', `/videos?limit=2&after=${page.json.last_id}`);
    }
    assert.deepEqual(paged, ids);
    const oldest = await bench.ask('GET', '/videos?order=asc&limit=1');
    assert.equal(oldest.json.first_id, ids.at(-1));
    assert.equal((await bench.ask('GET', '/videos?limit=0')).status, 400);
  });

  test('a deleted video is gone, including its file', async () => {
    const doomed = await bench.make({});
    await bench.ended(doomed);
    assert.deepEqual((await bench.ask('DELETE', `/videos/${doomed}`)).json, { id: doomed, object: 'video.deleted', deleted: true });
    for (const path of ['', '/events', '/receipt']) assert.equal((await bench.ask('GET', `/videos/${doomed}${path}`)).status, 404);
    const content = await bench.ask('GET', `/videos/${doomed}/content`);
    assert.deepEqual([content.status, content.json.code], [410, 'result_unavailable']);
    assert.match(content.json.message, /was deleted.*\/v1\/receipts\/req_/);
  });

  test('models list their capabilities', async () => {
    const { json } = await bench.ask('GET', '/videos/models');
    assert.equal(json.object, 'list');
    for (const model of json.data) assert.ok(Array.isArray(model.modes) && typeof model.prices.per_second === 'object');
  });
});

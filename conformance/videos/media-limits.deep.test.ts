import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, before, describe, test } from 'node:test';

import { eventually } from '../support/http.ts';
import { startVideosBench, type VideosBench } from './start-videos-bench.ts';

const dayMs = 86_400_000;

describe('the amount of videos that a key may store, and for how long', () => {
  let bench: VideosBench;
  let keys: readonly string[];
  before(async () => {
    bench = await startVideosBench({ videos: { signedLinks: true, retentionDays: 30 } });
    keys = await Promise.all([
      bench.createKey('ann', 'week', '--media-days', '7'),
      bench.createKey('cem', 'small', '--media-bytes', '1000'),
      bench.createKey('cem', 'large'),
      bench.createKey('dan', 'none', '--media-bytes', '0'),
    ]);
  });
  after(() => bench[Symbol.asyncDispose]());

  const tryToMake = (key: string) =>
    bench.ask('POST', '/video/generations', { body: { model: 'vendor-imagine-video', prompt: 'one more' }, key });

  test('files expire as their key says, otherwise as configured', async () => {
    const [week = '', , large = ''] = keys;
    const daysOf = async (key: string): Promise<number> => {
      const task = await bench.ended(await bench.make({ duration: 1 }, { key }), { key });
      return (task.expires_at - task.completed_at) / (dayMs / 1000);
    };
    assert.deepEqual(await Promise.all([daysOf(week), daysOf(large)]), [7, 30]);
  });

  test('every finished video has a link that works without a key, if that is configured', async () => {
    const { metadata } = await bench.ended(await bench.make({ duration: 1 }));
    const answer = await fetch(metadata.url);
    assert.deepEqual([answer.status, answer.headers.get('content-type')], [200, 'video/mp4']);
    await answer.arrayBuffer();
  });

  test('a key or user with a full quota makes no further videos; others of the same user do', async () => {
    const [, small = '', large = ''] = keys;
    const id = await bench.make({ duration: 1 }, { key: small });
    await bench.ended(id, { key: small });
    const refused = await tryToMake(small);
    assert.deepEqual([refused.status, refused.json.code], [403, 'media_quota_exceeded']);
    assert.match(refused.json.message, /^The files of this API key have \d{4,} bytes, and at most 1000 are allowed\./);
    assert.equal((await tryToMake(large)).status, 200);
    assert.equal((await bench.ask('DELETE', `/videos/${id}`, { key: small })).status, 200);
    assert.equal((await tryToMake(small)).status, 200);
  });

  test('0 bytes: no video is made, and no request reaches the upstream', async () => {
    const none = keys[3] ?? '';
    const before = bench.simulator.videos().length;
    assert.equal((await tryToMake(none)).status, 403);
    assert.equal(bench.simulator.videos().length, before);
  });
});

test('a video whose upstream reports no duration is charged by that of its file', async () => {
  const file = { bytes: Buffer.alloc(0) };
  let asked = 0;
  const server = createServer((request, response) => {
    request.resume().on('end', () => {
      const json = (body: object): void => void response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(body));
      const path = request.url ?? '';
      if (path.endsWith('.mp4')) return void response.writeHead(200, { 'content-type': 'video/mp4' }).end(file.bytes);
      if (request.method === 'POST') return json({ request_id: `job_${(asked += 1)}` });
      const { port } = server.address() as AddressInfo;
      return json({ status: 'done', video: { url: `http://127.0.0.1:${port}/file.mp4`, respect_moderation: true } });
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  try {
    const silent = { vendor: 'xai', baseUrl: `http://127.0.0.1:${port}/v1`, apiKey: 'sk-silent-0123456789' };
    await using bench = await startVideosBench(
      {},
      { upstreams: { silent }, models: { silent: { targets: [{ upstream: 'silent', model: 'grok-imagine-video' }] } } },
    );
    const source = await bench.make({ duration: 3 });
    await bench.ended(source);
    const content = await fetch(`${bench.weir.gatewayUrl}/v1/videos/${source}/content`, {
      headers: { authorization: `Bearer ${bench.weir.apiKey}` },
    });
    file.bytes = Buffer.from(await content.arrayBuffer());
    const id = await bench.make({ model: 'silent', duration: 10 });
    const { status, seconds } = await bench.ended(id);
    assert.deepEqual([status, seconds], ['completed', '3']);
    const { json } = await eventually(
      () => bench.ask('GET', `/videos/${id}/receipt`),
      (answer) => answer.json.state === 'settled',
    );
    assert.deepEqual([json.held.usage.outputVideoMs, json.charged.usage.outputVideoMs, json.charged.estimated], [10_000, 3000, false]);
  } finally {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  }
});

import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';

import { request } from 'undici';

import { eventually } from '../support/http.ts';
import { startVideosBench, type VideosBench } from './start-videos-bench.ts';

type Got = { readonly status: number; readonly headers: Readonly<Record<string, unknown>>; readonly bytes: Buffer };

async function get(url: string, headers: Readonly<Record<string, string>> = {}, method: 'GET' | 'HEAD' | 'DELETE' = 'GET'): Promise<Got> {
  const answer = await request(url, { method, headers });
  return { status: answer.statusCode, headers: answer.headers, bytes: Buffer.from(await answer.body.arrayBuffer()) };
}

describe('links that open the file of a video without a key', () => {
  let bench: VideosBench;
  let strangerKey: string;

  /** Makes a video in xAI's form and resolves with its id and its link. */
  async function make(key = bench.weir.apiKey): Promise<{ readonly id: string; readonly link: string }> {
    const created = await bench.ask('POST', '/videos/generations', {
      body: { model: 'vendor-imagine-video', prompt: 'a kite', duration: 1 },
      headers: { 'x-simulator-video': 'ms=100' },
      key,
    });
    const id: string = created.json.request_id;
    const done = await eventually(
      () => bench.ask('GET', `/videos/${id}`, { key }),
      ({ status }) => status === 200,
      60_000,
    );
    return { id, link: done.json.video.url };
  }

  type Made = Awaited<ReturnType<typeof make>>;
  let id: string;
  let link: string;
  let another: Made;
  let theirs: Made;
  let doomed: Made;
  let file: Buffer;
  before(async () => {
    bench = await startVideosBench();
    strangerKey = await bench.createKey('stranger', 'key');
    [{ id, link }, another, doomed, theirs] = await Promise.all([make(), make(), make(), make(strangerKey)]);
    const authorization = `Bearer ${bench.weir.apiKey}`;
    file = (await get(`${bench.weir.gatewayUrl}/v1/videos/${id}/content`, { authorization })).bytes;
  });
  after(() => bench[Symbol.asyncDispose]());

  test('the link of xAI’s form has the whole file, with all headers of its owner’s own address', async () => {
    const { searchParams, pathname } = new URL(link);
    assert.equal(pathname, `/v1/videos/${id}/content`);
    const hours = (Number(searchParams.get('expires')) - Date.now() / 1000) / 3600;
    assert.ok(hours > 23.9 && hours <= 25, `${hours} h`);
    const { status, headers, bytes } = await get(link);
    assert.deepEqual([status, headers['content-type'], headers['accept-ranges']], [200, 'video/mp4', 'bytes']);
    assert.deepEqual(bytes, file);
  });

  test('HEAD, Range and conditions work as with a key', async () => {
    const head = await get(link, {}, 'HEAD');
    assert.deepEqual([head.status, head.headers['content-length'], head.bytes.length], [200, String(file.length), 0]);
    const part = await get(link, { range: 'bytes=10-99' });
    assert.deepEqual([part.status, part.headers['content-range']], [206, `bytes 10-99/${file.length}`]);
    assert.deepEqual(part.bytes, file.subarray(10, 100));
    assert.equal((await get(link, { range: `bytes=${file.length}-` })).status, 416);
    assert.equal((await get(link, { 'if-none-match': String(head.headers.etag) })).status, 304);
  });

  test('changed, cut and expired links are answered like an unknown key', async () => {
    const { searchParams } = new URL(link);
    const [expires, signature] = [searchParams.get('expires') ?? '', searchParams.get('signature') ?? ''];
    const other = signature.startsWith('A') ? 'B' : 'A';
    for (const query of [
      `expires=${expires}&signature=${other}${signature.slice(1)}`,
      `expires=${Number(expires) + 3600}&signature=${signature}`,
      `expires=${Math.floor(Date.now() / 1000) - 10}&signature=${signature}`,
      `expires=${expires}`,
      `signature=${signature}`,
      `expires=${expires}&signature=`,
    ]) {
      const { status, bytes } = await get(`${bench.weir.gatewayUrl}/v1/videos/${id}/content?${query}`);
      const body = JSON.parse(bytes.toString()) as { code: string };
      assert.deepEqual([status, body.code], [401, 'invalid_api_key'], query);
    }
  });

  test('a link opens its one file and nothing else', async () => {
    const query = new URL(link).search;
    const { gatewayUrl } = bench.weir;
    for (const path of [
      `/videos/${another.id}/content`,
      `/videos/${theirs.id}/content`,
      `/videos/${id}`,
      `/video/generations/${id}`,
      `/videos/${id}/events`,
      `/videos/${id}/receipt`,
      '/videos',
      '/models',
    ])
      assert.equal((await get(`${gatewayUrl}/v1${path}${query}`)).status, 401, path);
    assert.equal((await get(link, {}, 'DELETE')).status, 405);
    assert.equal((await get(`${gatewayUrl}/v1/videos/${id}${query}`, {}, 'DELETE')).status, 401);
    // Secrets must not be revealed: an unknown id has the same answer.
    const [foreign, nobody] = await Promise.all(
      [theirs.id, `${theirs.id.slice(0, -4)}zzzz`].map((each) => get(`${gatewayUrl}/v1/videos/${each}/content${query}`)),
    );
    assert.deepEqual(foreign?.bytes, nobody?.bytes);
    assert.equal((await get(theirs.link)).status, 200);
  });

  test('with an invalid link, a key still decides', async () => {
    const url = link.replace(/signature=[^&]*/, 'signature=x');
    assert.equal((await get(url, { authorization: `Bearer ${bench.weir.apiKey}` })).status, 200);
    assert.equal((await get(url, { authorization: `Bearer ${strangerKey}` })).status, 404);
    assert.equal((await get(url, { authorization: 'Bearer sk-wrong' })).status, 401);
  });

  test('the file of a deleted video is gone for its link, too', async () => {
    assert.equal((await get(doomed.link)).status, 200);
    assert.equal((await bench.ask('DELETE', `/videos/${doomed.id}`)).status, 200);
    assert.equal((await get(doomed.link)).status, 401);
  });

  test('the owner may have the video of a link edited', async () => {
    const created = await bench.ask('POST', '/videos/edits', {
      body: { model: 'vendor-imagine-video', prompt: 'in blue', video: { url: link } },
      headers: { 'x-simulator-video': 'ms=100' },
    });
    assert.equal(created.status, 200, created.text);
    const foreign = await bench.ask('POST', '/videos/edits', {
      body: { model: 'vendor-imagine-video', prompt: 'in blue', video: { url: link } },
      key: strangerKey,
    });
    assert.equal(foreign.status, 404);
  });
});

import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { utimes } from 'node:fs/promises';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { after, before, describe, test } from 'node:test';

import { request } from 'undici';

import { createS3Storage } from '../../src/store/media/s3-storage.ts';
import { runWeir } from '../programs/run-weir.ts';
import { eventually } from '../support/http.ts';
import { type ObjectStore, startObjectStore } from '../support/start-object-store.ts';
import { startVideosWorld, type VideosWorld, type WorldGateway } from './start-videos-world.ts';

const prefix = 'weir/';
const dayMs = 24 * 3_600_000;

describe('videos in an object store', () => {
  let store: ObjectStore;
  let world: VideosWorld;
  let weir: WorldGateway;
  let id: string;
  let file: Buffer;

  const content = async (video: string, headers: Readonly<Record<string, string>> = {}, method: 'GET' | 'HEAD' = 'GET') => {
    const url = `${weir.gatewayUrl}/v1/videos/${video}/content`;
    const answer = await request(url, { method, headers: { authorization: `Bearer ${weir.apiKey}`, ...headers } });
    const bytes = Buffer.from(await answer.body.arrayBuffer());
    return { status: answer.statusCode, headers: answer.headers, bytes };
  };
  /** Names of the video files in the bucket, the last one last. */
  const putNames = (): readonly string[] =>
    store.requests.flatMap((one) => /^PUT \/[^/]+\/(weir\/[0-9a-f]{16}\/(?!check_)[^?]+)/.exec(one)?.[1] ?? []);
  const makeOne = async (): Promise<{ readonly video: string; readonly name: string }> => {
    const video = await weir.make({ duration: 1 }, 'ms=100');
    assert.equal((await weir.ended(video)).status, 'completed');
    return { video, name: putNames().at(-1) ?? assert.fail() };
  };

  before(async () => {
    store = await startObjectStore();
    world = await startVideosWorld({ mediaStorage: { s3: { ...store.settings, prefix } } });
    weir = await world.start();
    ({ video: id } = await makeOne());
    file = (await content(id)).bytes;
  });
  after(async () => {
    await world[Symbol.asyncDispose]();
    await store[Symbol.asyncDispose]();
  });

  test('a file is stored there, under the prefix, and served whole, in parts and by name', async () => {
    const whole = await content(id);
    assert.equal(whole.headers.etag, `"${createHash('sha256').update(file).digest('hex')}"`);
    assert.equal(file.subarray(4, 8).toString(), 'ftyp');
    assert.ok(existsSync(store.pathOf(putNames()[0] ?? '')));
    const head = await content(id, {}, 'HEAD');
    assert.deepEqual([head.status, head.headers['content-length'], head.bytes.length], [200, String(file.length), 0]);
    for (const [range, start, end] of [
      ['bytes=0-0', 0, 1],
      ['bytes=100-199', 100, 200],
      ['bytes=-7', file.length - 7, file.length],
    ] as const) {
      const part = await content(id, { range });
      assert.equal(part.status, 206);
      assert.ok(part.bytes.equals(file.subarray(start, end)), range);
    }
    assert.equal((await content(id, { range: `bytes=${file.length}-` })).status, 416);
  });

  test("a deleted video's object is deleted", async () => {
    const { video, name } = await makeOne();
    assert.ok(existsSync(store.pathOf(name)));
    assert.equal((await weir.ask('DELETE', `/videos/${video}`)).status, 200);
    assert.ok(!existsSync(store.pathOf(name)));
  });

  test('while the store is down a finished video waits with an alert, a download says so, and both continue when it is back', async () => {
    store.interfere((incoming, response) => {
      incoming.resume();
      response.writeHead(503).end('<Error><Code>SlowDown</Code></Error>');
      return true;
    });
    const waiting = await weir.make({ duration: 1 }, 'ms=100');
    await eventually(weir.output, (output) => output.includes('copying the file of a video failed'), 60_000);
    assert.equal((await weir.ask('GET', `/videos/${waiting}`)).json.status, 'in_progress');
    const refused = await content(id);
    assert.ok(refused.status >= 500 && !refused.bytes.includes('SlowDown'), `${refused.status} ${refused.bytes.toString()}`);
    // A broken connection instead of an answer.
    store.interfere((incoming) => incoming.destroy() !== undefined);
    const broken = await content(id);
    assert.equal(broken.status, refused.status);
    store.interfere(undefined);
    assert.ok((await content(id)).bytes.equals(file));
    assert.equal((await weir.ended(waiting)).status, 'completed');
  });

  test('expired files and files without an owner are deleted, and no other gateway’s files', async () => {
    const { video, name } = await makeOne();
    const one = async function* () {
      yield Buffer.from('x');
    };
    const options = { mediaType: 'video/mp4', bytesMax: 9, signal: AbortSignal.timeout(60_000) };
    const own = name.slice(0, name.lastIndexOf('/') + 1);
    const another = `${prefix}${'0'.repeat(16)}/media_of_another_database`;
    const names = [`${own}media_orphan`, `${own}media_young`, another, 'other/media_of_another', 'media_of_a_third'];
    for (const other of names) {
      const at = other.lastIndexOf('/') + 1;
      await createS3Storage({ ...store.settings, prefix: other.slice(0, at) }).write(other.slice(at), one(), options);
      if (!other.endsWith('young')) await utimes(store.pathOf(other), (Date.now() - 2 * dayMs) / 1000, (Date.now() - 2 * dayMs) / 1000);
    }
    await weir.stop();
    const database = new DatabaseSync(join(world.dataDirectory, 'weir.sqlite'));
    database.prepare('update video_tasks set expires_at_ms = 1 where id = ?').run(video);
    database.close();
    weir = await world.start();
    await eventually(
      () => [`${own}media_orphan`, name].filter((gone) => existsSync(store.pathOf(gone))),
      ({ length }) => length === 0,
      60_000,
    );
    for (const kept of [...names.slice(1), putNames()[0] ?? '']) assert.ok(existsSync(store.pathOf(kept)), kept);
    assert.equal((await content(video)).status, 410);
    assert.ok((await content(id)).bytes.equals(file));
  });

  test('the doctor reports whether files can be stored, and a start with wrong credentials reports it too and continues', async () => {
    const doctor = (path: string) =>
      runWeir(['doctor', '--no-calls', '--json'], { WEIR_DATA_DIR: world.dataDirectory, WEIR_CONFIG: join(path, 'weir.yaml') });
    const rowOf = (stdout: string) =>
      JSON.parse(stdout).sections.find(({ title }: { title: string }) => title === 'Media storage').findings[0];
    const good = rowOf((await doctor(world.dataDirectory)).stdout);
    assert.equal(good.verdict, 'good', JSON.stringify(good));
    const unknown = { accessKeyId: 'NOBODY', secretAccessKey: 'a-secret-that-is-wrong' };
    await using wrong = await startVideosWorld({ mediaStorage: { s3: { ...store.settings, ...unknown } } });
    const started = await wrong.start();
    await eventually(started.output, (output) => output.includes('media storage check failed'), 60_000);
    assert.match(started.output(), /status 403, code InvalidAccessKeyId/);
    const bad = rowOf((await doctor(wrong.dataDirectory)).stdout);
    assert.equal(bad.verdict, 'bad');
    assert.match(`${bad.says} ${bad.advice}`, /status 403.*mediaStorage\.s3/);
    for (const text of [started.output(), JSON.stringify(bad)]) assert.ok(!text.includes(unknown.secretAccessKey));
    const leftovers = store.requests.filter((one) => one.startsWith('PUT') && one.includes('check_')).map((one) => one.split(' ')[1] ?? '');
    for (const path of leftovers) assert.ok(!existsSync(store.pathOf(path.split('/').slice(2).join('/'))), path);
  });
});

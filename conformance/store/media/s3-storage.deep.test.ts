import assert from 'node:assert/strict';
import { utimes } from 'node:fs/promises';
import { test, type TestContext } from 'node:test';
import { inspect } from 'node:util';

import type { S3Settings } from '../../../src/store/media/connect-s3.ts';
import { createS3Storage } from '../../../src/store/media/s3-storage.ts';
import { usualOrLong } from '../../support/scale.ts';
import { type ObjectStore, startObjectStore } from '../../support/start-object-store.ts';
import { type StorageUnderTest, testMediaStorage } from './media-storage-suite.ts';
import { bytesAt, collect, source } from './sources.ts';

const { signal } = new AbortController();
const options = { mediaType: 'video/mp4', bytesMax: 1_000_000_000, signal };
const megabyte = 1024 * 1024;

async function start(prefix: string): Promise<StorageUnderTest> {
  const store = await startObjectStore();
  return {
    storage: createS3Storage({ ...store.settings, prefix }),
    unfinished: store.unfinished,
    age: async (key, atMs) => {
      await utimes(store.pathOf(prefix + key), atMs / 1000, atMs / 1000);
    },
    // The object store of the tests overwrites the file that is being read. Real ones keep the old one.
    keepsWhatIsRead: false,
    [Symbol.asyncDispose]: () => store[Symbol.asyncDispose](),
  };
}

testMediaStorage('an object store', () => start(''));
testMediaStorage('an object store under a prefix', () => start('weir/media-'), usualOrLong(8 * megabyte + 1, Infinity));

async function open(context: TestContext, settings: Partial<S3Settings> = {}) {
  const store = await startObjectStore();
  context.after(() => store[Symbol.asyncDispose]());
  return { store, storage: createS3Storage({ ...store.settings, pauseMs: 1, ...settings }) };
}

const unavailable = { name: 'MediaStorageError', problem: 'unavailable' };
const isPart = (request: string): boolean => request.startsWith('PUT') && request.includes('partNumber=');

test('parts have 8 MiB, and a small file is one request', async (context) => {
  const { store, storage } = await open(context);
  await storage.write('small', source(8 * megabyte - 1), options);
  assert.equal(store.requests.length, 1);
  await storage.write('large', source(20 * megabyte), options);
  assert.equal(store.requests.filter(isPart).length, 3);
});

test('a part that fails is sent again; one that keeps failing cancels the whole upload', async (context) => {
  const { store, storage } = await open(context);
  let failures = 2;
  const fail: Parameters<ObjectStore['interfere']>[0] = (request, response, url) => {
    if (url.searchParams.get('partNumber') !== '2' || failures === 0) return false;
    failures -= 1;
    request.resume();
    response.writeHead(503).end('<Error><Code>SlowDown</Code></Error>');
    return true;
  };
  store.interfere(fail);
  await storage.write('again', source(17 * megabyte), options);
  assert.ok(bytesAt(0, 17 * megabyte).equals((await collect(await storage.open('again', undefined, signal))) ?? Buffer.alloc(0)));
  failures = 3;
  await assert.rejects(storage.write('never', source(17 * megabyte), options), unavailable);
  assert.deepEqual(await store.unfinished(), []);
  assert.equal(await storage.open('never', undefined, signal), undefined);
});

test('a service that answers 200 and then an error has not completed the upload', async (context) => {
  const { store, storage } = await open(context);
  store.interfere((request, response, url) => {
    if (request.method !== 'POST' || !url.searchParams.has('uploadId')) return false;
    request.resume();
    response.writeHead(200, { 'content-type': 'application/xml' });
    response.end('<?xml version="1.0"?><Error><Code>InternalError</Code><Message>ETag</Message></Error>');
    return true;
  });
  await assert.rejects(storage.write('half', source(9 * megabyte), options), unavailable);
  assert.deepEqual(await store.unfinished(), []);
});

test('a wrong key is refused, and the error contains neither it nor the access key', async (context) => {
  const { storage } = await open(context, { accessKeyId: 'AKIAWRONG', secretAccessKey: 'very-secret' });
  for (const work of [
    () => storage.write('a', source(1), options),
    () => storage.write('a', source(9 * megabyte), options),
    () => storage.open('a', undefined, signal),
    () => storage.remove('a'),
    () => storage.listOlderThan(1, 1),
  ]) {
    await assert.rejects(work(), (error) => {
      assert.ok(error instanceof Error);
      assert.doesNotMatch(inspect(error, { depth: 10 }), /AKIAWRONG|very-secret/);
      return error.name === 'MediaStorageError';
    });
  }
});

test('a missing bucket is an unavailable storage, not a missing file', async (context) => {
  const { storage } = await open(context, { bucket: 'missing' });
  await assert.rejects(storage.open('a', undefined, signal), unavailable);
  await assert.rejects(storage.write('a', source(1), options), unavailable);
  await assert.rejects(storage.listOlderThan(1, 1), unavailable);
});

test('an unreachable, silent or redirecting server is an unavailable storage', async (context) => {
  const { store, storage } = await open(context, { requestMs: 200 });
  await assert.rejects(createS3Storage({ ...store.settings, endpoint: 'http://127.0.0.1:9' }).write('a', source(1), options), unavailable);
  store.interfere(() => true);
  await assert.rejects(storage.write('a', source(1), options), unavailable);
  await assert.rejects(storage.open('a', undefined, signal), unavailable);
  await assert.rejects(storage.remove('a'), unavailable);
  store.interfere((_request, response) => {
    response.writeHead(307, { location: 'http://127.0.0.1:9/videos/a' }).end();
    return true;
  });
  await assert.rejects(storage.open('a', undefined, signal), unavailable);
});

const bodies: readonly [what: string, headers: Record<string, string>, status: number, ends: 'destroy' | 'hang'][] = [
  ['breaks off', { 'content-length': '1000' }, 206, 'destroy'],
  ['falls silent', { 'content-length': '1000' }, 206, 'hang'],
  ['is the whole file in place of a part', { 'content-length': '100' }, 200, 'hang'],
];
for (const [what, headers, status, ends] of bodies) {
  test(`an answer that ${what} is never accepted`, async (context) => {
    const { store, storage } = await open(context, { idleMs: 200 });
    store.interfere((_request, response) => {
      response.writeHead(status, headers);
      response.write(Buffer.alloc(100), () => {
        if (ends === 'destroy') response.destroy();
      });
      return true;
    });
    await assert.rejects(async () => collect(await storage.open('a', { start: 5, end: 1004 }, signal)), unavailable);
  });
}

test('the bucket is in the host name if configured so', async () => {
  const storage = createS3Storage({
    endpoint: 'http://objects.invalid:1234',
    region: 'auto',
    bucket: 'videos',
    accessKeyId: 'a',
    secretAccessKey: 'b',
    forcePathStyle: false,
  });
  await assert.rejects(storage.remove('a'), (error) => {
    assert.match(inspect(error, { depth: 10 }), /videos\.objects\.invalid/);
    return true;
  });
});

import assert from 'node:assert/strict';
import { createServer, type IncomingHttpHeaders, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { test } from 'node:test';

import { createUpstreamClient } from '../../../../platform/http/upstream-client.ts';
import { openGuarded } from '../../../../platform/http/open-guarded.ts';
import { type OpenedResult, ResultError } from '../../../../tasks/video-upstreams.ts';
import { createFakeUpstream } from '../../../attempts/exchange/testing/fake-exchange.ts';
import { decodeResult, encodeResult, type OpenAddress, openResult } from './open-result.ts';

const key = 'sk-upstream-0123456789';

type Served = AsyncDisposable & {
  readonly origin: string;
  readonly seen: { readonly url: string; readonly headers: IncomingHttpHeaders }[];
};

async function serving(answer: RequestListener): Promise<Served> {
  const seen: Served['seen'] = [];
  const server = createServer((request, response) => {
    seen.push({ url: request.url ?? '', headers: request.headers });
    answer(request, response);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    origin,
    seen,
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

const file: RequestListener = (_, response) => {
  response.writeHead(200, { 'content-type': 'video/mp4; codecs=x', 'content-length': '5' });
  response.end('video');
};
const redirect =
  (location: string): RequestListener =>
  (_, response) => {
    response.writeHead(302, { location });
    response.end();
  };

const guarded: OpenAddress = async (url, signal, isTrusted) => {
  const opened = await openGuarded(url, { isTrusted, firstByteMs: 30_000, idleMs: 30_000, totalMs: 60_000, signal });
  return { mediaType: opened.mediaType ?? '', bytes: opened.bytes, content: opened.content };
};

async function open(own: Served, result: Parameters<typeof openResult>[0], configured: readonly string[] = []): Promise<OpenedResult> {
  const client = createUpstreamClient({ origin: own.origin, connectTimeoutMs: 30_000, headerBytesMax: 16_384 });
  const upstream = { ...createFakeUpstream({ vendor: 'xai', apiKey: key }, client), origin: own.origin, basePath: '/v1' };
  return openResult(result, {
    upstream,
    timeouts: { firstByteMs: 30_000, idleMs: 30_000 },
    openAddress: guarded,
    isConfigured: (origin) => origin === own.origin || configured.includes(origin),
    signal: new AbortController().signal,
  });
}

async function read({ content }: OpenedResult): Promise<string> {
  let text = '';
  for await (const piece of content) text += Buffer.from(piece).toString();
  return text;
}

test('a path below the base URL is fetched with the credential', async () => {
  await using own = await serving(file);
  const opened = await open(own, { kind: 'path', path: '/videos/v_1/content' });
  assert.deepEqual([opened.mediaType, opened.bytes, await read(opened)], ['video/mp4', 5, 'video']);
  assert.deepEqual([own.seen[0]?.url, own.seen[0]?.headers.authorization], ['/v1/videos/v_1/content', `Bearer ${key}`]);
});

test('a URL of the same origin is fetched with it too', async () => {
  await using own = await serving(file);
  assert.equal(await read(await open(own, { kind: 'url', url: `${own.origin}/files/1.mp4?sig=a%20b` })), 'video');
  assert.deepEqual([own.seen[0]?.url, own.seen[0]?.headers.authorization], ['/files/1.mp4?sig=a%20b', `Bearer ${key}`]);
});

test('the credential never goes to another origin, even after a redirect', async () => {
  await using other = await serving(file);
  await using own = await serving(redirect(`${other.origin}/elsewhere`));
  for (const result of [
    { kind: 'path', path: '/videos/v_1/content' },
    { kind: 'url', url: `${other.origin}/elsewhere` },
  ] as const)
    assert.equal(await read(await open(own, result, [other.origin])), 'video');
  assert.equal(other.seen.length, 2);
  for (const { headers } of other.seen) {
    assert.equal(headers.authorization, undefined);
    assert.ok(!JSON.stringify(headers).includes(key));
  }
});

test('a private address that is not configured is never connected to', async () => {
  await using inside = await serving(file);
  await using own = await serving(redirect(`${inside.origin}/secret`));
  await assert.rejects(open(own, { kind: 'url', url: `${inside.origin}/secret` }));
  await assert.rejects(open(own, { kind: 'path', path: '/videos/v_1/content' }));
  assert.equal(inside.seen.length, 0);
});

test('endless redirects are abandoned', async () => {
  await using own = await serving(redirect('/again'));
  await assert.rejects(open(own, { kind: 'path', path: '/videos/v_1/content' }), /redirects more than 3 times/);
  assert.equal(own.seen.length, 4);
});

for (const [status, isGone] of [
  [404, true],
  [410, true],
  [401, false],
  [500, false],
  [204, false],
] as const) {
  test(`${status} is ${isGone ? 'final' : 'retried'}`, async () => {
    await using own = await serving((_, response) => {
      response.writeHead(status);
      response.end();
    });
    await assert.rejects(
      open(own, { kind: 'path', path: '/videos/v_1/content' }),
      (error) => error instanceof ResultError && error.isGone === isGone,
    );
  });
}

test('results are stored as text, and other text is refused', () => {
  for (const result of [
    { kind: 'url', url: 'https://a.example/b' },
    { kind: 'path', path: '/c' },
    { kind: 'object', uri: 'gs://a/b' },
  ] as const)
    assert.deepEqual(decodeResult(encodeResult(result)), result);
  for (const text of ['', '{', 'null', '[]', '{"kind":"url"}', '{"kind":"path","path":1}', '{"kind":"file","path":"/etc/passwd"}'])
    assert.throws(() => decodeResult(text), ResultError);
});

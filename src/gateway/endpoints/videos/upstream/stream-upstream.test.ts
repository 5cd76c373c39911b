import assert from 'node:assert/strict';
import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { test } from 'node:test';

import { createUpstreamClient } from '../../../../platform/http/upstream-client.ts';
import { discard, streamUpstream } from './stream-upstream.ts';

const timeouts = { firstByteMs: 20_000, idleMs: 20_000 };
const request = { path: '/', method: 'GET', headers: {}, body: undefined } as const;

async function serving(listener: RequestListener): Promise<{ server: Server; origin: string } & AsyncDisposable> {
  const server = createServer(listener);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    server,
    origin,
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

const open = (origin: string, limits = timeouts, signal = new AbortController().signal) =>
  streamUpstream(createUpstreamClient({ origin, connectTimeoutMs: 20_000, headerBytesMax: 16_384 }), request, { timeouts: limits, signal });

test('a large body arrives completely, with back-pressure on its sender', async () => {
  const size = 64 * 1024 * 1024;
  let sent = 0;
  await using upstream = await serving((_, response) => {
    response.writeHead(200, { 'content-length': String(size) });
    const piece = Buffer.alloc(64 * 1024, 7);
    const push = (): void => {
      while (sent < size) {
        sent += piece.length;
        if (!response.write(piece)) return void response.once('drain', push);
      }
      response.end();
    };
    push();
  });
  const { status, content } = await open(upstream.origin);
  assert.equal(status, 200);
  let read = 0;
  let ahead = 0;
  for await (const piece of content) {
    read += piece.length;
    if (read < 4 * 1024 * 1024) await new Promise((resolve) => setTimeout(resolve, 2));
    ahead = Math.max(ahead, sent - read);
  }
  assert.equal(read, size);
  assert.ok(ahead < 32 * 1024 * 1024, `the sender was ${ahead} bytes ahead`);
});

test('a body that stalls ends the read', async () => {
  await using upstream = await serving((_, response) => {
    response.writeHead(200, { 'content-length': '100' });
    response.write('half');
  });
  const { content } = await open(upstream.origin, { ...timeouts, idleMs: 50 });
  await assert.rejects(async () => {
    for await (const piece of content) assert.equal(piece.toString(), 'half');
  }, /nothing arrived/);
});

test('a truncated body is an error', async () => {
  await using upstream = await serving((_, response) => {
    response.writeHead(200, { 'content-length': '100' });
    response.write('half', () => setImmediate(() => response.destroy()));
  });
  const { content } = await open(upstream.origin);
  await assert.rejects(async () => {
    for await (const piece of content) assert.ok(piece.length <= 4);
  });
});

test('a missing answer and an aborted signal reject', async () => {
  await using upstream = await serving(() => {});
  await assert.rejects(open(upstream.origin, { firstByteMs: 30, idleMs: 30 }), /nothing arrived/);
  await assert.rejects(open(upstream.origin, timeouts, AbortSignal.abort()), /cut short/);
  const later = new AbortController();
  const opening = open(upstream.origin, timeouts, later.signal);
  later.abort();
  await assert.rejects(opening, /cut short/);
});

test('a reader that stops early ends the connection', async () => {
  const { promise, resolve } = Promise.withResolvers<void>();
  await using upstream = await serving((_, response) => {
    response.writeHead(200);
    response.on('close', resolve);
    response.write(Buffer.alloc(1000));
  });
  const { content } = await open(upstream.origin);
  for await (const piece of content) {
    assert.ok(piece.length > 0);
    break;
  }
  await promise;
});

test('a discarded answer ends its connection', async () => {
  const { promise, resolve } = Promise.withResolvers<void>();
  await using upstream = await serving((_, response) => {
    response.writeHead(500);
    response.on('close', resolve);
    response.write(Buffer.alloc(1000));
  });
  const { content } = await open(upstream.origin);
  await discard(content);
  await promise;
});

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { after, before, beforeEach, describe, test } from 'node:test';

import { type Bytes, BytePieces } from '../byte-pieces.ts';
import { freeMemory, ownMemory } from './body-memory.ts';
import { createUpstreamClient, type UpstreamClient, type UpstreamController } from './upstream-client.ts';

const canFree = 'transfer' in ArrayBuffer.prototype;
const skip = canFree ? false : 'this version of Node cannot free memory';
const megabyte = 1_000_000;
const reply = 'HTTP/1.1 200 OK\r\nkeep-alive: timeout=3600\r\ncontent-length: 2\r\n\r\nhi';

/** Memory of its own whose bytes show their order. */
function bodyOf(length: number): Buffer {
  const bytes = Buffer.allocUnsafeSlow(length);
  for (let at = 0; at < length; at++) bytes[at] = (at * 7 + (at >> 8)) & 0x7f;
  return ownMemory(bytes);
}

/** Resolves when no connection uses the memory. */
async function untilFreed(bytes: Buffer): Promise<void> {
  for (let turn = 0; turn < 10_000 && bytes.length > 0; turn++) await new Promise((resolve) => void setImmediate(resolve));
  assert.equal(bytes.length, 0, 'its memory is not freed');
}

describe('memory of a body that is sent', () => {
  let server: Server;
  let client: UpstreamClient;
  let received: Buffer[] = [];
  let onConnected: (socket: Socket) => void = () => {};
  const sockets: Socket[] = [];
  before(async () => {
    server = createServer((socket) => {
      sockets.push(socket);
      socket.on('error', () => {});
      onConnected(socket);
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
  });
  after(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  beforeEach((context) => {
    received = [];
    const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    client = createUpstreamClient({ origin, connectTimeoutMs: 30_000, headerBytesMax: 8192 });
    (context as { after: (done: () => Promise<void>) => void }).after(client.close);
  });

  /** Collects the bytes of each request, and answers a whole one. */
  function serve(socket: Socket): void {
    let pieces: Buffer[] = [];
    let missing = -1;
    socket.on('data', (piece: Buffer) => {
      pieces.push(piece);
      if (missing === -1) {
        const head = /^[^]*?content-length: (\d+)\r\n\r\n/.exec(piece.toString('latin1'));
        missing = Number(head?.[1]) + (head?.[0].length ?? 0);
      }
      missing -= piece.length;
      if (missing > 0) return;
      received.push(Buffer.concat(pieces));
      pieces = [];
      missing = -1;
      socket.write(reply);
    });
  }

  /** Resolves with a connection on which a request has begun to arrive. The rest waits until the connection resumes. */
  function beginning(): Promise<Socket> {
    const { promise, resolve } = Promise.withResolvers<Socket>();
    onConnected = (socket) =>
      void socket.once('data', (piece: Buffer) => {
        socket.pause();
        socket.unshift(piece);
        resolve(socket);
      });
    return promise;
  }

  type Sending = { readonly ended: Promise<Error | undefined>; readonly controller: UpstreamController | undefined };

  function send(body: Bytes, onHead: () => void = () => {}): Sending {
    const { promise, resolve } = Promise.withResolvers<Error | undefined>();
    let controller: UpstreamController | undefined;
    client.send(
      { path: '/', method: 'POST', headers: {}, body },
      {
        onRequestStart: (own) => (controller = own),
        onResponseStart: onHead,
        onResponseData: () => {},
        onResponseEnd: () => resolve(undefined),
        onResponseError: (_controller, error) => resolve(error),
      },
    );
    return { ended: promise, controller };
  }

  const sent = (at: number): Buffer => {
    const request = received[at] ?? Buffer.alloc(0);
    return request.subarray(request.indexOf('\r\n\r\n') + 4);
  };

  test('a body in pieces arrives byte for byte with its length, as often as it is sent', async () => {
    onConnected = serve;
    for (const length of [0, 10, 30_000, 40_000, 3 * megabyte]) {
      const bytes = bodyOf(length);
      const body = new BytePieces([bytes.subarray(0, length >> 1), Buffer.from('new'), bytes.subarray(length >> 1), Buffer.alloc(0)]);
      received = [];
      for (let attempt = 0; attempt < 2; attempt++) {
        assert.equal(await send(body).ended, undefined);
        assert.ok(sent(attempt).equals(body.join()));
      }
      freeMemory(bytes);
      if (canFree) assert.equal(bytes.length, length > 32 * 1024 ? 0 : length);
    }
  });

  test('memory that is freed while its body is sent stays until all of it was sent', { skip }, async () => {
    const begun = beginning();
    const bytes = bodyOf(20 * megabyte);
    const copy = Buffer.from(bytes);
    const sending = send(new BytePieces([Buffer.from('{'), bytes]));
    const socket = await begun;
    freeMemory(bytes);
    assert.equal(bytes.length, 20 * megabyte);
    // Whatever takes memory now must not get that of the body.
    const others = Array.from({ length: 8 }, () => Buffer.alloc(5 * megabyte, 0xff));
    serve(socket);
    socket.resume();
    assert.equal(await sending.ended, undefined);
    assert.ok(sent(0).subarray(1).equals(copy));
    assert.equal(others.length, 8);
    await untilFreed(bytes);
  });

  test('memory is freed after a request that ends while it is sent: by its caller', { skip }, async () => {
    const begun = beginning();
    const bytes = bodyOf(20 * megabyte);
    const sending = send(bytes);
    await begun;
    freeMemory(bytes);
    sending.controller?.abort(new Error('left'));
    await untilFreed(bytes);
  });

  test('memory is freed after a request that ends while it is sent: by an early answer', { skip }, async () => {
    const begun = beginning();
    const bytes = bodyOf(20 * megabyte);
    const sending = send(bytes, () => freeMemory(bytes));
    (await begun).write('HTTP/1.1 413 Too Large\r\ncontent-length: 0\r\n\r\n');
    assert.equal(await sending.ended, undefined);
    await untilFreed(bytes);
  });

  test('memory is freed after a request that ends while it is sent: by the upstream', { skip }, async () => {
    const begun = beginning();
    const bytes = bodyOf(20 * megabyte);
    const sending = send(bytes);
    const socket = await begun;
    freeMemory(bytes);
    socket.resetAndDestroy();
    assert.ok((await sending.ended) instanceof Error);
    await untilFreed(bytes);
  });
});

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { after, before, beforeEach, describe, test } from 'node:test';

import { createUpstreamClient, type StreamedBody, type UpstreamClient, type UpstreamController } from './upstream-client.ts';

type Answer = { readonly status: number; readonly body: string; readonly error: (Error & { code?: string }) | undefined };

/** Keeps the connection for an hour, so that it does not expire on a slow machine. */
const whole = 'HTTP/1.1 200 OK\r\nkeep-alive: timeout=3600\r\ncontent-length: 2\r\n\r\nhi';

describe('a connection to an upstream', () => {
  let server: Server;
  let origin: string;
  let client: UpstreamClient;
  const sockets: Socket[] = [];
  /** Answers each complete request. */
  let answer: (socket: Socket, request: string) => void = () => {};
  before(async () => {
    server = createServer((socket) => {
      sockets.push(socket);
      let received = '';
      socket.on('error', () => socket.destroy());
      socket.on('data', (chunk: Buffer) => {
        received += chunk.toString('latin1');
        const end = received.indexOf('\r\n\r\n');
        const length = Number(/content-length: (\d+)/.exec(received)?.[1] ?? 0);
        if (end === -1 || received.length < end + 4 + length) return;
        const request = received;
        received = '';
        answer(socket, request);
      });
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  });
  after(() => void server.close());
  beforeEach(async (context) => {
    sockets.length = 0;
    answer = (socket) => void socket.write(whole);
    client = createUpstreamClient({ origin, connectTimeoutMs: 30_000, headerBytesMax: 8192 });
    (context as { after: (done: () => Promise<void>) => void }).after(async () => {
      await client.close();
      for (const socket of sockets) socket.destroy();
    });
  });

  /** A body of one piece, whose reader ends later than it. */
  const bodyOf = (piece: string, end: Promise<void>, bytes = piece.length): StreamedBody => ({
    bytes,
    read: async function* () {
      yield Buffer.from(piece);
      await end;
    },
  });

  function send(
    body: Buffer | StreamedBody = Buffer.from('hello'),
    during: {
      readonly onStart?: (controller: UpstreamController) => void;
      readonly onData?: (controller: UpstreamController) => void;
    } = {},
  ): Promise<Answer> {
    const { promise, resolve } = Promise.withResolvers<Answer>();
    let status = 0;
    let text = '';
    client.send(
      { path: '/', method: 'POST', headers: {}, ...('read' in body ? { body: undefined, streamedBody: body } : { body }) },
      {
        onRequestStart: (controller) => during.onStart?.(controller),
        onResponseStart: (_controller, code) => (status = code),
        onResponseData: (controller, piece) => {
          text += piece.toString();
          during.onData?.(controller);
        },
        onResponseEnd: () => resolve({ status, body: text, error: undefined }),
        onResponseError: (_controller, error) => resolve({ status, body: text, error }),
      },
    );
    return promise;
  }

  test('is used again, and a small and a large body both arrive whole', async () => {
    const lengths: number[] = [];
    answer = (socket, request) => {
      lengths.push(request.length - request.indexOf('\r\n\r\n') - 4);
      socket.write(whole);
    };
    for (const bytes of [0, 5, 100_000, 3_000_000]) assert.equal((await send(Buffer.alloc(bytes, 0x61))).body, 'hi');
    assert.deepEqual(lengths, [0, 5, 100_000, 3_000_000]);
    assert.equal(sockets.length, 1);
  });

  test('carries one request at a time, so that concurrent calls use separate connections', async () => {
    assert.deepEqual(
      (await Promise.all([send(), send(), send()])).map(({ body }) => body),
      ['hi', 'hi', 'hi'],
    );
    assert.equal(sockets.length, 3);
    await send();
    assert.equal(sockets.length, 3);
  });

  for (const [name, reply] of [
    ['asks to close it', whole.replace('content-length', 'connection: keep-alive, Close\r\ncontent-length')],
    ['speaks HTTP/1.0', whole.replace('1.1', '1.0')],
    ['names a time that is nearly over', whole.replace('3600', '2')],
    ['is followed by unexpected bytes', `${whole}HTTP/1.1 200 OK\r\ncontent-length: 4\r\n\r\nevil`],
  ] as const) {
    test(`is not used again after a reply that ${name}`, async () => {
      answer = (socket) => void socket.write(reply);
      for (let round = 0; round < 2; round++) assert.equal((await send()).body, 'hi');
      assert.equal(sockets.length, 2);
    });
  }

  test('that receives bytes while idle is closed, and no call gets them', async () => {
    assert.equal((await send()).body, 'hi');
    const [first] = sockets;
    assert.ok(first);
    const closed = new Promise<void>((resolve) => void first.once('close', () => resolve()));
    first.write('HTTP/1.1 200 OK\r\ncontent-length: 4\r\n\r\nevil');
    await closed;
    assert.equal((await send()).body, 'hi');
    assert.equal(sockets.length, 2);
  });

  test('whose reply arrived before the request was sent is not used again', async () => {
    server.once('connection', (socket: Socket) => {
      socket.pause();
      socket.write('HTTP/1.1 413 Too Large\r\ncontent-length: 0\r\n\r\n');
    });
    assert.equal((await send(Buffer.alloc(20_000_000))).status, 413);
    for (const socket of sockets) socket.destroy();
    assert.equal((await send()).status, 200);
    assert.equal(sockets.length, 2);
  });

  test('that still sends a body is not used again, also if the reader of the body before it ends meanwhile', async () => {
    const slowEnd = Promise.withResolvers<void>();
    const rest = Promise.withResolvers<void>();
    assert.equal((await send(bodyOf('first', slowEnd.promise))).body, 'hi');
    // The server answers the second request before it has the whole body.
    sockets[0]?.once('data', () => {
      slowEnd.resolve();
      setImmediate(() => sockets[0]?.write(whole));
    });
    assert.equal((await send(bodyOf('second', rest.promise, 100))).body, 'hi');
    rest.resolve();
    assert.equal((await send()).body, 'hi');
    assert.equal(sockets.length, 2);
  });

  test('that fails ends its call, and no other', async () => {
    answer = (socket) => void socket.end('HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nhi');
    const cut = await send();
    assert.deepEqual([cut.body, cut.error?.code], ['hi', 'CONNECTION_CLOSED']);
    answer = (socket) => void socket.resetAndDestroy();
    assert.equal((await send()).error?.code, 'ECONNRESET');
    answer = (socket) => void socket.write(whole);
    assert.equal((await send()).body, 'hi');
  });

  test('is closed by an abort, also before it is open, and no further event follows', async () => {
    let heard = 0;
    const never = send(undefined, { onStart: (controller) => controller.abort(new Error('left')) }).then(() => (heard += 1));
    assert.equal((await send()).body, 'hi');
    answer = (socket) => void socket.write('HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nhi');
    const stopped = send(undefined, { onData: (controller) => controller.abort(new Error('enough')) }).then(() => (heard += 1));
    answer = (socket) => void socket.write(whole);
    assert.equal((await send()).body, 'hi');
    assert.equal(heard, 0);
    void never;
    void stopped;
  });

  test('cannot be controlled by a call that has ended', async () => {
    let old: UpstreamController | undefined;
    await send(undefined, { onStart: (controller) => (old = controller) });
    const next = send(undefined, {
      onStart: () => {
        old?.pause();
        old?.abort(new Error('late'));
      },
    });
    assert.equal((await next).body, 'hi');
    assert.equal(sockets.length, 1);
  });

  test('that was paused until its reply was whole is read again by the next call', async () => {
    assert.equal((await send(undefined, { onData: (controller) => controller.pause() })).body, 'hi');
    assert.equal((await send()).body, 'hi');
    assert.equal(sockets.length, 1);
  });

  test('that is paused puts back-pressure on the upstream', async () => {
    let paused: UpstreamController | undefined;
    const large = 'x'.repeat(50_000_000);
    answer = (socket) => void socket.write(`HTTP/1.1 200 OK\r\ncontent-length: ${large.length}\r\n\r\n${large}`);
    const reply = send(undefined, {
      onData: (controller) => {
        if (paused !== undefined) return;
        paused = controller;
        controller.pause();
      },
    });
    // Other calls run meanwhile.
    while (paused === undefined) await new Promise((resolve) => setImmediate(resolve));
    answer = (socket) => void socket.write(whole);
    for (let round = 0; round < 50; round++) assert.equal((await send()).body, 'hi');
    assert.ok((sockets[0]?.writableLength ?? 0) > 10_000_000, 'most of it is still at the upstream');
    paused?.resume();
    assert.equal((await reply).body.length, large.length);
  });
});

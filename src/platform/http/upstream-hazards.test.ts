import assert from 'node:assert/strict';
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import dns from 'node:dns';
import { once } from 'node:events';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { afterEach, beforeEach, describe, test } from 'node:test';

import { createUpstreamClient, type UpstreamClient, type UpstreamController } from './upstream-client.ts';

type Answer = { readonly status: number; readonly pieces: readonly Buffer[]; readonly body: string; readonly code: string | undefined };

/** Keeps the connection for an hour, so that it does not expire on a slow machine. */
const whole = 'HTTP/1.1 200 OK\r\nkeep-alive: timeout=3600\r\ncontent-length: 2\r\n\r\nhi';
const unhinted = whole.replace('keep-alive: timeout=3600\r\n', '');
const chunkedHead = 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n';

let server: Server;
let client: UpstreamClient;
let sockets: Socket[] = [];
/** Called for each piece that a connection receives. Requests here are small enough for one piece. */
let answer: (socket: Socket, received: Buffer) => void = () => {};

beforeEach(async () => {
  sockets = [];
  answer = (socket) => void socket.write(whole);
  server = createServer((socket) => {
    sockets.push(socket);
    socket.on('error', () => socket.destroy());
    socket.on('data', (received: Buffer) => answer(socket, received));
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  client = open(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
});
afterEach(async () => {
  for (const socket of sockets) socket.destroy();
  server.close();
  await client.close();
});

const open = (origin: string, connectTimeoutMs = 30_000): UpstreamClient =>
  createUpstreamClient({ origin, connectTimeoutMs, headerBytesMax: 8192 });

function send(body: Buffer = Buffer.from('hello'), through: UpstreamClient = client): Promise<Answer> {
  const { promise, resolve } = Promise.withResolvers<Answer>();
  let status = 0;
  const pieces: Buffer[] = [];
  const settle = (code?: string): void => resolve({ status, pieces, body: Buffer.concat(pieces).toString('latin1'), code });
  through.send(
    { path: '/', method: 'POST', headers: {}, body },
    {
      onRequestStart: () => {},
      onResponseStart: (_controller, code) => (status = code),
      onResponseData: (_controller, piece) => void pieces.push(piece),
      onResponseEnd: () => settle(),
      onResponseError: (_controller, error) => settle((error as NodeJS.ErrnoException).code ?? error.message),
    },
  );
  return promise;
}

const closed = (socket: Socket | undefined): Promise<void> =>
  new Promise((resolve) => (socket === undefined || socket.closed ? resolve() : void socket.once('close', () => resolve())));

describe('memory that is read again', () => {
  test('never changes a piece that a handler received before', async () => {
    const letters = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h'];
    let calls = 0;
    answer = (socket) => {
      const letter = letters[calls++] ?? '';
      socket.write(chunkedHead);
      for (let chunk = 0; chunk < 50; chunk++) socket.write(`${(1000).toString(16)}\r\n${letter.repeat(1000)}\r\n`);
      socket.write('0\r\n\r\n');
    };
    const answers = await Promise.all(letters.map(() => send()));
    assert.deepEqual(
      answers.map(({ body }) => body).toSorted(),
      letters.map((letter) => letter.repeat(50_000)),
    );
  });

  test('delivers one piece for each read, so that tiny chunks do not become many objects', async () => {
    answer = (socket) =>
      void socket.write(`${chunkedHead}${Array.from('0123456789'.repeat(1000), (digit) => `1;a=b\r\n${digit}\r\n`).join('')}0\r\n\r\n`);
    const { body, pieces } = await send();
    assert.equal(body, '0123456789'.repeat(1000));
    assert.ok(pieces.length < 200, `${pieces.length} pieces`);
  });

  test('delivers the bytes before an error, and then the error', async () => {
    answer = (socket) => void socket.write(`${chunkedHead}1\r\na\r\n2\r\nbc\r\nno size\r\n`);
    const { body, code } = await send();
    assert.deepEqual([body, code], ['abc', 'INVALID_HTTP_REPLY']);
    await closed(sockets[0]);
  });
});

describe('what comes after a reply', () => {
  for (const [name, head] of [
    ['that has no content', 'HTTP/1.1 204 No Content\r\n\r\n'],
    ['that may have none, and names a length', 'HTTP/1.1 204 No Content\r\ncontent-length: 4\r\n\r\n'],
    ['that is not modified, and names a coding', 'HTTP/1.1 304 Not Modified\r\ntransfer-encoding: chunked\r\n\r\n'],
    ['with chunks', `${chunkedHead}0\r\n\r\n`],
    ['with an empty body', 'HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n'],
  ] as const) {
    for (const surplus of ['evil', '\r\n', '4\r\nevil\r\n0\r\n\r\n', whole.replace('hi', 'ev')]) {
      test(`${name} is not delivered to any call: ${JSON.stringify(surplus)}`, async () => {
        answer = (socket) => void socket.write(head + surplus);
        assert.equal((await send()).body, '');
        answer = (socket) => void socket.write(whole);
        assert.equal((await send()).body, 'hi');
        assert.equal(sockets.length, 2);
      });
    }
  }
});

describe('a connection that the upstream closes', () => {
  for (const [name, close] of [
    ['properly', (socket: Socket) => void socket.end()],
    ['by a reset', (socket: Socket) => void socket.resetAndDestroy()],
  ] as const) {
    test(`${name} when it has received the next request: the call fails and is not sent again`, async () => {
      assert.equal((await send()).body, 'hi');
      let requests = 0;
      answer = (socket) => {
        requests += 1;
        close(socket);
      };
      assert.match((await send()).code ?? '', /^(?:ECONNRESET|CONNECTION_CLOSED)$/);
      assert.deepEqual([requests, sockets.length], [1, 1]);
    });

    test(`${name} while it is idle is not used again`, async () => {
      const clientSide: Socket[] = [];
      const note = (message: unknown): void => void clientSide.push((message as { socket: Socket }).socket);
      subscribe('net.client.socket', note);
      for (let round = 1; round <= 3; round++) {
        assert.equal((await send()).body, 'hi');
        const socket = sockets.at(-1);
        assert.ok(socket);
        close(socket);
        // The client's side must have noticed.
        await closed(clientSide.at(-1));
        assert.deepEqual([sockets.length, clientSide.length], [round, round]);
      }
      unsubscribe('net.client.socket', note);
    });
  }

  for (const [name, hint, keptMs] of [
    ['nothing', '', 4000],
    ['five seconds', 'keep-alive: timeout=5\r\n', 3000],
    ['five seconds among other things', 'Keep-Alive: max=100, Timeout = 5\r\n', 3000],
    ['an hour', 'keep-alive: timeout=3600\r\n', 600_000],
    ['what cannot be read', 'keep-alive: timeout=soon\r\n', 4000],
    ['two things', 'keep-alive: timeout=60\r\nkeep-alive: timeout=2\r\n', 4000],
  ] as const) {
    test(`is closed by the client before: the upstream said ${name}, so after ${keptMs} ms`, async (context) => {
      let nowMs = performance.now();
      const clock = context.mock.method(performance, 'now', () => nowMs);
      answer = (socket) => void socket.write(unhinted.replace('\r\n', `\r\n${hint}`));
      await send();
      nowMs += keptMs - 1;
      await send();
      assert.equal(sockets.length, 1);
      nowMs += keptMs;
      await send();
      assert.equal(sockets.length, 2);
      clock.mock.restore();
    });
  }
});

test('idle connections are bounded after a burst', async () => {
  const waiting: Socket[] = [];
  let arrived = (): void => {};
  answer = (socket) => {
    waiting.push(socket);
    arrived();
  };
  const answers: Promise<Answer>[] = [];
  while (answers.length < 1100) {
    const arrival = new Promise<void>((resolve) => (arrived = resolve));
    answers.push(send());
    await arrival;
  }
  for (const socket of waiting) socket.write(whole);
  assert.ok((await Promise.all(answers)).every(({ body }) => body === 'hi'));
  while (sockets.filter((socket) => !socket.destroyed).length > 1024) await new Promise((resolve) => void setImmediate(resolve));
});

describe('an upload of 30 MB that is answered early', () => {
  const large = Buffer.alloc(30_000_000, 0x61);
  const refusal = 'HTTP/1.1 413 Too Large\r\ncontent-length: 5\r\n\r\nlarge';
  for (const [name, refuse] of [
    ['and read no further', (socket: Socket) => void socket.pause().write(refusal)],
    ['and ended', (socket: Socket) => void socket.pause().end(refusal)],
    ['and reset', (socket: Socket) => void socket.pause().write(refusal, () => socket.resetAndDestroy())],
    ['without a length', (socket: Socket) => void socket.pause().end('HTTP/1.1 413 Too Large\r\n\r\nlarge')],
  ] as const) {
    test(`${name}: the answer arrives, and the rest is not sent`, async () => {
      let received = 0;
      answer = (socket, piece) => {
        received += piece.length;
        answer = (_socket, more) => (received += more.length);
        refuse(socket);
      };
      const { status, body, code } = await send(large);
      assert.deepEqual([status, body, code], [413, 'large', undefined]);
      sockets[0]?.resume();
      await closed(sockets[0]);
      assert.ok(received < large.length, `${received} bytes`);
    });
  }

  test('and read to its end: the connection is kept', async () => {
    let received = 0;
    answer = (socket, piece) => {
      received += piece.length;
      // The head counts too.
      if (received > large.length) socket.write(whole);
    };
    assert.equal((await send(large)).body, 'hi');
    assert.equal((await send()).body, 'hi');
    assert.equal(sockets.length, 1);
  });
});

describe('an aborted call', () => {
  const stages = ['start', 'connecting', 'interim', 'head', 'data', 'data again'] as const;
  for (const stage of stages) {
    test(`receives nothing more, and its connection is closed, at this stage: ${stage}`, async () => {
      answer = (socket) => void socket.write(`HTTP/1.1 103 Early Hints\r\n\r\n${chunkedHead}2\r\nhi\r\n`);
      const heard: string[] = [];
      let pieces = 0;
      const given = Promise.withResolvers<void>();
      const hear = (event: string, controller: UpstreamController): void => {
        heard.push(event);
        if (event !== stage) {
          if (event === 'data') sockets[0]?.write('2\r\nho\r\n0\r\n\r\n');
          return;
        }
        controller.abort(new Error('enough'));
        controller.abort(new Error('twice'));
        controller.pause();
        controller.resume();
        given.resolve();
      };
      client.send(
        { path: '/', method: 'POST', headers: {}, body: Buffer.from('hello') },
        {
          onRequestStart: (controller) => {
            hear('start', controller);
            if (stage === 'connecting') setImmediate(() => hear('connecting', controller));
          },
          onResponseStart: (controller, status) => hear(status < 200 ? 'interim' : 'head', controller),
          onResponseData: (controller) => hear(pieces++ === 0 ? 'data' : 'data again', controller),
          onResponseEnd: (controller) => hear('end', controller),
          onResponseError: (controller) => hear('error', controller),
        },
      );
      await given.promise;
      answer = (socket) => void socket.write(whole);
      assert.equal((await send()).body, 'hi', 'the next call has its own connection');
      if (sockets.length > 1) await closed(sockets[0]);
      assert.equal(heard.at(-1), stage);
    });
  }
});

describe('a connection that is not established', () => {
  test('in time fails with its own code, also during TLS', async () => {
    answer = () => {};
    const secure = open(`https://127.0.0.1:${(server.address() as AddressInfo).port}`, 1500);
    assert.equal((await send(undefined, secure)).code, 'CONNECT_TIMEOUT');
    await secure.close();
  });

  test('because the server does not speak TLS fails at once', async () => {
    answer = (socket) => void socket.write('HTTP/1.1 400 Bad Request\r\n\r\n');
    const secure = open(`https://127.0.0.1:${(server.address() as AddressInfo).port}`);
    assert.match((await send(undefined, secure)).code ?? '', /SSL|EPROTO/);
    await secure.close();
  });
});

test('a head in tiny pieces is read, and a head that is not HTTP fails at once', async () => {
  const drip = (socket: Socket, at: number): void => {
    if (at === whole.length) return;
    socket.write(whole.charAt(at));
    setImmediate(() => drip(socket, at + 1));
  };
  answer = (socket) => drip(socket, 0);
  assert.equal((await send()).body, 'hi');
  answer = (socket) => void socket.write('220 mail.example ESMTP\r\n');
  assert.equal((await send()).code, 'INVALID_HTTP_REPLY');
});

test('an upstream with an IPv6 address is reached, and `host` has brackets', async (context) => {
  let received = '';
  const six = createServer((socket) => {
    sockets.push(socket);
    socket.on('data', (piece: Buffer) => {
      received += piece.toString();
      socket.write(whole);
    });
  });
  const listening = await new Promise<boolean>((resolve) => {
    six.once('error', () => resolve(false));
    six.listen(0, '::1', () => resolve(true));
  });
  if (!listening) return context.skip('this machine has no IPv6');
  const { port } = six.address() as AddressInfo;
  const through = open(`http://[::1]:${port}`);
  assert.equal((await send(undefined, through)).body, 'hi');
  assert.ok(received.includes(`\r\nhost: [::1]:${port}\r\n`));
  await through.close();
  six.close();
});

test('an upstream with several addresses is reached at the address that answers', async (context) => {
  const addresses = [
    { address: '::1', family: 6 },
    { address: '127.0.0.1', family: 4 },
  ];
  const lookup = (_name: string, _options: object, told: (error: null, found: typeof addresses) => void): void => told(null, addresses);
  context.mock.method(dns, 'lookup', lookup);
  const through = open(`http://upstream.example:${(server.address() as AddressInfo).port}`);
  for (let round = 0; round < 2; round++) assert.equal((await send(undefined, through)).body, 'hi');
  assert.equal(sockets.length, 1);
  await through.close();
});

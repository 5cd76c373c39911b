import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type AddressInfo, connect, createServer as createTcpServer, type Socket } from 'node:net';
import { after, before, test } from 'node:test';
import { createServer, getCACertificates, type Server, setDefaultCACertificates, type TLSSocket } from 'node:tls';

import { cert, key } from './testing/fake-certificate.ts';
import { createUpstreamClient, type UpstreamClient } from './upstream-client.ts';

let server: Server;
let port: number;
let received = '';
before(async () => {
  server = createServer({ key, cert, ALPNProtocols: ['http/1.1'] }, (socket) => {
    socket.on('error', () => socket.destroy());
    socket.on('data', (chunk: Buffer) => {
      received += chunk.toString();
      if (received.endsWith('hello'))
        socket.write(`HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n${String(socket.alpnProtocol) === 'http/1.1' ? 'ok' : 'no'}`);
    });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  port = (server.address() as AddressInfo).port;
});
after(() => void server.close());

type Told = { readonly body: string; readonly code: string | undefined };

const open = (host: string, to = port): UpstreamClient =>
  createUpstreamClient({ origin: `https://${host}:${to}`, connectTimeoutMs: 30_000, headerBytesMax: 8192 });

function send(client: UpstreamClient): Promise<Told> {
  const { promise, resolve } = Promise.withResolvers<Told>();
  const pieces: Buffer[] = [];
  const settle = (code?: string): void => resolve({ body: Buffer.concat(pieces).toString('latin1'), code });
  client.send(
    { path: '/', method: 'POST', headers: { authorization: 'Bearer secret' }, body: Buffer.from('hello') },
    {
      onRequestStart: () => {},
      onResponseStart: () => {},
      onResponseData: (_controller, piece) => void pieces.push(piece),
      onResponseEnd: () => settle(),
      onResponseError: (_controller, error) => settle((error as NodeJS.ErrnoException).code),
    },
  );
  return promise;
}

async function ask(host: string): Promise<Told> {
  const client = open(host);
  const told = await send(client);
  await client.close();
  return told;
}

/** Runs a step while the test certificate is trusted. */
async function trusting(step: () => Promise<void>): Promise<void> {
  const usual = getCACertificates('default');
  setDefaultCACertificates([...usual, cert]);
  try {
    await step();
  } finally {
    setDefaultCACertificates(usual);
  }
}

test('nothing is sent to a server that cannot prove its identity', async () => {
  assert.equal((await ask('localhost')).code, 'DEPTH_ZERO_SELF_SIGNED_CERT');
  assert.equal(received, '');
});

test('a trusted server gets the request, and one with another name never does', () =>
  trusting(async () => {
    const client = open('127.0.0.1');
    for (let round = 0; round < 3; round++) assert.equal((await send(client)).code, 'ERR_TLS_CERT_ALTNAME_INVALID');
    await client.close();
    assert.equal(received, '');
    assert.deepEqual(await ask('localhost'), { body: 'ok', code: undefined });
    assert.match(received, /authorization: Bearer secret/);
  }));

/** A TLS server behind a relay that a test can cut. */
async function behindWire(
  answer: (socket: TLSSocket) => void,
  step: (client: UpstreamClient, wire: { cutNext: boolean; cut: () => void }) => Promise<void>,
) {
  const secure = createServer({ key, cert }, (socket) => {
    socket.on('error', () => socket.destroy());
    socket.once('data', () => answer(socket));
  }).listen(0, '127.0.0.1');
  await once(secure, 'listening');
  const sides: Socket[] = [];
  const wire = {
    cutNext: false,
    cut: () => {
      for (const side of sides.splice(0)) side.destroy();
    },
  };
  const front = createTcpServer((near) => {
    near.on('error', () => near.destroy());
    if (wire.cutNext) {
      wire.cutNext = false;
      near.once('data', () => near.destroy());
      return;
    }
    const far = connect((secure.address() as AddressInfo).port, '127.0.0.1');
    far.on('error', () => near.destroy());
    sides.push(near, far);
    near.pipe(far).pipe(near);
  }).listen(0, '127.0.0.1');
  await once(front, 'listening');
  const client = open('localhost', (front.address() as AddressInfo).port);
  try {
    await trusting(() => step(client, wire));
  } finally {
    wire.cut();
    front.close();
    secure.close();
    await client.close();
  }
}

const reply = 'HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-length: 2\r\n\r\nhi';

test('a session is reused, and forgotten when a connection with it fails', async () => {
  const reused: boolean[] = [];
  const answer = (socket: TLSSocket): void => {
    reused.push(socket.isSessionReused());
    socket.end(reply);
  };
  await behindWire(answer, async (client, wire) => {
    for (let round = 0; round < 2; round++) assert.equal((await send(client)).body, 'hi');
    wire.cutNext = true;
    assert.equal((await send(client)).code, 'CONNECTION_CLOSED');
    assert.equal((await send(client)).body, 'hi');
  });
  assert.deepEqual(reused, [false, true, false]);
});

test('a connection that is cut without a TLS close does not end a reply with a length', () =>
  behindWire(
    (socket) => void socket.write('HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nhi', () => socket.destroy()),
    async (client, wire) => {
      const { body, code } = await send(client);
      wire.cut();
      assert.deepEqual([body, code], ['hi', 'CONNECTION_CLOSED']);
    },
  ));

test('concurrent large replies do not mix', async () => {
  const letters = ['a', 'b', 'c', 'd'];
  let calls = 0;
  const answer = (socket: TLSSocket): void => {
    const body = (letters[calls++] ?? '').repeat(1_000_000);
    socket.write(`HTTP/1.1 200 OK\r\ncontent-length: ${body.length}\r\n\r\n${body}`);
  };
  await behindWire(answer, async (client) => {
    const told = await Promise.all(letters.map(() => send(client)));
    assert.deepEqual(
      told.map(({ body }) => body.length),
      letters.map(() => 1_000_000),
    );
    assert.deepEqual(told.map(({ body }) => [...new Set(body)].join('')).toSorted(), letters);
  });
});

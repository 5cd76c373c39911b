import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type AddressInfo, createServer as createTcpServer, type Socket } from 'node:net';
import { test, type TestContext } from 'node:test';
import { gzipSync } from 'node:zlib';

import { serveMedia } from './testing/fake-media-server.ts';
import { openGuarded, type OpenGuardedOptions } from './open-guarded.ts';

const { signal } = new AbortController();
const options: OpenGuardedOptions = {
  firstByteMs: 20_000,
  idleMs: 20_000,
  totalMs: 30_000,
  signal,
  allowPrivateAddresses: true,
  lookUp: async () => [{ address: '127.0.0.1', family: 4 }],
};

/** A server that answers any request with these bytes, and then calls `then`. */
async function serveRaw(context: TestContext, bytes: string, then: (socket: Socket) => void) {
  const sockets: Socket[] = [];
  const server = createTcpServer((socket) => {
    sockets.push(socket);
    socket.on('error', () => undefined);
    socket.once('data', () => socket.write(bytes, () => then(socket)));
  });
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  context.after(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return { sockets, url: `http://media.example:${(server.address() as AddressInfo).port}/` };
}

async function collect(content: AsyncIterable<Uint8Array>): Promise<Buffer> {
  const pieces: Uint8Array[] = [];
  for await (const piece of content) pieces.push(piece);
  return Buffer.concat(pieces);
}

test('a file streams with its type and length, and the credential is sent', async (context) => {
  const film = Buffer.alloc(3_000_000, 5);
  const { at, seen } = await serveMedia(context, (_request, response) => {
    response.writeHead(200, { 'content-type': 'Video/MP4; codecs="avc1"', 'content-length': film.length }).end(film);
  });
  const { mediaType, bytes, content } = await openGuarded(at(), { ...options, headers: { authorization: 'Bearer secret' } });
  assert.equal(mediaType, 'video/mp4');
  assert.equal(bytes, film.length);
  assert.ok(film.equals(await collect(content)));
  assert.equal(seen[0]?.headers['authorization'], 'Bearer secret');
  assert.equal(seen[0]?.headers['accept-encoding'], 'identity');
});

test('a file without a declared length has no length', async (context) => {
  const { at } = await serveMedia(context, (_request, response) => {
    response.writeHead(200);
    response.write('abc');
    response.end('def');
  });
  const { mediaType, bytes, content } = await openGuarded(at(), options);
  assert.deepEqual([mediaType, bytes], [undefined, undefined]);
  assert.equal((await collect(content)).toString(), 'abcdef');
});

test('a credential is sent to its origin only: not after a redirect to another host, nor on the way back', async (context) => {
  const { at, seen } = await serveMedia(context, (request, response) => {
    const steps: Record<string, string> = { '/1': at('/2'), '/2': at('/3', 'other.example'), '/3': at('/4') };
    const location = steps[request.url ?? ''];
    if (location === undefined) response.end('film');
    else response.writeHead(302, { location }).end();
  });
  const { content } = await openGuarded(at('/1'), { ...options, headers: { authorization: 'Bearer secret', 'x-key': 'secret' } });
  await collect(content);
  assert.deepEqual(
    seen.map(({ headers }) => [headers['authorization'], headers['x-key']]),
    [
      ['Bearer secret', 'secret'],
      ['Bearer secret', 'secret'],
      [undefined, undefined],
      [undefined, undefined],
    ],
  );
});

const privatePlaces =
  '127.0.0.1 169.254.169.254 [::1] 2130706433 0x7f.1 0177.0.0.1 [::ffff:127.0.0.1] 10.0.0.1 localhost [fd00:ec2::254] [64:ff9b::a9fe:a9fe] 0'.split(
    ' ',
  );
for (const host of privatePlaces) {
  test(`a server that the operator trusts cannot redirect to ${host}`, async (context) => {
    const { at, seen } = await serveMedia(context, (_request, response) => {
      response.writeHead(302, { location: `https://${host}/latest/meta-data` }).end();
    });
    const trusted = { ...options, allowPrivateAddresses: false, isTrusted: ({ hostname }: URL) => hostname === 'media.example' };
    await assert.rejects(openGuarded(at(), trusted), { name: 'FetchMediaError', problem: 'forbidden-host' });
    assert.equal(seen.length, 1);
  });
}

test('http, other ports, credentials and other schemes are refused, in the URL and in redirects', async (context) => {
  const wrong = [
    'http://films.example/',
    'https://films.example:8443/',
    'https://user:password@films.example/',
    'file:///etc/passwd',
    'ftp://films.example/',
    'data:video/mp4;base64,AAAA',
    'films.example',
  ];
  const strict = { ...options, allowPrivateAddresses: false, isTrusted: ({ hostname }: URL) => hostname === 'media.example' };
  for (const location of wrong) {
    await assert.rejects(openGuarded(location, strict), { problem: 'invalid-url' }, location);
    if (location === 'films.example') continue;
    const { at } = await serveMedia(context, (_request, response) => void response.writeHead(301, { location }).end());
    await assert.rejects(openGuarded(at(), strict), { problem: 'invalid-url' }, location);
  }
});

test('a name that becomes private after the check is still connected to at its checked address', async () => {
  let asked = 0;
  const lookUp = async () => {
    asked += 1;
    return [{ address: asked === 1 ? '192.88.98.1' : '127.0.0.1', family: 4 }];
  };
  await assert.rejects(
    openGuarded('https://films.example/', { ...options, allowPrivateAddresses: false, lookUp, firstByteMs: 300 }),
    (error) => error instanceof Error && 'problem' in error && ['timeout', 'unreachable'].includes(String(error.problem)),
  );
  assert.equal(asked, 1);
});

const answers: readonly [what: string, bytes: string, then: (socket: Socket) => void, problem: string][] = [
  ['is shorter than it says', 'HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\nabc', (socket) => socket.end(), 'unreachable'],
  ['is reset', 'HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\nabc', (socket) => socket.resetAndDestroy(), 'unreachable'],
  ['ends within a chunk', 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n10\r\nabc', (socket) => socket.end(), 'unreachable'],
  [
    'ends without its last chunk',
    'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n3\r\nabc\r\n',
    (socket) => socket.end(),
    'unreachable',
  ],
  ['falls silent', 'HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\nabc', () => undefined, 'timeout'],
  ['has headers without end', `HTTP/1.1 200 OK\r\nx: ${'y'.repeat(40_000)}\r\n`, () => undefined, 'unreachable'],
  ['never begins', 'HTTP/1.1 200 OK\r\n', () => undefined, 'timeout'],
  ['is no HTTP', 'SSH-2.0-OpenSSH_9.6\r\n', () => undefined, 'unreachable'],
  ['has two lengths', 'HTTP/1.1 200 OK\r\ncontent-length: 3\r\ncontent-length: 4\r\n\r\nabcd', () => undefined, 'unreachable'],
  ['is not there', 'HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\n\r\n', () => undefined, 'refused'],
  ['is a part', 'HTTP/1.1 206 Partial Content\r\ncontent-length: 3\r\n\r\nabc', () => undefined, 'refused'],
];
for (const [what, bytes, then, problem] of answers) {
  test(`an answer that ${what} fails, and its connection is closed`, async (context) => {
    const { url, sockets } = await serveRaw(context, bytes, then);
    const limits = problem === 'timeout' ? { firstByteMs: 300, idleMs: 300 } : {};
    await assert.rejects(async () => collect((await openGuarded(url, { ...options, ...limits })).content), { problem });
    // A reset counts as a close.
    for (const socket of sockets) if (!socket.closed) await new Promise((resolve) => void socket.once('close', resolve));
  });
}

test('content beyond the declared length is not read', async (context) => {
  const { url } = await serveRaw(context, 'HTTP/1.1 200 OK\r\ncontent-length: 3\r\n\r\nabcdefgh', () => undefined);
  assert.equal((await collect((await openGuarded(url, options)).content)).toString(), 'abc');
});

for (const encoding of ['gzip', 'br', 'x-unknown']) {
  test(`content in ${encoding}, which was not requested, is refused`, async (context) => {
    const { at } = await serveMedia(context, (_request, response) => {
      response.writeHead(200, { 'content-encoding': encoding }).end(gzipSync(Buffer.alloc(1_000_000)));
    });
    await assert.rejects(openGuarded(at(), options), { problem: 'wrong-type' });
  });
}

test('a slow server is stopped by the limit for the whole file', async (context) => {
  const { url } = await serveRaw(context, 'HTTP/1.1 200 OK\r\ncontent-length: 100000\r\n\r\n', (socket) => {
    const drip = setInterval(() => void socket.write('x'), 20);
    socket.once('close', () => clearInterval(drip));
  });
  await assert.rejects(async () => collect((await openGuarded(url, { ...options, totalMs: 1500 })).content), { problem: 'timeout' });
});

test('a slow reader is not mistaken for a silent server', async (context) => {
  const film = Buffer.alloc(2_000_000, 1);
  const { at } = await serveMedia(context, (_request, response) => void response.end(film));
  context.mock.timers.enable({ apis: ['setTimeout'] });
  const { content } = await openGuarded(at(), options);
  let length = 0;
  for await (const piece of content) {
    if (length === 0) context.mock.timers.tick(options.idleMs + 1000);
    length += piece.length;
  }
  assert.equal(length, film.length);
});

test('the connection of a file that is abandoned, never read, or aborted is closed', async (context) => {
  const closed: Promise<unknown>[] = [];
  const { at } = await serveMedia(context, (_request, response) => {
    closed.push(once(response, 'close', { signal: AbortSignal.timeout(20_000) }));
    response.write(Buffer.alloc(100_000));
  });
  for await (const piece of (await openGuarded(at(), options)).content) {
    assert.ok(piece.length > 0);
    break;
  }
  await (await openGuarded(at(), options)).content[Symbol.asyncIterator]().return?.();
  const abort = new AbortController();
  const { content } = await openGuarded(at(), { ...options, signal: abort.signal });
  abort.abort(new Error('not wanted'));
  await assert.rejects(collect(content), /not wanted/);
  context.mock.timers.enable({ apis: ['setTimeout'] });
  await openGuarded(at(), { ...options, totalMs: 2000 });
  context.mock.timers.tick(2000);
  await Promise.all(closed);
  assert.equal(closed.length, 4);
  await assert.rejects(openGuarded(at(), { ...options, signal: AbortSignal.abort(new Error('too late')) }), /too late/);
});

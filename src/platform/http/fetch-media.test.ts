import assert from 'node:assert/strict';
import type { RequestListener } from 'node:http';
import { createServer as createTcpServer } from 'node:net';
import { Readable } from 'node:stream';
import { test } from 'node:test';
import { gzipSync } from 'node:zlib';

import { serveMedia } from './testing/fake-media-server.ts';
import { fetchGuarded } from './fetch-guarded.ts';
import type { LookUpHost } from './fetch-guarded.ts';
import { fetchMedia } from './fetch-media.ts';
import type { FetchMediaOptions } from './fetch-media.ts';

const png = Buffer.concat([Buffer.from('89504e470d0a1a0a', 'hex'), Buffer.alloc(1000, 7)]);

/** Every name leads to this machine. */
const toLoopback: LookUpHost = async () => [{ address: '127.0.0.1', family: 4 }];
const neverAborted = new AbortController().signal;

const options: FetchMediaOptions = {
  bytesMax: 100_000,
  timeoutMs: 30_000,
  signal: neverAborted,
  allowPrivateAddresses: true,
  lookup: toLoopback,
};

const givePng: RequestListener = (_request, response) => void response.writeHead(200, { 'content-type': 'image/png' }).end(png);

test('a file is fetched whole with its type, and the request reveals nothing about the gateway', async (context) => {
  const { at, seen, port } = await serveMedia(context, givePng);
  assert.deepEqual(await fetchMedia(at('/a%20b/c.png?x=%2F#part'), options), { mediaType: 'image/png', bytes: png });
  const { host, ...headers } = seen[0]?.headers ?? {};
  assert.equal(host, `media.example:${port}`);
  assert.equal(seen[0]?.url, '/a%20b/c.png?x=%2F');
  assert.deepEqual(Object.keys(headers).toSorted(), ['accept', 'accept-encoding', 'connection', 'user-agent']);
  assert.equal(headers['accept-encoding'], 'identity');
});

test('rebinding: a name is looked up once per hop, and the connection goes to the checked address', async (context) => {
  const { at } = await serveMedia(context, (request, response) => {
    if (request.url === '/moved') response.writeHead(302, { location: at('/', 'other.example') }).end('see there');
    else givePng(request, response);
  });
  const asked: string[] = [];
  const lookup: LookUpHost = async (hostname) => {
    asked.push(hostname);
    // A second look-up would return an address where no server listens.
    return [{ address: asked.filter((name) => name === hostname).length === 1 ? '127.0.0.1' : '127.0.0.9', family: 4 }];
  };
  await fetchMedia(at('/moved'), { ...options, lookup });
  assert.deepEqual(asked, ['media.example', 'other.example']);
});

test('a host with a private address is refused without a connection, with the message for an unknown host', async (context) => {
  let connections = 0;
  const server = createTcpServer((socket) => {
    connections += 1;
    socket.destroy();
  });
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  context.after(() => server.close());
  const lookups: readonly LookUpHost[] = [
    toLoopback,
    async () => [
      { address: '93.184.215.14', family: 4 },
      { address: '10.0.0.1', family: 4 },
    ],
    async () => [{ address: '::ffff:127.0.0.1', family: 6 }],
    async () => [],
    async () => Promise.reject(new Error('getaddrinfo ENOTFOUND internal.corp')),
  ];
  for (const lookup of lookups) {
    await assert.rejects(fetchMedia('https://media.example/a.png', { ...options, allowPrivateAddresses: false, lookup }), {
      name: 'FetchMediaError',
      problem: 'forbidden-host',
      message: "the URL's host has no public internet address",
    });
  }
  assert.equal(connections, 0);
});

test('hosts that are addresses are checked in every spelling, without being looked up', async () => {
  const lookup: LookUpHost = async () => assert.fail('an address needs no look-up');
  const hosts = [
    '127.0.0.1 127.1 2130706433 0x7f000001 0177.0.0.1 ①②⑦.0.0.1 0 169.254.169.254 10.0.0.1 192.168.1.1',
    '[::1] [::] [::ffff:127.0.0.1] [::ffff:a00:1] [64:ff9b::7f00:1] [2002:7f00:1::] [fd00::1] [fe80::1]',
  ].flatMap((line) => line.split(' '));
  for (const host of hosts) {
    await assert.rejects(
      fetchMedia(`https://${host}/latest/meta-data`, { ...options, allowPrivateAddresses: false, lookup }),
      { problem: 'forbidden-host' },
      host,
    );
  }
});

test('URLs that are never fetched are refused before any look-up', async () => {
  const lookup: LookUpHost = async () => assert.fail('nothing is looked up');
  const cases: readonly (readonly [string, RegExp])[] = [
    ['http://media.example/a.png', /must begin with https/],
    ['ftp://media.example/a.png', /must begin with https/],
    ['file:///etc/passwd', /must begin with https/],
    ['data:image/png;base64,AAAA', /must begin with https/],
    ['https://user:secret@media.example/', /must not hold a user name/],
    ['https://media.example@127.0.0.1/', /must not hold a user name/],
    ['https:\\\\127.0.0.1\\@media.example/', /must not hold a user name|no public/],
    ['https://media.example:8443/', /must not name a port/],
    ['https://media.example:22/', /must not name a port/],
    ['not a url', /is not valid/],
    ['', /is not valid/],
    [`https://media.example/${'x'.repeat(9000)}`, /longer than 8192/],
  ];
  for (const [url, message] of cases) {
    await assert.rejects(
      fetchMedia(url, { ...options, allowPrivateAddresses: false, lookup }),
      (error: Error) => error.name === 'FetchMediaError' && message.test(error.message) && !error.message.includes('secret'),
      url,
    );
  }
});

test('redirects: three are followed, the fourth is refused, and each is checked like the first', async (context) => {
  const { at, seen } = await serveMedia(context, (request, response) => {
    const left = Number(request.url?.slice(1));
    const to: Record<string, string> = { '/login': 'http://u:p@media.example/', '/ftp': 'ftp://media.example/', '/bad': 'http://[' };
    const location = to[request.url ?? ''] ?? (left > 0 ? `/${left - 1}` : undefined);
    if (location === undefined) givePng(request, response);
    else response.writeHead(307, { location, 'set-cookie': 'a=b' }).end('x'.repeat(200_000));
  });
  assert.equal((await fetchMedia(at('/3'), options)).mediaType, 'image/png');
  assert.ok(seen.every(({ headers }) => headers.cookie === undefined && headers.referer === undefined));
  await assert.rejects(fetchMedia(at('/4'), options), { problem: 'refused', message: /more than 3 times/ });
  for (const path of ['/login', '/ftp', '/bad']) {
    await assert.rejects(fetchMedia(at(path), options), { problem: 'invalid-url', message: /that it redirects to/ }, path);
  }
});

test('a redirect to a forbidden host is refused', async (context) => {
  const inside = await serveMedia(context, givePng);
  const outside = await serveMedia(
    context,
    (_request, response) => void response.writeHead(301, { location: inside.at('/', 'inside') }).end(),
  );
  const guarded = {
    lookUp: async (hostname: string) => [{ address: hostname === 'inside' ? '127.0.0.2' : '127.0.0.1', family: 4 }],
    isAllowed: (address: string) => address === '127.0.0.1',
    allowAnyServer: true,
    headers: {},
    timeoutMs: 30_000,
    signal: neverAborted,
  };
  await assert.rejects(
    fetchGuarded(outside.at(), guarded, () => assert.fail('nothing is read')),
    { problem: 'forbidden-host' },
  );
  assert.equal(inside.seen.length, 0);
});

test('too-large: a file is refused by its declared length, or as soon as too many bytes arrive', async (context) => {
  let sent = 0;
  const { at } = await serveMedia(context, (request, response) => {
    if (request.url === '/declared') response.writeHead(200, { 'content-type': 'image/png', 'content-length': 100_001 }).write(png);
    else {
      response.writeHead(200, { 'content-type': 'image/png' });
      const endless = new Readable({
        read() {
          sent += 65_536;
          this.push(Buffer.alloc(65_536));
        },
      });
      endless.pipe(response);
      response.once('close', () => endless.destroy());
    }
  });
  for (const path of ['/declared', '/endless']) {
    await assert.rejects(fetchMedia(at(path), options), { problem: 'too-large', message: /larger than 100000 bytes/ }, path);
  }
  assert.ok(sent < 50_000_000);
  const whole = await serveMedia(context, givePng);
  assert.equal((await fetchMedia(whole.at(), { ...options, bytesMax: png.length })).bytes.length, png.length);
  await assert.rejects(fetchMedia(whole.at(), { ...options, bytesMax: png.length - 1 }), { problem: 'too-large' });
});

test('answers without a file for a model are refused with the reason', async (context) => {
  const answers: Record<string, { status?: number; headers?: Record<string, string>; body?: Buffer; problem: string; message: RegExp }> = {
    '/404': { status: 404, problem: 'refused', message: /status 404/ },
    '/206': { status: 206, headers: { 'content-type': 'image/png' }, body: png, problem: 'refused', message: /status 206/ },
    '/302': { status: 302, problem: 'refused', message: /status 302/ },
    '/html': { headers: { 'content-type': 'text/html' }, body: Buffer.from('<html>'), problem: 'wrong-type', message: /neither an image/ },
    '/fake': {
      headers: { 'content-type': 'image/png' },
      body: Buffer.from('<html>'),
      problem: 'wrong-type',
      message: /image\/png and is none/,
    },
    '/binary': {
      headers: { 'content-type': 'application/octet-stream' },
      body: Buffer.from('PK'),
      problem: 'wrong-type',
      message: /neither/,
    },
    '/empty': { headers: { 'content-type': 'image/png' }, problem: 'wrong-type', message: /is empty/ },
    '/gzip': {
      headers: { 'content-type': 'image/png', 'content-encoding': 'gzip' },
      body: gzipSync(png),
      problem: 'wrong-type',
      message: /compressed/,
    },
  };
  const { at } = await serveMedia(context, (request, response) => {
    const { status = 200, headers = {}, body } = answers[request.url ?? ''] ?? assert.fail();
    response.writeHead(status, headers).end(body);
  });
  for (const [path, { problem, message }] of Object.entries(answers)) {
    await assert.rejects(fetchMedia(at(path), options), { problem, message }, path);
  }
});

test('a server that lies about the length, disconnects or does not exist is unreachable, without details', async (context) => {
  const { at } = await serveMedia(context, (request, response) => {
    if (request.url === '/cut') {
      response.writeHead(200, { 'content-type': 'image/png', 'content-length': 5000 }).write(png, () => response.destroy());
    } else if (request.url === '/headers') response.writeHead(200, { 'x-wide': 'x'.repeat(20_000) }).end();
    else request.destroy();
  });
  // No server listens at port 1. A port that was free a moment ago may be in use by now.
  for (const url of [at('/cut'), at('/headers'), at('/reset'), 'http://media.example:1/']) {
    await assert.rejects(fetchMedia(url, options), { problem: 'unreachable', message: "the URL's server cannot be reached" }, url);
  }
});

test('the time limit covers names, connections, headers and bodies', async (context) => {
  const { at } = await serveMedia(context, (request, response) => {
    if (request.url === '/trickle') {
      response.writeHead(200, { 'content-type': 'image/png' });
      const timer = setInterval(() => response.write('x'), 5);
      response.once('close', () => clearInterval(timer));
    }
  });
  const hasty = { ...options, timeoutMs: 60 };
  const expected = { problem: 'timeout', message: /did not arrive within 0\.06 seconds/ };
  await assert.rejects(fetchMedia(at('/silent'), hasty), expected);
  await assert.rejects(fetchMedia(at('/trickle'), hasty), expected);
  await assert.rejects(fetchMedia(at(), { ...hasty, lookup: () => new Promise(() => {}) }), expected);
});

test('a caller that aborts ends the fetch with its reason', async (context) => {
  const asked = Promise.withResolvers<void>();
  const { at } = await serveMedia(context, () => asked.resolve());
  const controller = new AbortController();
  const fetching = fetchMedia(at('/silent'), { ...options, signal: controller.signal });
  await asked.promise;
  controller.abort(new Error('gone'));
  await assert.rejects(fetching, { message: 'gone' });
  await assert.rejects(fetchMedia(at(), { ...options, signal: controller.signal }), { message: 'gone' });
});

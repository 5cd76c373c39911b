import assert from 'node:assert/strict';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { test, type TestContext } from 'node:test';
import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib';

import type { LookUpHost } from '../platform/http/fetch-guarded.ts';
import type { ThreadReport } from '../platform/isolation/isolated-job.ts';
import { createPageReader, type PageReader, type PageReaderOptions } from './page-reader.ts';
import { createOriginFilter } from './trusted-origins.ts';

const html = '<title>Lamp</title><body><p>The lamp of the lighthouse turns once in ten seconds.</p></body>';
const everywhere = (): boolean => true;
const signal = new AbortController().signal;
const options = { tenant: 'user', signal, isWanted: everywhere };

function open(context: TestContext, changes: Partial<PageReaderOptions> = {}): PageReader {
  const reader = createPageReader({
    timeoutMs: 30_000,
    bytesMax: 200_000,
    trustedOrigins: [],
    extraction: { pageTimeoutMs: 60_000 },
    ...changes,
  });
  context.after(() => reader.close());
  return reader;
}

async function serve(context: TestContext, listener: RequestListener): Promise<{ readonly port: number; readonly origin: string }> {
  const server = createServer(listener);
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  context.after(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  return { port, origin: `http://site.localhost:${port}` };
}

/** Resolves when the next thread has sent the quick reading of a page. */
const whenDrafted = (): Promise<void> =>
  new Promise((resolve) => {
    const hear = ({ type }: ThreadReport): void => (type === 'ask' ? resolve() : undefined);
    process.once('worker', (worker) => worker.on('message', hear));
  });

const give: RequestListener = (_request, response) => void response.writeHead(200, { 'content-type': 'text/html' }).end(html);

test('ssrf: addresses outside the public internet are refused in every spelling, over http and https', async (context) => {
  const reader = open(context, { lookUp: async () => assert.fail('an address needs no look-up') });
  const hosts = (
    '127.0.0.1 127.1 2130706433 0x7f.1 0x7f000001 0177.0.0.1 017700000001 ①②⑦.0.0.1 0 0.0.0.0 169.254.169.254 169.254.170.2 100.100.100.200 168.63.129.16 ' +
    '10.0.0.1 172.16.0.1 192.168.1.1 192.0.0.192 198.18.0.1 224.0.0.1 255.255.255.255 ' +
    '[::1] [::] [::ffff:127.0.0.1] [::ffff:a00:1] [::127.0.0.1] [64:ff9b::7f00:1] [64:ff9b:1::1] [2002:7f00:1::] [fd00:ec2::254] [fe80::1] [ff02::1] [2001:db8::1]'
  ).split(' ');
  for (const host of hosts) {
    for (const scheme of ['http', 'https']) {
      await assert.rejects(
        reader.read(`${scheme}://${host}/latest/meta-data/`, options),
        { problem: 'forbidden-host' },
        `${scheme} ${host}`,
      );
    }
  }
});

test('ssrf: names that resolve to private addresses are refused with the message for unknown names', async (context) => {
  const lookUps: readonly LookUpHost[] = [
    async () => [{ address: '127.0.0.1', family: 4 }],
    async () => [{ address: '169.254.169.254', family: 4 }],
    async () => [
      { address: '93.184.215.14', family: 4 },
      { address: '10.0.0.1', family: 4 },
    ],
    async () => [{ address: '::ffff:10.0.0.1', family: 6 }],
    async () => Promise.reject(new Error('ENOTFOUND internal.corp')),
    async () => [],
  ];
  for (const lookUp of lookUps) {
    const reader = open(context, { lookUp });
    await assert.rejects(reader.read('http://metadata.example/', options), {
      problem: 'forbidden-host',
      message: "the URL's host has no public internet address",
    });
  }
  // As the system resolves them.
  const reader = open(context);
  for (const host of ['localhost', 'a.localhost'])
    await assert.rejects(reader.read(`http://${host}/`, options), { problem: 'forbidden-host' }, host);
});

test('ssrf: schemes, ports, credentials and lengths that the web does not use are refused before the name is looked up', async (context) => {
  const reader = open(context, { lookUp: async () => assert.fail('nothing is looked up') });
  const addresses = [
    'file:///etc/passwd',
    'ftp://site.example/',
    'gopher://site.example/',
    'data:text/html,x',
    'http://site.example:22/',
    'https://site.example:8443/',
    'http://user:secret@site.example/',
    'javascript:1',
    '//site.example',
    '',
    'http://',
    `https://site.example/${'x'.repeat(9000)}`,
  ];
  for (const address of addresses) await assert.rejects(reader.read(address, options), { problem: 'invalid-url' }, address);
});

test('ssrf: a trusted server cannot redirect to an untrusted one, and a name is looked up once per hop', async (context) => {
  const { port, origin } = await serve(context, (request, response) => {
    const to: Record<string, string> = {
      '/literal': 'http://169.254.169.254/latest/',
      '/port': `http://127.0.0.1:${port}/`,
      '/name': 'http://inside.example/',
      '/file': 'file:///etc/passwd',
      '/moved': `http://other.site.localhost:${port}/page`,
    };
    const location = to[request.url ?? ''];
    if (location === undefined) give(request, response);
    else response.writeHead(302, { location }).end();
  });
  const lookedUp: string[] = [];
  const lookUp: LookUpHost = async (hostname) => {
    lookedUp.push(hostname);
    // A second look-up of the same name would return an unused address.
    return [{ address: lookedUp.filter((name) => name === hostname).length > 1 ? '127.0.0.9' : '127.0.0.1', family: 4 }];
  };
  const reader = open(context, { trustedOrigins: [`http://*.site.localhost:${port}`, origin], lookUp });
  assert.equal((await reader.read(`${origin}/moved`, options)).url, `http://other.site.localhost:${port}/page`);
  assert.deepEqual(lookedUp, ['site.localhost', 'other.site.localhost']);
  const problems = { '/literal': 'forbidden-host', '/port': 'invalid-url', '/name': 'forbidden-host', '/file': 'invalid-url' };
  for (const [path, problem] of Object.entries(problems)) {
    const fresh = open(context, { trustedOrigins: [origin], lookUp: async () => [{ address: '127.0.0.1', family: 4 }] });
    await assert.rejects(fresh.read(origin + path, options), { problem }, path);
  }
});

test('the first address and every redirect are checked before they are fetched', async (context) => {
  const { port, origin } = await serve(context, (request, response) => {
    if (request.url === '/moved') response.writeHead(301, { location: `http://blocked.localhost:${port}/` }).end();
    else give(request, response);
  });
  const reader = open(context, { trustedOrigins: [`http://*.localhost:${port}`] });
  const isWanted = (url: URL): boolean => url.hostname === 'site.localhost';
  assert.equal((await reader.read(origin, { tenant: 'user', signal, isWanted })).title, 'Lamp');
  await assert.rejects(reader.read(`${origin}/moved`, { tenant: 'user', signal, isWanted }), { problem: 'unwanted' });
  await assert.rejects(reader.read(`http://blocked.localhost:${port}/`, { tenant: 'user', signal, isWanted }), { problem: 'unwanted' });
});

test('a trusted origin matches by scheme, host and port, and by subdomain only if it names subdomains', () => {
  const isTrusted = createOriginFilter(['http://wiki.example:8080', 'https://*.corp.example', 'not an origin']);
  for (const address of ['http://wiki.example:8080/a', 'https://a.corp.example/', 'https://a.b.corp.example/'])
    assert.ok(isTrusted(new URL(address)));
  for (const address of [
    'http://wiki.example/',
    'https://wiki.example:8080/',
    'http://a.wiki.example:8080/',
    'https://corp.example/',
    'http://a.corp.example/',
    'https://a.corp.example:8443/',
    'https://acorp.example/',
    'https://a.corp.example.evil.net/',
  ])
    assert.ok(!isTrusted(new URL(address)), address);
});

test('compressed pages are decompressed only as far as they are read', async (context) => {
  const bomb = gzipSync(Buffer.alloc(20_000_000, 'x '));
  const bodies: Record<string, readonly [string, Buffer]> = {
    '/gzip': ['gzip', gzipSync(html)],
    '/br': ['br', brotliCompressSync(html)],
    '/deflate': ['deflate', deflateSync(html)],
    '/bomb': ['gzip', bomb],
    '/broken': ['gzip', Buffer.from('this is not gzip')],
    '/zstd': ['zstd', Buffer.from('?')],
  };
  const { port, origin } = await serve(context, (request, response) => {
    const [encoding, body] = bodies[request.url ?? ''] ?? assert.fail();
    assert.equal(request.headers['accept-encoding'], 'identity');
    response.writeHead(200, { 'content-type': 'text/html', 'content-encoding': encoding }).end(body);
  });
  const reader = open(context, { trustedOrigins: [`http://*.localhost:${port}`] });
  for (const path of ['/gzip', '/br', '/deflate']) assert.match((await reader.read(origin + path, options)).text, /turns once/, path);
  assert.ok((await reader.read(`${origin}/bomb`, options)).text.length <= 200_000);
  await assert.rejects(reader.read(`${origin}/broken`, options), { problem: 'unreachable' });
  await assert.rejects(reader.read(`${origin}/zstd`, options), { problem: 'wrong-type' });
});

test('a page that arrives too slowly ends at its time limit, and a cancelled one ends at once', async (context) => {
  const { port, origin } = await serve(context, (request, response) => {
    response.writeHead(200, { 'content-type': 'text/html' });
    const timer = setInterval(() => response.write('.'), 20);
    response.once('close', () => clearInterval(timer));
    if (request.url === '/leave') leave.abort(new Error('left'));
  });
  const leave = new AbortController();
  const trustedOrigins = [`http://*.localhost:${port}`];
  await assert.rejects(open(context, { trustedOrigins, timeoutMs: 150 }).read(origin, options), { problem: 'timeout' });
  await assert.rejects(open(context, { trustedOrigins }).read(`${origin}/leave`, { ...options, signal: leave.signal }), /left/);
  await assert.rejects(open(context).read(origin, { ...options, signal: AbortSignal.abort(new Error('gone')) }), /gone/);
});

test('a page that takes too long leaves its quick reading, and the next page is read', async (context) => {
  // Entities and line breaks take much longer to build than to scan.
  const slow = `<title>Slow</title><body><p>quick words</p>${'<br>'.repeat(15_000)}${'<p>text, text</p>'.repeat(2000)}`;
  const { port, origin } = await serve(context, (request, response) => {
    response.writeHead(200, { 'content-type': 'text/html' }).end(request.url === '/slow' ? slow : html);
  });
  const reader = open(context, { trustedOrigins: [`http://*.localhost:${port}`], extraction: { threadsMax: 1, pageTimeoutMs: 1200 } });
  // Its time ends right after the quick reading, however fast the machine is.
  context.mock.timers.enable({ apis: ['setTimeout'] });
  const drafted = whenDrafted();
  const reading = Promise.all([reader.read(`${origin}/slow`, options), reader.read(origin, options)]);
  await drafted;
  context.mock.timers.tick(1200);
  const [first, second] = await reading;
  assert.equal(first.title, 'Slow');
  assert.match(first.text, /quick words/);
  assert.match(second.text, /turns once/);
});

test('content other than pages, texts and PDFs is refused without being read', async (context) => {
  const { port, origin } = await serve(context, (request, response) => {
    const type = decodeURIComponent((request.url ?? '').slice(1));
    response.writeHead(200, type === 'none' ? {} : { 'content-type': type }).end('words');
  });
  const reader = open(context, { trustedOrigins: [`http://*.localhost:${port}`] });
  for (const type of [
    'text/plain',
    'application/json',
    'text/markdown; charset=utf-8',
    'application/ld+json',
    'none',
    'application/octet-stream',
  ])
    assert.equal((await reader.read(`${origin}/${encodeURIComponent(type)}`, options)).text, 'words', type);
  for (const type of ['image/png', 'video/mp4', 'application/zip', 'font/woff2'])
    await assert.rejects(reader.read(`${origin}/${encodeURIComponent(type)}`, options), { problem: 'wrong-type' }, type);
});

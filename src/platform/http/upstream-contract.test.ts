import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer as createPlainServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { createSecureServer } from 'node:http2';
import { type AddressInfo, createServer as createTcpServer, type Server, type Socket } from 'node:net';
import { describe, test, type TestContext } from 'node:test';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';

import { askUpstream } from './ask-upstream.ts';
import { authorizeRequests } from './authorize-requests.ts';
import { cert, key } from './testing/fake-certificate.ts';
import { startFakeProxy } from './testing/fake-proxy.ts';
import { parseProxyAddress } from './proxy-address.ts';
import { createUndiciClient } from './undici-client.ts';
import { createUpstreamClient, type UpstreamClient, type UpstreamController, type UpstreamRequest } from './upstream-client.ts';

type Open = (context: TestContext, origin: string, connectTimeoutMs: number) => UpstreamClient | Promise<UpstreamClient>;

const headerBytesMax = 8192;
const usual = 30_000;

/** Connects through a proxy. */
const openThroughProxy: Open = async (context, origin, connectTimeoutMs) => {
  const proxy = await startFakeProxy(undefined);
  context.after(() => proxy[Symbol.asyncDispose]());
  return createUndiciClient({ origin, connectTimeoutMs, headerBytesMax, proxy: parseProxyAddress(proxy.address) });
};

const clients: readonly { readonly name: string; readonly protocol: string; readonly version: string; readonly open: Open }[] = [
  ...['http', 'https'].flatMap((protocol) => [
    {
      name: 'the gateway’s own client',
      protocol,
      version: '1.1',
      open: (_context: TestContext, origin: string, connectTimeoutMs: number) =>
        createUpstreamClient({ origin, connectTimeoutMs, headerBytesMax }),
    },
    {
      name: 'the own client with an asynchronous authorizer',
      protocol,
      version: '1.1',
      open: (_context: TestContext, origin: string, connectTimeoutMs: number) =>
        authorizeRequests(
          createUpstreamClient({ origin, connectTimeoutMs, headerBytesMax }),
          async (request) => ({ ...request, headers: { ...request.headers, 'x-signed': request.path } }),
          { timeoutMs: usual },
        ),
    },
    {
      name: 'undici without a proxy',
      protocol,
      version: '1.1',
      open: (_context: TestContext, origin: string, connectTimeoutMs: number) =>
        createUndiciClient({ origin, connectTimeoutMs, headerBytesMax }),
    },
    { name: 'undici through a proxy', protocol, version: '1.1', open: openThroughProxy },
  ]),
  {
    name: 'undici with HTTP/2',
    protocol: 'https',
    version: '2.0',
    open: (_context, origin, connectTimeoutMs) => createUndiciClient({ origin, connectTimeoutMs, headerBytesMax, http2: true }),
  },
  {
    name: 'undici with HTTP/2 through a proxy',
    protocol: 'https',
    version: '2.0',
    open: async (context, origin, connectTimeoutMs) => {
      const proxy = await startFakeProxy(undefined);
      context.after(() => proxy[Symbol.asyncDispose]());
      return createUndiciClient({
        origin,
        connectTimeoutMs,
        headerBytesMax,
        http2: true,
        proxy: parseProxyAddress(proxy.address),
      });
    },
  },
];

/** Runs a step while the test certificate is trusted. */
async function trusting(step: () => Promise<void>): Promise<void> {
  const trusted = getCACertificates('default');
  setDefaultCACertificates([...trusted, cert]);
  try {
    await step();
  } finally {
    setDefaultCACertificates(trusted);
  }
}

/** How a server answers a request. */
type Answer = (request: IncomingMessage, response: ServerResponse) => void | Promise<void>;

type Upstream = { readonly origin: string; readonly port: number };

/** A server for the client's protocol. Its sockets end with the test. */
async function serve(context: TestContext, protocol: string, answer: Answer): Promise<Upstream> {
  const server: Server =
    protocol === 'http'
      ? createPlainServer((request, response) => void answer(request, response))
      : createSecureServer(
          { key, cert, allowHTTP1: true },
          (request, response) =>
            // Node's compatible interface.
            void answer(request as unknown as IncomingMessage, response as unknown as ServerResponse),
        );
  const sockets = new Set<Socket>();
  server.on('connection', (socket: Socket) => {
    sockets.add(socket);
    socket.on('error', () => socket.destroy());
  });
  server.on('sessionError', () => {});
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  context.after(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  return { origin: `${protocol}://localhost:${port}`, port };
}

type Heard = {
  statuses: number[];
  headers: Readonly<Record<string, unknown>>;
  pieces: Buffer[];
  code: string | undefined;
  ended: boolean;
};

type Steering = {
  readonly onStart?: (controller: UpstreamController) => void;
  readonly onHead?: (controller: UpstreamController) => void;
  readonly onPiece?: (controller: UpstreamController) => void;
};

/** Sends a request, and records its events. */
function send(client: UpstreamClient, request: Partial<UpstreamRequest>, steering: Steering = {}) {
  const heard: Heard = { statuses: [], headers: {}, pieces: [], code: undefined, ended: false };
  const { promise, resolve } = Promise.withResolvers<Heard>();
  client.send(
    { path: '/', method: 'POST', headers: {}, body: Buffer.from('hello'), ...request },
    {
      onRequestStart: (controller) => steering.onStart?.(controller),
      onResponseStart: (controller, status, headers) => {
        heard.statuses.push(status);
        heard.headers = headers;
        steering.onHead?.(controller);
      },
      onResponseData: (controller, piece) => {
        heard.pieces.push(piece);
        steering.onPiece?.(controller);
      },
      onResponseEnd: () => {
        heard.ended = true;
        resolve(heard);
      },
      onResponseError: (_controller, error: Error & { code?: string }) => {
        heard.code = error.code ?? error.name;
        resolve(heard);
      },
    },
  );
  return { heard, done: promise };
}

const textOf = ({ pieces }: Heard): string => Buffer.concat(pieces).toString();

async function bodyOf(request: IncomingMessage): Promise<Buffer> {
  const pieces: Buffer[] = [];
  for await (const piece of request) pieces.push(piece as Buffer);
  return Buffer.concat(pieces);
}

const ask = (client: UpstreamClient, path: string, timeoutMs = usual) =>
  askUpstream(client, { path, method: 'GET', headers: {}, body: undefined }, { timeoutMs, signal: new AbortController().signal });

for (const { name, protocol, version, open } of clients) {
  describe(`${name}, ${protocol}`, () => {
    /** Runs a test with a client and a server, and closes both. */
    const run = (title: string, answer: Answer, use: (client: UpstreamClient, upstream: Upstream, context: TestContext) => Promise<void>) =>
      test(title, (context) =>
        trusting(async () => {
          const upstream = await serve(context, protocol, answer);
          const client = await open(context, upstream.origin, usual);
          await use(client, upstream, context);
          await client.close();
        }),
      );

    const seen: { method: string | undefined; url: string | undefined; body: string; version: string; asked: unknown }[] = [];
    run(
      'a request is sent unchanged, and its reply is received whole, also a redirect',
      async (request, response) => {
        const { method, url, httpVersion } = request;
        const { 'x-asked': asked } = request.headers;
        seen.push({ method, url, body: (await bodyOf(request)).toString(), version: httpVersion, asked });
        response.writeHead(307, { location: '/other', 'x-two': ['a', 'b'] }).end('moved');
      },
      async (client) => {
        const { done } = send(client, { path: '/v1/x?y=%20z', headers: { 'x-asked': 'yes', 'content-type': 'application/json' } });
        const heard = await done;
        assert.deepEqual([heard.statuses, textOf(heard), heard.code], [[307], 'moved', undefined]);
        assert.deepEqual(seen, [{ method: 'POST', url: '/v1/x?y=%20z', body: 'hello', version, asked: 'yes' }]);
        assert.ok(['a,b', 'a, b'].includes(String(heard.headers['x-two'])));
      },
    );

    const release = Promise.withResolvers<void>();
    run(
      'a stream arrives piece by piece, as it is written',
      async (_request, response) => {
        response.writeHead(200, { 'content-type': 'text/event-stream' });
        response.write('data: 1\n\n');
        await release.promise;
        response.end('data: 2\n\n');
      },
      async (client) => {
        const first = Promise.withResolvers<void>();
        const { heard, done } = send(client, {}, { onPiece: () => first.resolve() });
        await first.promise;
        assert.equal(textOf(heard), 'data: 1\n\n');
        release.resolve();
        assert.equal(textOf(await done), 'data: 1\n\ndata: 2\n\n');
      },
    );

    const left = Promise.withResolvers<void>();
    run(
      'an aborted call ends at the upstream, and receives no further event',
      (request, response) => {
        request.resume();
        if (request.url === '/after') return void response.end('after');
        response.once('close', () => left.resolve());
        response.writeHead(200);
        response.write('first');
      },
      async (client) => {
        const { heard } = send(client, {}, { onPiece: (controller) => controller.abort(new Error('enough')) });
        await left.promise;
        assert.equal((await ask(client, '/after')).body.toString(), 'after');
        assert.deepEqual([textOf(heard), heard.code, heard.ended], ['first', undefined, false]);
      },
    );

    const paths: (string | undefined)[] = [];
    run(
      'a call that is aborted before a connection exists is not sent',
      (request, response) => {
        paths.push(request.url);
        response.end('ok');
      },
      async (client) => {
        const { heard } = send(client, { path: '/gone' }, { onStart: (controller) => controller.abort(new Error('gone')) });
        assert.equal((await ask(client, '/after')).body.toString(), 'ok');
        assert.deepEqual(paths, ['/after']);
        assert.deepEqual([heard.statuses, heard.code, heard.ended], [[], undefined, false]);
      },
    );

    run(
      'a silent upstream is waited for until the caller aborts',
      (request, response) => {
        if (request.url === '/after') response.end('ok');
      },
      async (client) => {
        await assert.rejects(ask(client, '/silent', 50), { code: 'TIMEOUT' });
        assert.equal((await ask(client, '/after')).status, 200);
      },
    );

    const large = Buffer.alloc(5_000_000, 'abcdefg');
    run(
      'large bodies arrive whole in both directions, held or streamed',
      async (request, response) => void response.end(await bodyOf(request)),
      async (client) => {
        const held = await send(client, { body: large }).done;
        assert.ok(Buffer.concat(held.pieces).equals(large));
        const streamedBody = {
          bytes: large.length,
          read: async function* read() {
            for (let at = 0; at < large.length; at += 100_000) yield large.subarray(at, at + 100_000);
          },
        };
        const streamed = await send(client, { body: undefined, streamedBody }).done;
        assert.ok(Buffer.concat(streamed.pieces).equals(large));
      },
    );

    run(
      'a reply whose reader paused waits, and is whole in the end',
      (_request, response) => void response.end(large),
      async (client) => {
        const paused = Promise.withResolvers<UpstreamController>();
        const { done } = send(
          client,
          {},
          {
            onHead: (controller) => {
              controller.pause();
              paused.resolve(controller);
            },
          },
        );
        (await paused.promise).resume();
        assert.ok(Buffer.concat((await done).pieces).equals(large));
      },
    );

    run(
      'a streamed body with a wrong length fails its call',
      async (request, response) => {
        await bodyOf(request).catch(() => {});
        response.end('no');
      },
      async (client) => {
        for (const bytes of [3, 9]) {
          const streamedBody = {
            bytes,
            read: async function* read() {
              yield Buffer.from('hello!');
            },
          };
          const { code } = await send(client, { body: undefined, streamedBody }).done;
          assert.equal(code, 'BODY_LENGTH_MISMATCH');
        }
      },
    );

    const calls: (string | undefined)[] = [];
    run(
      'a broken connection fails its call, which is not sent a second time',
      (request, response) => {
        calls.push(request.url);
        if (request.url === '/cut') {
          response.writeHead(200, { 'content-length': 9 });
          response.write('hi', () => void response.destroy());
        } else if (request.url === '/gone') request.socket.destroy();
        else response.end('ok');
      },
      async (client) => {
        const cut = await send(client, { path: '/cut' }).done;
        assert.ok(['CONNECTION_CLOSED', 'ECONNRESET'].includes(cut.code ?? ''), String(cut.code));
        const gone = await send(client, { path: '/gone' }).done;
        assert.ok(['CONNECTION_CLOSED', 'ECONNRESET', 'EPIPE'].includes(gone.code ?? ''), String(gone.code));
        assert.equal((await ask(client, '/after')).body.toString(), 'ok');
        assert.deepEqual(calls, ['/cut', '/gone', '/after']);
      },
    );

    run(
      'headers beyond the limit make a reply invalid',
      (_request, response) => void response.writeHead(200, { 'x-wide': 'x'.repeat(20_000) }).end(),
      async (client) => assert.equal((await send(client, {}).done).code, 'INVALID_HTTP_REPLY'),
    );

    run(
      'the handler receives every failure, nothing is thrown, and a closed client accepts no request',
      (_request, response) => void response.end('late'),
      async (client) => {
        assert.equal((await send(client, { headers: { 'x-bad': 'a\r\nb' } }).done).code, 'TypeError');
        assert.equal((await send(client, { path: 'no-slash' }).done).code, 'TypeError');
        const running = send(client, {}).done;
        const closed = client.close();
        assert.equal(textOf(await running), 'late', 'closing lets a running request finish');
        await closed;
        assert.equal((await send(client, {}).done).code, 'CLIENT_CLOSED');
      },
    );

    test('a refused connection and a late one fail, each with its own code', async (context) => {
      const closed = createTcpServer().listen(0, '127.0.0.1');
      await once(closed, 'listening');
      const { port } = closed.address() as AddressInfo;
      closed.close();
      await once(closed, 'close');
      const refused = await open(context, `${protocol}://127.0.0.1:${port}`, usual);
      assert.equal(
        (await send(refused, {}).done).code,
        name.includes('proxy') && !name.includes('without') ? 'PROXY_REFUSED' : 'ECONNREFUSED',
      );
      await refused.close();
    });

    if (protocol === 'https') {
      test('the time for connecting includes TLS', async (context) => {
        const silent = createTcpServer((socket) => context.after(() => void socket.destroy())).listen(0, '127.0.0.1');
        await once(silent, 'listening');
        context.after(() => void silent.close());
        const client = await open(context, `https://localhost:${(silent.address() as AddressInfo).port}`, 50);
        assert.equal((await send(client, {}).done).code, 'CONNECT_TIMEOUT');
        await client.close();
      });

      test('nothing is sent to a server that cannot prove its identity', async (context) => {
        const urls: (string | undefined)[] = [];
        const upstream = await serve(context, protocol, (request, response) => {
          urls.push(request.url);
          response.end();
        });
        const stranger = await open(context, upstream.origin, usual);
        assert.equal((await send(stranger, {}).done).code, 'DEPTH_ZERO_SELF_SIGNED_CERT');
        await stranger.close();
        await trusting(async () => {
          const misnamed = await open(context, `https://127.0.0.1:${upstream.port}`, usual);
          assert.equal((await send(misnamed, {}).done).code, 'ERR_TLS_CERT_ALTNAME_INVALID');
          await misnamed.close();
        });
        assert.deepEqual(urls, []);
      });
    }
  });
}

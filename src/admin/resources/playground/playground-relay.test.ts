import assert from 'node:assert/strict';
import { once } from 'node:events';
import { Agent as KeptAgent, createServer, type IncomingMessage, request as requestHttp, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, before, beforeEach, describe, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';

import type { FastifyInstance } from 'fastify';
import { Agent, fetch, type RequestInit, type Response } from 'undici';

import type { Principal } from '../../../accounts/people/principal.ts';
import { createAdmin } from '../../server/create-admin.ts';
import { type PlaygroundServices, playgroundOperations } from './playground-operations.ts';
import { createPlaygroundRelay, relayLimitsDefault } from './playground-relay.ts';
import { quietOptions } from '../../testing/quiet-options.ts';

const secret = 'sk-weir-the-secret-of-the-playground';
const key = {
  keyId: 'k1',
  sessionId: 'ses_1',
  name: 'playground-1',
  userName: 'ann',
  createdAtMs: 1,
  expiresAtMs: 2,
  sealed: Buffer.of(1),
};
const principal: Principal = {
  permissions: new Set(['playground:use']),
  users: ['ann'],
  author: { actor: 'person:ann', via: 'api' },
  sessionId: 'ses_1',
  personId: 'p1',
};
/** A test makes the gateway's silence short; the others must not depend on the speed of the machine. */
const limits: { -readonly [Name in keyof typeof relayLimitsDefault]: number } = {
  ...relayLimitsDefault,
  requestBytesMax: 1_000_000,
  ofSession: 3,
};

type Received = { readonly request: IncomingMessage; readonly response: ServerResponse };

describe('the relay of the playground', () => {
  let app: FastifyInstance;
  let base: string;
  let gatewayPort: number;
  let reached: string[] = [];
  let answer: (received: Received) => void | Promise<void> = () => {};
  const gateway = createServer((request, response) => {
    reached.push(`${request.method} ${request.url}`);
    void answer({ request, response });
  });

  before(async () => {
    gateway.listen(0, '127.0.0.1');
    await once(gateway, 'listening');
    gatewayPort = (gateway.address() as AddressInfo).port;
    const services = {
      playgroundKeys: { list: async () => [key, { ...key, keyId: 'k2', userName: 'bob' }], secretOf: () => secret },
      playgroundRelay: createPlaygroundRelay({
        address: () => `http://127.0.0.1:${gatewayPort}`,
        serves: async (_method, path) => path.startsWith('/v1/'),
        limits,
      }),
    } as unknown as PlaygroundServices;
    app = await createAdmin<PlaygroundServices>({
      operations: playgroundOperations,
      services,
      ...quietOptions,
      authenticate: async ({ kind, secret: given }) => (kind === 'session' && given === 'ann' ? { principal } : undefined),
      idempotency: { begin: async () => assert.fail('a relayed request is not repeated by the console') },
    });
    base = await app.listen({ port: 0, host: '127.0.0.1' });
  });
  after(async () => {
    gateway.closeAllConnections();
    gateway.close();
    await app.close();
  });
  beforeEach(() => {
    reached = [];
  });

  const own = { cookie: 'weir_session=ann; other=1', 'sec-fetch-site': 'same-origin', 'x-weir-playground-key': 'k1' };
  // Each has a connection of its own: tests break them.
  const send = (path: string, init: Omit<RequestInit, 'headers'> & { readonly headers?: Record<string, string> } = {}) =>
    fetch(`${base}/api/v1/playground/relay${path}`, {
      ...init,
      headers: { ...own, ...init.headers },
      dispatcher: new Agent({ pipelining: 0 }),
    });
  const json = { 'content-type': 'application/json' };
  const codeOf = async (response: Response): Promise<string> => `${response.status} ${((await response.json()) as { code: string }).code}`;

  test('a request and its answer pass unchanged, without cookies and credentials in both directions', async () => {
    let seen: IncomingMessage | undefined;
    let body = '';
    answer = async ({ request, response }) => {
      seen = request;
      for await (const piece of request) body += String(piece);
      response.writeHead(429, {
        'content-type': 'application/json',
        'set-cookie': 'weir_session=evil',
        'www-authenticate': 'Basic realm="give me your password"',
        'clear-site-data': '"*"',
        'content-security-policy': 'script-src *',
        location: 'https://evil.example',
        'retry-after': '7',
        'x-weir-request-id': 'req_1',
      });
      response.end('{"error":{"type":"rate_limit_error"}}');
    };
    const response = await send('/v1/messages?beta=true&key=sk-weir-other', {
      method: 'POST',
      body: '{"model":"x"}',
      headers: { ...json, 'anthropic-version': '2023-06-01', 'x-api-key': 'a', 'x-forwarded-for': '1.2.3.4', referer: base },
    });
    assert.equal(response.status, 429);
    assert.equal(await response.text(), '{"error":{"type":"rate_limit_error"}}');
    assert.deepEqual([body, reached], ['{"model":"x"}', ['POST /v1/messages?beta=true']]);
    const { headers } = seen ?? assert.fail();
    assert.equal(headers.authorization, `Bearer ${secret}`);
    assert.equal(headers['anthropic-version'], '2023-06-01');
    for (const name of ['cookie', 'x-api-key', 'x-forwarded-for', 'referer', 'origin', 'x-weir-playground-key', 'sec-fetch-site'])
      assert.equal(headers[name], undefined, name);
    assert.deepEqual([response.headers.get('retry-after'), response.headers.get('x-weir-request-id')], ['7', 'req_1']);
    for (const name of ['set-cookie', 'www-authenticate', 'clear-site-data', 'location'])
      assert.equal(response.headers.get(name), null, name);
    assert.match(response.headers.get('content-security-policy') ?? '', /default-src 'none'.*sandbox/);
    assert.ok(!JSON.stringify([...response.headers]).includes(secret));
  });

  test('no path leads to anything but the interfaces of the gateway', async () => {
    answer = ({ response }) => void response.end('{}');
    const tricks = [
      '/api/v1/playground/relay/v1/../health',
      '/api/v1/playground/relay/v1/%2e%2e/health',
      '/api/v1/playground/relay/v1/.%2E/health',
      '/api/v1/playground/relay/v1/a%2f..%2f..%2fhealth',
      '/api/v1/playground/relay/v1/a%5c..%5chealth',
      '/api/v1/playground/relay/v1/./messages',
      '/api/v1/playground/relay//evil.example/v1/messages',
      '/api/v1/playground/relay/v1//messages',
      '/api/v1/playground/relay/http://evil.example/v1/messages',
      '/api/v1/playground/relay/@evil.example/v1/messages',
      '/api/v1/playground/relay/v1/%00',
      '/api/v1/playground/relay/v1/%0d%0aset-cookie:x',
      '/api/v1/playground/relay/v1/%ff',
      '/api/v1/playground/relay/v1/%zz',
      '/api/v1/playground/relay/v1\\messages',
      '/api/v1/playground/relay/health',
      '/api/v1/playground/relay/',
      '/api/v1/playground/relay',
      '/api/v1/playground/rel%61y/v1/messages',
      '/api/v1/playground/relay/v1/messages#/../health',
      'http://evil.example/api/v1/playground/relay/v1/messages',
    ];
    for (const path of tricks) {
      const status = await new Promise<number | undefined>((resolve, reject) => {
        const { port } = new URL(base);
        const sent = requestHttp({ host: '127.0.0.1', port, path, headers: { ...own, host: `127.0.0.1:${port}` } }, (response) => {
          response.resume();
          resolve(response.statusCode);
        });
        sent.on('error', reject).end();
      });
      assert.ok(status === 400 || status === 404, `${path}: ${status}`);
    }
    assert.deepEqual(reached, []);
  });

  test('only a page of our own makes a call, with a key of its session and of a user that it may see', async () => {
    answer = ({ response }) => void response.end('{}');
    const post = { method: 'POST', body: '{}' };
    assert.equal(
      await codeOf(await send('/v1/messages', { ...post, headers: { ...json, 'sec-fetch-site': 'cross-site' } })),
      '403 cross_origin',
    );
    assert.equal(await codeOf(await send('/v1/files', { ...post, headers: { 'content-type': 'text/plain' } })), '403 cross_origin');
    const form = { 'content-type': 'multipart/form-data; boundary=x' };
    assert.equal(await codeOf(await send('/v1/files', { ...post, headers: form })), '403 cross_origin');
    assert.equal((await send('/v1/files', { ...post, headers: { ...form, 'x-weir-console': '1' } })).status, 200);
    for (const named of ['k2', 'k3', ''])
      assert.equal(await codeOf(await send('/v1/models', { headers: { 'x-weir-playground-key': named } })), '404 not_found', named);
    assert.equal(await codeOf(await send('/v1/models', { headers: { authorization: 'Bearer x' } })), '400 two_credentials');
    assert.equal(await codeOf(await send('/v1/models', { headers: { cookie: 'weir_session=eve' } })), '401 unauthenticated');
    assert.equal(await codeOf(await send('/v1/messages', { method: 'PATCH' })), '405 method_not_allowed');
    assert.equal((await send('/v1/files/f1', { method: 'DELETE' })).status, 200);
    assert.deepEqual(reached, ['POST /v1/files', 'DELETE /v1/files/f1']);
  });

  test('a stream passes as it comes, and ends at the gateway when the client leaves', async () => {
    let left: Promise<unknown> | undefined;
    let more: ServerResponse | undefined;
    answer = ({ request, response }) => {
      left = once(response, 'close');
      more = response;
      request.resume();
      response.writeHead(200, { 'content-type': 'text/event-stream' }).write('data: 1\n\n');
    };
    const leaving = new AbortController();
    const response = await send('/v1/responses', { method: 'POST', body: '{}', headers: json, signal: leaving.signal });
    const reader = (response.body ?? assert.fail()).getReader();
    const next = async (): Promise<string> => new TextDecoder().decode((await reader.read()).value);
    assert.equal(await next(), 'data: 1\n\n');
    more?.write('data: 2\n\n');
    assert.equal(await next(), 'data: 2\n\n');
    leaving.abort();
    await left;
    assert.equal(more?.writableFinished, false);
  });

  test('an answer that the gateway cuts is cut for the client; without an answer the relay says so', async () => {
    answer = ({ response }) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' }).write('data: 1\n\n');
      setImmediate(() => response.destroy());
    };
    const cut = await send('/v1/responses', { method: 'POST', body: '{}', headers: json });
    await assert.rejects(cut.text());
    answer = ({ request }) => void request.socket.destroy();
    assert.equal(await codeOf(await send('/v1/models')), '503 unavailable');
    answer = () => {};
    limits.silenceMs = 300;
    assert.equal(await codeOf(await send('/v1/models')), '503 unavailable');
    answer = ({ response }) => void response.writeHead(200).write('x');
    const hanging = await send('/v1/models');
    await assert.rejects(hanging.text());
    limits.silenceMs = relayLimitsDefault.silenceMs;
    const address = gatewayPort;
    gatewayPort = 1;
    const unreachable = (await (await send('/v1/models')).json()) as { detail: string };
    gatewayPort = address;
    assert.match(unreachable.detail, /^The gateway at http:\/\/127.0.0.1:1 cannot be reached: .*ECONNREFUSED/);
  });

  test('a large body is refused, whether or not its length is known; an early answer passes', async () => {
    answer = ({ request, response }) => {
      request.resume();
      request.on('end', () => response.end('{}'));
    };
    const large = { method: 'POST', headers: json, duplex: 'half' } as const;
    assert.equal(await codeOf(await send('/v1/files', { ...large, body: new Uint8Array(1_000_001) })), '413 body_too_large');
    assert.deepEqual(reached, []);
    async function* pieces(count: number): AsyncGenerator<Uint8Array> {
      for (let index = 0; index < count; index += 1) yield new Uint8Array(100_000);
    }
    const unknown = await send('/v1/files', { ...large, body: ReadableStream.from(pieces(11)) });
    assert.equal(await codeOf(unknown), '413 body_too_large');
    assert.equal((await send('/v1/files', { ...large, body: ReadableStream.from(pieces(10)) })).status, 200);
    answer = ({ response }) => void response.writeHead(400).end('no');
    const early = await send('/v1/files', { ...large, body: ReadableStream.from(pieces(9)) });
    assert.deepEqual([early.status, await early.text()], [400, 'no']);
  });

  test('a connection stays usable after a body that nobody has read', async () => {
    const agent = new KeptAgent({ keepAlive: true, maxSockets: 1 });
    const { port } = new URL(base);
    const ask = async (method: string, bytes: number): Promise<string> => {
      const headers = { ...own, ...json };
      const sent = requestHttp({ agent, host: '127.0.0.1', port, method, path: '/api/v1/playground/relay/v1/files', headers });
      if (bytes > 0) sent.write(Buffer.alloc(bytes));
      sent.end();
      const [response] = (await once(sent, 'response')) as [IncomingMessage];
      response.resume();
      await once(response, 'end');
      return String(response.statusCode);
    };
    answer = ({ response }) => void response.writeHead(400).end('no');
    const statuses: string[] = [];
    for (const [method, bytes] of [
      ['POST', 900_000],
      ['GET', 0],
      ['POST', 1_100_000],
      ['GET', 0],
      ['POST', 10],
      ['GET', 0],
    ] as const)
      statuses.push(await ask(method, bytes));
    // The gateway's early answer may come before the third body is too large.
    assert.match(statuses.join(' '), /^400 400 4(?:00|13) 400 400 400$/);
    agent.destroy();
  });

  test('neither side is read faster than the other one', async () => {
    const piece = Buffer.alloc(64 * 1024);
    let written = 0;
    let read = 0;
    answer = ({ request, response }) => {
      request.on('data', (bytes: Buffer) => (read += bytes.length));
      const write = (): void => {
        while (written < 64 * 1024 * 1024 && !response.destroyed) {
          written += piece.length;
          if (!response.write(piece)) {
            response.once('drain', write);
            return;
          }
        }
      };
      write();
    };
    // The client reads only the head.
    const { port } = new URL(base);
    const sent = requestHttp({ host: '127.0.0.1', port, path: '/api/v1/playground/relay/v1/files/f/content', headers: own });
    sent.end();
    const [response] = (await once(sent, 'response')) as [IncomingMessage];
    response.pause();
    let seen = -1;
    while (seen !== written) {
      seen = written;
      await delay(100);
    }
    // What fits into the buffers of the sockets on the way.
    assert.ok(written < 24 * 1024 * 1024, `${written} bytes were taken from the gateway`);
    assert.equal(read, 0);
    sent.destroy();
  });

  test('a session has some calls at a time, and a place is free again after each end', async () => {
    const responses: ServerResponse[] = [];
    answer = ({ response }) => {
      responses.push(response);
      response.writeHead(200).write('x');
    };
    const running = await Promise.all([send('/v1/models'), send('/v1/models'), send('/v1/models')]);
    assert.equal(await codeOf(await send('/v1/models')), '429 too_many_requests');
    for (const response of responses) response.end();
    for (const each of running) assert.equal(await each.text(), 'x');
    answer = ({ response }) => void response.end('{}');
    let status = 429;
    for (let tries = 0; status === 429 && tries < 100; tries += 1) {
      await delay(20);
      ({ status } = await send('/v1/models'));
    }
    assert.equal(status, 200);
  });
});

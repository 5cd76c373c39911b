import assert from 'node:assert/strict';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, before, test } from 'node:test';

import { createUpstreamClient, type UpstreamHandler, type UpstreamRequest } from './upstream-client.ts';

type Heard = { status: number; headers: Readonly<Record<string, unknown>>; body: string; error: (Error & { code?: string }) | undefined };

let server: Server;
let origin: string;
const seen: { method: string | undefined; url: string | undefined; body: string }[] = [];

before(async () => {
  server = createServer((request, response) => {
    let body = '';
    request.on('data', (chunk: Buffer) => (body += chunk.toString()));
    request.on('end', () => {
      seen.push({ method: request.method, url: request.url, body });
      if (request.url === '/moved') response.writeHead(307, { location: '/target' }).end();
      else if (request.url === '/hints') {
        response.writeEarlyHints({ link: '</a>; rel=preload' });
        response.end('after hints');
      } else if (request.url === '/wide') response.writeHead(200, { 'x-wide': 'x'.repeat(20_000) }).end();
      else response.writeHead(200, { 'x-served': 'yes' }).end(`got ${body}`);
    });
  });
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
after(() => {
  server.closeAllConnections();
  server.close();
});

const open = (to = origin) => createUpstreamClient({ origin: to, connectTimeoutMs: 30_000, headerBytesMax: 8192 });

function send(client: ReturnType<typeof open>, request: Partial<UpstreamRequest>): Promise<Heard & { readonly statuses: number[] }> {
  const { promise, resolve } = Promise.withResolvers<Heard & { readonly statuses: number[] }>();
  const heard: Heard & { readonly statuses: number[] } = { status: 0, headers: {}, body: '', error: undefined, statuses: [] };
  const handler: UpstreamHandler = {
    onRequestStart: () => {},
    onResponseStart: (_controller, status, headers) => {
      heard.statuses.push(status);
      Object.assign(heard, { status, headers });
    },
    onResponseData: (_controller, chunk) => void (heard.body += chunk.toString()),
    onResponseEnd: () => resolve(heard),
    onResponseError: (_controller, error) => resolve({ ...heard, error }),
  };
  client.send({ path: '/', method: 'POST', headers: {}, body: Buffer.from('hello'), ...request }, handler);
  return promise;
}

test('a request is sent unchanged, and its answer is received unchanged', async () => {
  const client = open();
  const heard = await send(client, { path: '/v1/x?y=%20z', headers: { 'content-type': 'application/json' } });
  assert.deepEqual(seen.at(-1), { method: 'POST', url: '/v1/x?y=%20z', body: 'hello' });
  assert.deepEqual([heard.status, heard.headers['x-served'], heard.body], [200, 'yes', 'got hello']);
  await client.close();
});

test('a redirect is not followed', async () => {
  const client = open();
  const before = seen.length;
  assert.equal((await send(client, { path: '/moved' })).status, 307);
  assert.equal(seen.length, before + 1);
  await client.close();
});

test('early hints are reported with their own status, before the answer', async () => {
  const client = open();
  const heard = await send(client, { path: '/hints' });
  assert.deepEqual(heard.statuses, [103, 200]);
  assert.equal(heard.body, 'after hints');
  await client.close();
});

test('headers beyond the limit end the call with their own code', async () => {
  const client = open();
  assert.equal((await send(client, { path: '/wide' })).error?.code, 'INVALID_HTTP_REPLY');
  await client.close();
});

test('the handler receives every failure, and nothing is thrown', async () => {
  const refused = open('http://127.0.0.1:1');
  assert.equal((await send(refused, {})).error?.code, 'ECONNREFUSED');
  await refused.close();
  const client = open();
  assert.ok((await send(client, { headers: { 'x-bad': 'a\r\nb' } })).error);
  assert.ok((await send(client, { path: 'no-slash' })).error);
  await client.close();
  assert.ok((await send(client, {})).error, 'a closed client accepts no request');
});

test('closing lets a running request finish', async () => {
  const client = open();
  const running = send(client, { path: '/late' });
  const closed = client.close();
  assert.equal((await running).body, 'got hello');
  await closed;
});

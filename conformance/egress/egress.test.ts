import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type RequestListener } from 'node:http';
import { createSecureServer } from 'node:http2';
import type { AddressInfo, Server, Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';

import { cert, key } from '../../src/platform/http/testing/fake-certificate.ts';
import { type Asked, startFakeProxy } from '../../src/platform/http/testing/fake-proxy.ts';
import { serveWeir } from '../support/serve-weir.ts';
import { type ServedWeir, startWeir } from '../support/start-weir.ts';

const completion = JSON.stringify({
  id: 'chatcmpl-1',
  object: 'chat.completion',
  created: 1_767_571_200,
  model: 'm',
  choices: [{ index: 0, message: { role: 'assistant', content: 'Hello.' }, finish_reason: 'stop' }],
  usage: { prompt_tokens: 1, completion_tokens: 3, total_tokens: 4 },
});

async function listen(context: TestContext, server: Server): Promise<number> {
  const sockets = new Set<Socket>();
  server.on('connection', (socket: Socket) => sockets.add(socket));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  context.after(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return (server.address() as AddressInfo).port;
}

const answer: RequestListener = (request, response) => {
  request.resume();
  response.writeHead(200, { 'content-type': 'application/json' }).end(completion);
};

async function startUpstreamAndProxy(context: TestContext, decide?: (asked: Asked) => number) {
  const proxy = await startFakeProxy(await listen(context, createServer(answer)), decide);
  context.after(() => proxy[Symbol.asyncDispose]());
  return proxy;
}

const configOf = (baseUrl: string, more: string): string => `
upstreams:
  far: { vendor: openai-compatible, baseUrl: '${baseUrl}', apiKey: sk-far-0123456789, discoverModels: false${more} }
models:
  m: { targets: [{ upstream: far }], price: { input: '0', output: '0' } }
`;

async function ask(weir: ServedWeir): Promise<{ readonly status: number; readonly text: string }> {
  const response = await fetch(`${weir.gatewayUrl}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${weir.apiKey}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'm', messages: [{ role: 'user', content: 'Hello' }] }),
  });
  return { status: response.status, text: await response.text() };
}

const credential = `Basic ${Buffer.from('user:proxy-secret').toString('base64')}`;

test('an upstream’s own proxy: its calls use a tunnel, and no log line has the proxy’s password', async (context) => {
  const proxy = await startUpstreamAndProxy(context);
  const address = proxy.address.replace('http://', 'http://user:${PROXY_PASSWORD}@');
  await using weir = await serveWeir({
    command: 'gateway',
    config: configOf('http://far.test:8000/v1', `, proxy: '${address}'`),
    environment: { PROXY_PASSWORD: 'proxy-secret', WEIR_LOG_LEVEL: 'debug' },
  });
  const { status, text } = await ask(weir);
  assert.equal(status, 200, text);
  assert.match(text, /Hello\./);
  assert.deepEqual(proxy.asked, [{ place: 'far.test:8000', authorization: credential }]);
  assert.doesNotMatch(weir.output(), /proxy-secret/);
  assert.ok(!weir.output().includes(credential));
});

test('a proxy of the environment is used, and one that refuses is named in the log without its password', async (context) => {
  let status = 200;
  const proxy = await startUpstreamAndProxy(context, () => status);
  await using weir = await serveWeir({
    command: 'gateway',
    config: `${configOf('http://far.test/v1', '')}retries: { attemptsMax: 1 }\n`,
    environment: { HTTP_PROXY: proxy.address.replace('http://', 'http://user:proxy-secret@') },
  });
  assert.equal((await ask(weir)).status, 200);
  assert.deepEqual(proxy.asked, [{ place: 'far.test:80', authorization: credential }]);
  status = 407;
  proxy.cut();
  let refused = await ask(weir);
  // The first call after the tunnels were cut may still use one that is ending.
  if (!/cannot be reached/.test(refused.text)) refused = await ask(weir);
  assert.match(refused.text, /cannot be reached/);
  assert.match(weir.output(), /ProxyRefusedError: the proxy http:\/\/127\.0\.0\.1:\d+ refuses to connect to far\.test:80 \(status 407/);
  assert.doesNotMatch(weir.output(), /proxy-secret/);
});

test('NO_PROXY excludes an upstream from the proxy', async (context) => {
  const proxy = await startUpstreamAndProxy(context);
  await using weir = await serveWeir({
    command: 'gateway',
    config: `${configOf('http://far.test/v1', '')}retries: { attemptsMax: 1 }\n`,
    environment: { HTTP_PROXY: proxy.address, NO_PROXY: 'other.test,.far.test' },
  });
  assert.match((await ask(weir)).text, /cannot be reached/, 'the name does not resolve without the proxy');
  assert.deepEqual(proxy.asked, []);
});

test('http2: an upstream with HTTP/2 is called with it, and one without that setting with HTTP/1.1', async (context) => {
  const versions: string[] = [];
  const server = createSecureServer({ key, cert, allowHTTP1: true }, (request, response) => {
    versions.push(request.httpVersion);
    request.resume();
    response.writeHead(200, { 'content-type': 'application/json' }).end(completion);
  });
  const port = await listen(context, server);
  const directory = mkdtempSync(join(tmpdir(), 'weir-egress-'));
  context.after(() => rmSync(directory, { recursive: true }));
  const authority = join(directory, 'ca.pem');
  writeFileSync(authority, cert);
  for (const more of [', http2: true', '']) {
    await using weir = await startWeir({
      config: configOf(`https://localhost:${port}/v1`, more),
      environment: { NODE_EXTRA_CA_CERTS: authority },
    });
    const { status, text } = await ask(weir);
    assert.equal(status, 200, text);
  }
  assert.deepEqual(versions, ['2.0', '1.1']);
});

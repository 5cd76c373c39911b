import assert from 'node:assert/strict';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { after, before, test } from 'node:test';
import { createServer, getCACertificates, type Server, setDefaultCACertificates } from 'node:tls';

import { createUpstreamClient } from './upstream-client.ts';

/** A certificate for localhost that its own key has signed, and that key, which protects nothing. */
const block = (title: string, lines: readonly string[]): string =>
  `-----BEGIN ${title}-----\n${lines.join('\n')}\n-----END ${title}-----\n`;
const key = block('PRIVATE KEY', [
  'MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgySM++DB7x2Q1ZrZu',
  '3/8IoIkzLRo6BFBnfddvRA2awYShRANCAAQCupGvOcAb4IEjP9/03NWMV9ihgX6a',
  'B/GH7w37g4V/KYjkOzieapjy70eqE4d+S/T8gQYGH1m/kvyoZuoA2lyP',
]);
const cert = block('CERTIFICATE', [
  'MIIBljCCATugAwIBAgIUBTxK35ZP41JrK7cT2TiD+Z6yb84wCgYIKoZIzj0EAwIw',
  'FDESMBAGA1UEAwwJbG9jYWxob3N0MCAXDTI2MTEyMTIwMDAyNFoYDzIxMjYxMDI4',
  'MjAwMDI0WjAUMRIwEAYDVQQDDAlsb2NhbGhvc3QwWTATBgcqhkjOPQIBBggqhkjO',
  'PQMBBwNCAAQCupGvOcAb4IEjP9/03NWMV9ihgX6aB/GH7w37g4V/KYjkOzieapjy',
  '70eqE4d+S/T8gQYGH1m/kvyoZuoA2lyPo2kwZzAdBgNVHQ4EFgQUOgqiJKod7+6Q',
  'uNPzKJbPaOQNVKgwHwYDVR0jBBgwFoAUOgqiJKod7+6QuNPzKJbPaOQNVKgwDwYD',
  'VR0TAQH/BAUwAwEB/zAUBgNVHREEDTALgglsb2NhbGhvc3QwCgYIKoZIzj0EAwID',
  'SQAwRgIhAPl+78JvP7H7mrlbB0hvvDDE+n8I4J5TQEpInjnG5QyeAiEA18nZBHLU',
  'hvc+Wi93EdI+jF+FkNrGzcswDKRHPgs55iA=',
]);

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

async function ask(host: string): Promise<Told> {
  const client = createUpstreamClient({ origin: `https://${host}:${port}`, connectTimeoutMs: 5000, headerBytesMax: 8192 });
  const { promise, resolve } = Promise.withResolvers<Told>();
  let body = '';
  client.send(
    { path: '/', method: 'POST', headers: { authorization: 'Bearer secret' }, body: Buffer.from('hello') },
    {
      onRequestStart: () => {},
      onResponseStart: () => {},
      onResponseData: (_controller, piece) => (body += piece.toString()),
      onResponseEnd: () => resolve({ body, code: undefined }),
      onResponseError: (_controller, error) => resolve({ body, code: (error as NodeJS.ErrnoException).code }),
    },
  );
  const told = await promise;
  await client.close();
  return told;
}

test('nothing is sent to a server that cannot prove who it is', async () => {
  assert.equal((await ask('localhost')).code, 'DEPTH_ZERO_SELF_SIGNED_CERT');
  assert.equal(received, '');
});

test('a server that is trusted is spoken to, and one with another name is not', async () => {
  const usual = getCACertificates('default');
  setDefaultCACertificates([...usual, cert]);
  try {
    assert.equal((await ask('127.0.0.1')).code, 'ERR_TLS_CERT_ALTNAME_INVALID');
    assert.equal(received, '');
    assert.deepEqual(await ask('localhost'), { body: 'ok', code: undefined });
    assert.match(received, /authorization: Bearer secret/);
  } finally {
    setDefaultCACertificates(usual);
  }
});

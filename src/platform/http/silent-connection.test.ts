import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { after, describe, test } from 'node:test';

import { closeIfSilent } from './silent-connection.ts';

describe('a connection whose time for a head has run out', { timeout: 20_000 }, () => {
  const server = createServer({ headersTimeout: 100, requestTimeout: 100, connectionsCheckingInterval: 20 }, (_request, response) => {
    response.end('served');
  });
  let blockMs = 0;
  server.on('clientError', (error, socket) => {
    const untilMs = performance.now() + blockMs;
    while (performance.now() < untilMs);
    if (!closeIfSilent(error, socket)) socket.end('HTTP/1.1 408 Request Timeout\r\nconnection: close\r\n\r\n');
  });
  after(() => server.close());

  async function open(): Promise<{ readonly socket: Socket; readonly answer: Promise<string> }> {
    if (!server.listening) await once(server.listen(0, '127.0.0.1'), 'listening');
    const socket = connect((server.address() as AddressInfo).port, '127.0.0.1');
    let text = '';
    socket.setEncoding('latin1').on('data', (chunk: string) => void (text += chunk));
    const answer = once(socket, 'close').then(() => text);
    await once(socket, 'connect');
    return { socket, answer };
  }

  test('is closed without an answer if nothing was ever sent', async () => {
    const { answer } = await open();
    assert.equal(await answer, '');
  });

  test('gets a 408 if half a head was sent', async () => {
    const { socket, answer } = await open();
    socket.write('GET / HT');
    assert.match(await answer, /^HTTP\/1\.1 408 /);
  });

  test('gets a 408 if the second request is incomplete', async () => {
    const { socket, answer } = await open();
    socket.write('GET / HTTP/1.1\r\nhost: a\r\n\r\nGET / HT');
    assert.match(await answer, /^HTTP\/1\.1 200 [^]*served[^]*HTTP\/1\.1 408 /);
  });

  test('is served if its request arrived at the moment of the timeout', async () => {
    const { socket, answer } = await open();
    blockMs = 100;
    server.prependOnceListener('clientError', () => socket.write('GET / HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n'));
    assert.match(await answer, /^HTTP\/1\.1 200 [^]*served$/);
    blockMs = 0;
  });
});

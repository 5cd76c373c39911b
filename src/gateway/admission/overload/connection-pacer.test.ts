import assert from 'node:assert/strict';
import { createServer, type IncomingMessage } from 'node:http';
import { type AddressInfo, connect, Socket } from 'node:net';
import { test } from 'node:test';

import { Client } from 'undici';

import { systemClock } from '../../../platform/clock.ts';
import { createConnectionPacer } from './connection-pacer.ts';

const requestText = 'POST / HTTP/1.1\r\nhost: a\r\ncontent-length: 4\r\n\r\nbody';

/** Sends requests one after the other on one connection until this number is answered. */
function hammer(port: number, answersWanted: number): Promise<void> {
  return new Promise((resolve, reject) => {
    let answers = 0;
    const socket = connect(port, '127.0.0.1', () => socket.write(requestText));
    socket.on('data', () => {
      answers += 1;
      if (answers < answersWanted) return void socket.write(requestText);
      socket.destroy();
      resolve();
    });
    socket.on('error', reject);
  });
}

test('refused connections pause if there are many refusals, resume, and do not pause if there are few', async (context) => {
  const pacer = createConnectionPacer({ clock: systemClock });
  const pause = context.mock.method(Socket.prototype, 'pause');
  const server = createServer((request: IncomingMessage, response) => {
    pacer.rest(request, 4);
    response.end('no');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  try {
    await hammer(port, 100);
    assert.equal(pause.mock.callCount(), 0);
    // As if all of them had come in a thousandth of a second.
    pacer.adjust(0.001);
    assert.equal(pacer.restMs(), 50);
    await hammer(port, 3);
    pacer.adjust(0.0001);
    assert.equal(pacer.restMs(), 100);
    const startedMs = performance.now();
    await hammer(port, 6);
    const pacedMs = performance.now() - startedMs;
    assert.ok(pacedMs >= 240, `${pacedMs} ms for six answers with rests of 50 to 150 ms between them`);
  } finally {
    pacer.close();
    server.closeAllConnections();
    server.close();
  }
});

test('a connection that pauses in the middle of a body continues with the next request', async () => {
  const pacer = createConnectionPacer({ clock: systemClock });
  const server = createServer((request: IncomingMessage, response) => {
    pacer.rest(request, 1_000_000);
    response.end('no');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const client = new Client(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  const send = async (): Promise<string> =>
    (await client.request({ path: '/', method: 'POST', body: Buffer.alloc(3_000_000) })).body.text();
  try {
    await send();
    pacer.adjust(0.001);
    assert.ok(pacer.restMs() > 0);
    assert.deepEqual([await send(), await send(), await send()], ['no', 'no', 'no']);
  } finally {
    await client.destroy();
    pacer.close();
    server.closeAllConnections();
    server.close();
  }
});

test('pauses grow to a second and end by themselves; a large body counts for more', () => {
  const pacer = createConnectionPacer({ clock: systemClock });
  const request = { socket: { destroyed: true } } as unknown as IncomingMessage;
  for (let step = 0; step < 10; step += 1) {
    for (let refusal = 0; refusal < 100; refusal += 1) pacer.rest(request, 100_000);
    pacer.adjust(0.1);
  }
  assert.equal(pacer.restMs(), 1000);
  for (let step = 0; step < 40; step += 1) {
    for (let refusal = 0; refusal < 100; refusal += 1) pacer.rest(request, 100);
    pacer.adjust(0.1);
  }
  assert.equal(pacer.restMs(), 0);
  pacer.close();
});

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { test } from 'node:test';

import { systemClock } from '../clock.ts';
import { guardConnections } from './connection-guard.ts';

/** A server whose clients must send ten bytes in 200 ms, and the whole body in time. */
async function start({ connectionsMax = 100, clock = systemClock, totalMs = 60_000, onData = (): void => {} } = {}) {
  const reasons: string[] = [];
  const server = createServer((request, response) => {
    guard.begin(request, response);
    request.on('data', onData);
    request.on('end', () => response.end('whole'));
    request.on('error', () => {});
  });
  const guard = guardConnections(server, {
    clock,
    pace: { windowMs: 200, bytesMin: 10, totalMs },
    tickMs: 20,
    connectionsMax: () => connectionsMax,
    onSlow: ({ request, reason }) => {
      reasons.push(reason);
      request.socket.destroy();
    },
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const open = async (): Promise<Socket> => {
    const socket = connect(port, '127.0.0.1');
    socket.on('error', () => {});
    await once(socket, 'connect');
    return socket;
  };
  const close = (): void => {
    guard.close();
    server.closeAllConnections();
    server.close();
  };
  return { open, reasons, [Symbol.dispose]: close };
}

/** A server that closes a connection with unread bytes resets it. This counts as a close too. */
const closed = (socket: Socket): Promise<void> =>
  new Promise((resolve) => (socket.closed ? resolve() : void socket.resume().once('close', () => resolve())));

const head = 'POST / HTTP/1.1\r\nhost: a\r\ncontent-length: 1000\r\n\r\n';

test('a body that is too slow, or stops, is reported once', async () => {
  using server = await start();
  for (const drip of ['x', '']) {
    const socket = await server.open();
    socket.write(head);
    const timer = setInterval(() => socket.write(drip), 50);
    await closed(socket);
    clearInterval(timer);
  }
  assert.equal(server.reasons.length, 2);
  for (const reason of server.reasons) assert.match(reason, /^of the body came \d bytes in 0\.2 seconds, and at least 10 are expected$/);
});

test('a body at the lowest rate is accepted until the total time is over', async () => {
  // The clock advances with each arrival, so that a busy machine does not look like a slow client.
  let nowMs = 0;
  using server = await start({ clock: { nowMs: () => nowMs, monotonicMs: () => nowMs }, totalMs: 1000, onData: () => (nowMs += 100) });
  const socket = await server.open();
  socket.write(head);
  const timer = setInterval(() => socket.write('x'.repeat(10)), 25);
  await closed(socket);
  clearInterval(timer);
  assert.deepEqual(server.reasons, ['the body was not whole after 1 seconds']);
});

test('time between requests does not count, and each body of a connection is measured on its own', async () => {
  using server = await start();
  const socket = await server.open();
  for (let request = 0; request < 2; request++) {
    socket.write(head + 'x'.repeat(1000));
    const [answer] = (await once(socket, 'data')) as [Buffer];
    assert.match(answer.toString(), /whole/);
    await new Promise((resolve) => setTimeout(resolve, 400));
  }
  assert.deepEqual(server.reasons, []);
  socket.write(head);
  await closed(socket);
  assert.equal(server.reasons.length, 1);
});

test('connections beyond the limit are closed, and existing ones stay open', async () => {
  using server = await start({ connectionsMax: 2 });
  const kept = [await server.open(), await server.open()];
  const third = await server.open();
  await closed(third);
  for (const socket of kept) {
    socket.write(head + 'x'.repeat(1000));
    assert.match(String((await once(socket, 'data'))[0]), /whole/);
  }
});

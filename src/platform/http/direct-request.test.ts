import assert from 'node:assert/strict';
import { createServer, type Server } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { after, describe, test } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';

import { DirectRequest } from './direct-request.ts';
import { readBody } from './read-body.ts';

/**
 * Answers each request with its body, or with the name of the error. A request to `/late` is read some turns of the
 * event loop later.
 */
function createEcho(): Server {
  return createServer({ IncomingMessage: DirectRequest, keepAliveTimeout: 120_000 }, (request, response) => {
    const echo = async (): Promise<void> => {
      if (request.url === '/late') for (let turn = 0; turn < 5; turn++) await nextTurn();
      try {
        response.end(await readBody(request, 1000));
      } catch (error) {
        response.statusCode = 400;
        response.end((error as { problem?: string }).problem);
      }
    };
    void echo();
  });
}

describe('bodies that are received without a stream', { timeout: 120_000 }, () => {
  const server = createEcho();
  const listening = new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  after(() => {
    server.closeAllConnections();
    server.close();
  });

  async function open(): Promise<Socket> {
    await listening;
    const socket = connect((server.address() as AddressInfo).port, '127.0.0.1');
    socket.setNoDelay(true);
    return socket;
  }

  /** Sends each piece in its own turn of the event loop. Resolves with the received text when it matches `enough`. */
  async function talk(socket: Socket, pieces: readonly string[], enough: RegExp): Promise<string> {
    let received = '';
    const done = new Promise<void>((resolve) =>
      socket.on('data', (bytes: Buffer) => {
        received += bytes.toString();
        if (enough.test(received)) resolve();
      }),
    );
    for (const piece of pieces) {
      await new Promise<void>((resolve) => void socket.write(piece, () => resolve()));
      await nextTurn();
    }
    await done;
    socket.removeAllListeners('data');
    return received;
  }

  for (const path of ['/', '/late']) {
    test(`requests follow each other on a connection, whole or in pieces (${path})`, async () => {
      const socket = await open();
      const head = `POST ${path} HTTP/1.1\r\nhost: x\r\ncontent-length: 6\r\n\r\n`;
      assert.match(await talk(socket, [`${head}whole!`], /whole!$/), /^HTTP\/1\.1 200/);
      assert.match(await talk(socket, [head, 'pie', 'ces'], /pieces$/), /^HTTP\/1\.1 200/);
      const chunked = `POST ${path} HTTP/1.1\r\nhost: x\r\ntransfer-encoding: chunked\r\n\r\n`;
      assert.match(await talk(socket, [chunked, '3\r\nchu\r\n', '4\r\nnked\r\n0\r\n\r\n'], /chunked$/), /^HTTP\/1\.1 200/);
      assert.match(await talk(socket, [`POST ${path} HTTP/1.1\r\nhost: x\r\ncontent-length: 0\r\n\r\n`], /\r\n\r\n$/), /^HTTP\/1\.1 200/);
      // Two at once: the second waits until the first is answered.
      assert.match(await talk(socket, [`${head}first!${head}second`], /second$/), /first![^]*second$/);
      socket.destroy();
    });
  }

  test('the rest of a body that is too large is discarded, and the connection stays usable', async () => {
    const socket = await open();
    const chunk = `3e8\r\n${'x'.repeat(1000)}\r\n`;
    const head = 'POST / HTTP/1.1\r\nhost: x\r\ntransfer-encoding: chunked\r\n\r\n';
    const answer = await talk(socket, [head, chunk, chunk, chunk, '0\r\n\r\n'], /too-large/);
    assert.match(answer, /^HTTP\/1\.1 400/);
    assert.match(await talk(socket, ['POST / HTTP/1.1\r\nhost: x\r\ncontent-length: 2\r\n\r\nok'], /ok$/), /200/);
    socket.destroy();
  });
});

describe('bodies whose end is held back', { timeout: 120_000 }, () => {
  /**
   * Answers with the body and the bytes that the watch saw. `/refuse` and `/refuse-late` get an error instead of the
   * body.
   */
  const server = createServer({ IncomingMessage: DirectRequest, keepAliveTimeout: 120_000 }, (request, response) => {
    if (!(request instanceof DirectRequest)) return;
    let seen = '';
    const decide = async (): Promise<void> => {
      await nextTurn();
      if (request.url?.startsWith('/refuse') === true) request.failBody(new Error('it was made before'));
      else request.endBody(Buffer.from('!'));
    };
    request.watchBody({
      piece: (bytes) => {
        seen += bytes.toString();
        return bytes.toString() === 'hidden' ? undefined : bytes;
      },
      whole: () => void decide(),
    });
    const read = async (): Promise<string> => {
      if (request.url?.endsWith('-late') === true) for (let turn = 0; turn < 20; turn += 1) await nextTurn();
      if (request.url?.startsWith('/stream') === true) return Buffer.concat(await Array.fromAsync(request)).toString();
      return (await readBody(request, 1000)).toString();
    };
    read().then(
      (body) => response.end(`<${body} of ${seen}>`),
      () => response.end('<refused>'),
    );
  });
  after(() => {
    server.closeAllConnections();
    server.close();
  });

  for (const [path, expected] of [
    ['/', '<abc! of abc>'],
    ['/stream', '<abc! of abc>'],
    ['/stream-late', '<abc! of abc>'],
    ['/late', '<abc! of abc>'],
    ['/refuse', '<refused>'],
    ['/refuse-late', '<refused>'],
  ] as const)
    test(`the connection stays usable after it (${path})`, async () => {
      await new Promise<void>((resolve) => (server.listening ? resolve() : void server.listen(0, '127.0.0.1', resolve)));
      const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
      for (let again = 0; again < 3; again += 1) {
        const answer = await fetch(`${origin}${path}`, { method: 'POST', body: 'abc' });
        assert.equal(await answer.text(), expected);
      }
    });
});

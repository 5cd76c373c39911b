import assert from 'node:assert/strict';
import { createServer, type ServerResponse } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { describe, it } from 'node:test';

import { DirectReply } from './direct-reply.ts';

type Answer = (reply: ServerResponse) => void | Promise<void>;

/** Answers requests that were sent in one piece, and returns the received bytes after the last reply. */
async function receive(answer: Answer, requests = ['GET / HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n']): Promise<string> {
  const server = createServer({ ServerResponse: DirectReply }, (_request, reply) => void answer(reply));
  server.listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  const { port } = server.address() as AddressInfo;
  const socket = connect(port, '127.0.0.1');
  socket.write(requests.join(''));
  let received = '';
  for await (const piece of socket) received += String(piece);
  await new Promise((resolve) => server.close(resolve));
  return received;
}

const bodyOf = (received: string): string => received.slice(received.indexOf('\r\n\r\n') + 4);
const nextTurn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

describe('a direct reply', () => {
  it('frames each part as one chunk, in the order of the writes', async () => {
    const received = await receive(async (reply) => {
      reply.writeHead(200, { 'content-type': 'text/plain' });
      reply.write(Buffer.from('first'));
      reply.write(Buffer.from(' second'));
      await nextTurn();
      reply.write(Buffer.from('x'.repeat(16)));
      reply.write('as text');
      reply.write(Buffer.from('y'.repeat(300)));
      await nextTurn();
      reply.write(Buffer.alloc(0));
      await nextTurn();
      reply.write(Buffer.from('z'));
      reply.end(Buffer.from('last'));
    });
    const texts = ['x'.repeat(16), 'as text', 'y'.repeat(300), 'z', 'last'];
    const expected = `first second${texts.join('')}`;
    const chunks = [...bodyOf(received).matchAll(/([0-9a-f]+)\r\n([^\r]*)\r\n/g)];
    assert.equal(chunks.map(([, , text]) => text).join(''), expected);
    for (const [, size, text = ''] of chunks) assert.equal(Number.parseInt(size ?? '', 16), text.length);
    assert.ok(received.endsWith('4\r\nlast\r\n0\r\n\r\n'));
  });

  it('keeps nothing of a head that was sent, and still knows that it was', async () => {
    const kept: unknown[] = [];
    const received = await receive(
      async (reply) => {
        reply.writeHead(200, { 'x-name': 'value' });
        reply.write(Buffer.from('first '));
        await nextTurn();
        kept.push((reply as { _header?: unknown })._header, reply.headersSent);
        assert.throws(() => reply.writeHead(500), { code: 'ERR_HTTP_HEADERS_SENT' });
        assert.throws(() => reply.setHeader('x-late', '1'), { code: 'ERR_HTTP_HEADERS_SENT' });
        reply.addTrailers({ 'x-trailer': 'end' });
        reply.end('last');
      },
      // The second reply is written before it has the connection.
      ['GET / HTTP/1.1\r\nhost: a\r\n\r\n', 'GET / HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n'],
    );
    assert.deepEqual(kept, ['sent', true, 'sent', true]);
    const replies = received.split('HTTP/1.1 ').slice(1);
    assert.equal(replies.length, 2);
    for (const text of replies)
      assert.match(text, /^200 OK\r\nx-name: value\r\n[^]*\r\nfirst \r\n4\r\nlast\r\n0\r\nx-trailer: end\r\n\r\n$/);
  });

  it('calls back for each part that has a callback', async () => {
    const called: string[] = [];
    const received = await receive(async (reply) => {
      reply.writeHead(200);
      reply.write(Buffer.from('a'));
      await nextTurn();
      const done = Promise.withResolvers<void>();
      reply.write(Buffer.from('b'), () => called.push('b'));
      assert.ok(reply instanceof DirectReply);
      reply.write(Buffer.from('c'), undefined, () => done.resolve());
      await done.promise;
      reply.end();
    });
    assert.deepEqual(called, ['b']);
    // Node may send the parts of one turn as one chunk.
    assert.match(bodyOf(received), /^1\r\na\r\n(?:1\r\nb\r\n1\r\nc|2\r\nbc)\r\n0\r\n\r\n$/);
  });

  it('sends trailers after the parts', async () => {
    const received = await receive(async (reply) => {
      reply.writeHead(200, { trailer: 'x-end' });
      reply.write(Buffer.from('a'));
      await nextTurn();
      reply.write(Buffer.from('b'));
      reply.addTrailers({ 'x-end': 'yes' });
      reply.end();
    });
    assert.ok(received.endsWith('1\r\na\r\n1\r\nb\r\n0\r\nx-end: yes\r\n\r\n'));
  });

  it('does not frame a body with a declared length', async () => {
    const received = await receive(async (reply) => {
      reply.writeHead(200, { 'content-length': '4' });
      reply.write(Buffer.from('ab'));
      await nextTurn();
      reply.write(Buffer.from('cd'));
      reply.end();
    });
    assert.equal(bodyOf(received), 'abcd');
  });

  it('sends nothing after its end', async () => {
    const received = await receive(async (reply) => {
      reply.on('error', () => {});
      reply.write(Buffer.from('a'));
      await nextTurn();
      reply.end(Buffer.from('b'));
      reply.write(Buffer.from('c'));
    });
    assert.ok(received.endsWith('1\r\nb\r\n0\r\n\r\n'));
  });

  it('waits for the reply before it on its connection', async () => {
    let firstReply: ServerResponse | undefined;
    const received = await receive(
      async (reply) => {
        if (firstReply === undefined) {
          firstReply = reply;
          reply.write(Buffer.from('one'));
          return;
        }
        reply.write(Buffer.from('three'));
        await nextTurn();
        reply.write(Buffer.from('four'));
        firstReply.write(Buffer.from('two'));
        firstReply.end();
        reply.end();
      },
      ['GET / HTTP/1.1\r\nhost: a\r\n\r\n', 'GET / HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n'],
    );
    const places = ['one', 'two', '0\r\n\r\n', 'three', 'four'].map((text) => received.indexOf(text));
    assert.deepEqual(
      places,
      places.toSorted((a, b) => a - b),
    );
    assert.ok(!places.includes(-1));
  });

  it('has no room while its client does not read, and reports room when the client reads on', async () => {
    let drains = 0;
    let refused = 0;
    const part = Buffer.alloc(60_000, '#');
    const wanted = 200;
    const received = await receive(async (reply) => {
      const send = (left: number): void => {
        for (let count = left; count > 0; count--) {
          if (reply.write(part)) continue;
          refused += 1;
          reply.once('drain', () => {
            drains += 1;
            setImmediate(send, count - 1);
          });
          return;
        }
        reply.end();
      };
      reply.writeHead(200);
      reply.write(part);
      await nextTurn();
      send(wanted - 1);
    });
    assert.equal(received.split('#').length - 1, wanted * part.length);
    assert.ok(refused > 0);
    assert.equal(drains, refused);
  });
});

import assert from 'node:assert/strict';
import { test } from 'node:test';

import { fastify } from 'fastify';

import { sendStream } from './answer.ts';

const pieceBytes = 200_000;
const pieces = 60;

test('pieces that an answer owns are freed when they were sent, and arrive whole, also at a slow reader', async () => {
  const made: Uint8Array[] = [];
  let heldMost = 0;
  async function* make(): AsyncGenerator<Uint8Array> {
    for (let index = 0; index < pieces; index += 1) {
      const piece = new Uint8Array(pieceBytes).fill(index);
      made.push(piece);
      heldMost = Math.max(heldMost, made.filter(({ byteLength }) => byteLength > 0).length);
      yield piece;
    }
  }
  const app = fastify();
  app.get('/', (_request, reply) => sendStream(reply, { stream: make(), contentType: 'text/csv', ownsPieces: true }));
  const address = await app.listen({ host: '127.0.0.1', port: 0 });
  try {
    const { body } = await fetch(address);
    let read = 0;
    for await (const part of body ?? assert.fail()) {
      for (const byte of part) {
        if (byte !== Math.floor(read / pieceBytes)) assert.fail(`byte ${read} is ${byte}`);
        read += 1;
      }
      await new Promise((resolve) => setImmediate(resolve));
    }
    assert.equal(read, pieces * pieceBytes);
    assert.ok(heldMost < pieces / 2, `${heldMost} of ${pieces} pieces were held`);
  } finally {
    await app.close();
  }
});

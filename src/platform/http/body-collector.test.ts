import assert from 'node:assert/strict';
import { describe, test } from 'node:test';

import { BodyCollector } from './body-collector.ts';

const canFree = 'transfer' in ArrayBuffer.prototype;

/** Bytes whose order shows. */
const bytesOf = (length: number): Buffer => Buffer.from(Array.from({ length }, (_, index) => (index * 7) % 251));

/** Copies of the parts of a body, each in memory of its own. */
function cut(body: Buffer, pieceBytes: number): Buffer[] {
  const pieces: Buffer[] = [];
  for (let at = 0; at < body.length; at += pieceBytes) {
    const part = body.subarray(at, at + pieceBytes);
    const piece = Buffer.allocUnsafeSlow(part.length);
    part.copy(piece);
    pieces.push(piece);
  }
  return pieces;
}

async function collect(pieces: readonly Buffer[], declared: number, ownsPieces: boolean): Promise<Buffer> {
  const collector = new BodyCollector(declared);
  collector.ownsPieces = ownsPieces;
  for (const piece of pieces) collector.add(piece);
  return await collector.finish();
}

describe('collecting a body', () => {
  for (const length of [0, 1, 1000, 32 * 1024, 32 * 1024 + 1, 100_000, 300_001])
    for (const pieceBytes of [1000, 65_536])
      for (const isDeclared of [true, false])
        test(`${length} bytes in pieces of ${pieceBytes}, ${isDeclared ? 'declared' : 'of unknown length'}, stay the same`, async () => {
          const body = bytesOf(length);
          for (const ownsPieces of [true, false]) {
            const collected = await collect(cut(body, pieceBytes), isDeclared ? length : 0, ownsPieces);
            assert.ok(collected.equals(body));
          }
        });

  test('a body that ends before its declared length has only what arrived', async () => {
    const body = bytesOf(50_000);
    assert.ok((await collect(cut(body, 1000), 100_000, false)).equals(body));
  });

  test('no memory is taken for a body that is declared and does not arrive', () => {
    const before = process.memoryUsage().arrayBuffers;
    const collectors = Array.from({ length: 20 }, () => new BodyCollector(8 * 1024 * 1024));
    for (const collector of collectors) collector.add(Buffer.alloc(100));
    assert.ok(process.memoryUsage().arrayBuffers - before < 1024 * 1024);
    assert.equal(collectors[0]?.length, 100);
  });

  test('pieces are freed when they are copied, if they belong to the collector', { skip: !canFree }, async () => {
    for (const ownsPieces of [true, false]) {
      const pieces = cut(bytesOf(200_000), 65_536);
      assert.equal((await collect(pieces, 200_000, ownsPieces)).length, 200_000);
      assert.ok(pieces.every((piece) => (piece.length === 0) === ownsPieces));
    }
  });

  test('a body in one piece is not copied', async () => {
    const [piece = Buffer.alloc(0)] = cut(bytesOf(60_000), 60_000);
    assert.equal(await collect([piece], 60_000, true), piece);
    assert.equal(piece.length, 60_000);
  });
});

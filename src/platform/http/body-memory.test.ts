import assert from 'node:assert/strict';
import { describe, test } from 'node:test';

import { BytePieces } from '../byte-pieces.ts';
import { freeMemory, freePiece, freeTogether, lendMemory, ownMemory } from './body-memory.ts';

const kib = 1024;
const canFree = 'transfer' in ArrayBuffer.prototype;
const skip = canFree ? false : 'this version of Node cannot free memory';

describe('memory of bodies', { skip }, () => {
  test('every view of freed memory is empty', () => {
    const bytes = ownMemory(Buffer.allocUnsafeSlow(64 * kib).fill('x'));
    const view = bytes.subarray(10, 20);
    freeMemory(bytes);
    assert.deepEqual([bytes.length, view.length, view.toString()], [0, 0, '']);
    freeMemory(bytes);
  });

  test('memory that is lent is freed when the last borrower returns it', () => {
    const bytes = ownMemory(Buffer.allocUnsafeSlow(64 * kib).fill('x'));
    const edited = new BytePieces([bytes.subarray(0, 5), Buffer.from('new'), bytes.subarray(7)]);
    const [first, second] = [lendMemory(edited), lendMemory(bytes)];
    freeMemory(bytes);
    first?.();
    assert.equal(bytes.toString('latin1', 0, 3), 'xxx');
    second?.();
    assert.equal(bytes.length, 0);
  });

  test('returning memory does not free it while its call may send it again', () => {
    const bytes = ownMemory(Buffer.allocUnsafeSlow(64 * kib));
    lendMemory(bytes)?.();
    assert.equal(bytes.length, 64 * kib);
    lendMemory(bytes)?.();
    freeMemory(bytes);
    assert.equal(bytes.length, 0);
  });

  test('memory that was not registered, is small or is shared stays', () => {
    const foreign = Buffer.allocUnsafeSlow(64 * kib);
    freeMemory(foreign);
    assert.equal(foreign.length, 64 * kib);
    assert.equal(lendMemory(foreign), undefined);
    const small = ownMemory(Buffer.allocUnsafeSlow(32 * kib));
    freeMemory(small);
    assert.equal(small.length, 32 * kib);
    const shared = ownMemory(Buffer.allocUnsafeSlow(128 * kib).subarray(64 * kib));
    freeMemory(shared);
    assert.equal(shared.length, 64 * kib);
  });

  test('a piece is freed if nothing else lies in its memory', () => {
    const own = Buffer.allocUnsafeSlow(kib);
    freePiece(own);
    assert.equal(own.length, 0);
    const shared = Buffer.allocUnsafeSlow(2 * kib).subarray(0, kib);
    freePiece(shared);
    assert.equal(shared.length, kib);
  });

  test('memory that belongs to a body is freed with it, and not while it is lent', () => {
    const bytes = ownMemory(Buffer.allocUnsafeSlow(64 * kib));
    const nodes = new Int32Array(1000);
    freeTogether(bytes, nodes.buffer);
    const giveBack = lendMemory(bytes);
    freeMemory(bytes);
    assert.equal(nodes.length, 1000);
    giveBack?.();
    assert.equal(nodes.length, 0);
  });

  test('memory that belongs to an unregistered body stays', () => {
    const nodes = new Int32Array(1000);
    const bytes = Buffer.allocUnsafeSlow(64 * kib);
    freeTogether(bytes, nodes.buffer);
    freeMemory(bytes);
    assert.equal(nodes.length, 1000);
  });

  test('freed memory is no longer counted', () => {
    const before = process.memoryUsage().arrayBuffers;
    for (let round = 0; round < 50; round++) freeMemory(ownMemory(Buffer.allocUnsafeSlow(1024 * kib)));
    assert.ok(process.memoryUsage().arrayBuffers - before < 5 * 1024 * kib);
  });
});

import assert from 'node:assert/strict';
import { test } from 'node:test';

import { BytePieces, joinBytes, piecesOf } from './byte-pieces.ts';

test('pieces have the bytes and the length of their parts, and are copied only when they are joined', () => {
  const [first, second] = [Buffer.from('grü'), Buffer.from('n')];
  const bytes = new BytePieces([first, Buffer.alloc(0), second]);
  assert.equal(bytes.length, 5);
  assert.equal(bytes.toString(), 'grün');
  assert.deepEqual(joinBytes(bytes), Buffer.from('grün'));
  assert.equal(piecesOf(bytes)[0], first);
});

test('bytes in one place are not copied', () => {
  const bytes = Buffer.from('{}');
  assert.equal(joinBytes(bytes), bytes);
  assert.deepEqual(piecesOf(bytes), [bytes]);
});

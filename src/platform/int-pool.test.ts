import assert from 'node:assert/strict';
import { test } from 'node:test';

import { copyInts, growInts } from './int-pool.ts';

const range = (from: number, length: number): Int32Array => Int32Array.from({ length }, (_, at) => from + at);

test('copies keep their integers, whatever is copied after them', () => {
  const sizes = Array.from({ length: 400 }, (_, at) => (at * 37) % 1500);
  const copies = sizes.map((size, at) => copyInts(range(at * 2000, size)));
  for (const [at, copy] of copies.entries()) assert.deepEqual(copy, range(at * 2000, sizes[at] ?? 0));
});

test('a copy that grows takes its integers along, and leaves those of its neighbours', () => {
  const [before, short, after] = [copyInts(range(0, 5)), copyInts(range(100, 5)), copyInts(range(200, 5))];
  const grown = growInts(short, 12);
  assert.deepEqual([...grown], [100, 101, 102, 103, 104, 0, 0, 0, 0, 0, 0, 0]);
  const twice = growInts(grown.fill(7), 20);
  assert.deepEqual([...twice], [...Array.from({ length: 12 }, () => 7), ...Array.from({ length: 8 }, () => 0)]);
  assert.deepEqual([...before, ...after], [0, 1, 2, 3, 4, 200, 201, 202, 203, 204]);
});

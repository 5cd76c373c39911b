import assert from 'node:assert/strict';
import { test } from 'node:test';

import { findLineEnd } from './find-line-end.ts';

test('the first CR or LF is found at any distance, from any start', () => {
  for (const end of ['\n', '\r', '\r\n', '\n\r']) {
    for (const before of [0, 1, 63, 64, 65, 4095, 4096, 4159, 4160, 4161, 10_000]) {
      const bytes = Buffer.from(`ab${'x'.repeat(before)}${end}${'y'.repeat(before)}\n`);
      assert.equal(findLineEnd(bytes, 2), 2 + before, `${JSON.stringify(end)} after ${before} bytes`);
      assert.equal(findLineEnd(bytes, 0), 2 + before);
      assert.equal(findLineEnd(bytes, 2 + before + end.length), bytes.length - 1);
    }
  }
});

test('without a line end the answer is the length', () => {
  for (const length of [0, 1, 64, 5000]) assert.equal(findLineEnd(Buffer.alloc(length, 0x61), 0), length);
});

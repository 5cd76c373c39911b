import assert from 'node:assert/strict';
import { test } from 'node:test';

import { countOf } from './numbers.ts';

test('one thing has the word of one', () => {
  assert.deepEqual(
    [0, 1, 2, 88_102].map((count) => countOf(count, 'call')),
    ['0 calls', '1 call', '2 calls', '88\u00a0102 calls'],
  );
  assert.equal(countOf(2, 'reply', 'replies'), '2 replies');
});

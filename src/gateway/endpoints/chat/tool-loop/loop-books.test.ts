import assert from 'node:assert/strict';
import { test } from 'node:test';

import { meterNames } from '../../../../inference/meters.ts';
import { sumUsage } from './loop-books.ts';

for (const meter of meterNames)
  test(`the sum of rounds includes ${meter}`, () => {
    assert.deepEqual(sumUsage([{ [meter]: 2 }, {}, { [meter]: 3 }]), { [meter]: 5 });
  });

test('a count that no round reported stays unknown, and a reported zero stays zero', () => {
  assert.deepEqual(sumUsage([{ outputTokens: 0 }, {}]), { outputTokens: 0 });
});

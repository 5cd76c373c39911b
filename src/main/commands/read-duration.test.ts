import assert from 'node:assert/strict';
import { test } from 'node:test';

import { readDuration } from './read-duration.ts';

const day = 86_400_000;

test('a duration is a number with a unit, or 0', () => {
  const texts = ['0', '90s', '30m', '12h', '7d'];
  assert.deepEqual(
    texts.map((text) => readDuration('--x', text)),
    [0, 90_000, 1_800_000, 43_200_000, 7 * day],
  );
});

test('anything else is refused with the option, the right form and the longest time', () => {
  for (const text of ['', '7', 'd', '-1d', '1.5h', '7w', '99999999999d'])
    assert.throws(() => readDuration('--expires', text), { message: /^--expires must be a time such as .* at most ten years; got "/ });
  assert.equal(readDuration('--overlap', '90d', 90 * day), 90 * day);
  assert.throws(() => readDuration('--overlap', '91d', 90 * day), { message: /^--overlap must be .* of at most 90d; got "91d"$/ });
});

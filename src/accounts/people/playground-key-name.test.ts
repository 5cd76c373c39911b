import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { test } from 'node:test';

import { isPlaygroundKey, playgroundKeyName, playgroundLifeMs } from './playground-key-name.ts';

const made = {
  name: playgroundKeyName(randomBytes),
  createdAtMs: 5,
  limits: { spendTotal: '1', expiresAtMs: 5 + playgroundLifeMs },
};

test('a key with a name, a bound and an end of the playground is one of the playground', () => {
  assert.equal(isPlaygroundKey(made), true);
});

test('a key that somebody made is not, whatever one of them looks like', () => {
  const others = [
    { ...made, name: 'playground' },
    { ...made, name: 'playground-of-the-team' },
    { ...made, limits: { spendTotal: '1' } },
    { ...made, limits: { spendTotal: '1', expiresAtMs: 6 + playgroundLifeMs } },
    { ...made, limits: { expiresAtMs: 6 } },
    { name: made.name, createdAtMs: 5 },
  ];
  for (const other of others) assert.equal(isPlaygroundKey(other), false, JSON.stringify(other));
});

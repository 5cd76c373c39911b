import assert from 'node:assert/strict';
import { test } from 'node:test';

import { createExpiryCondition } from './find-expiring.ts';

const nowMs = Date.UTC(2026, 10, 26);
const dayMs = 86_400_000;

async function find(expiresAtMs: number, disabledAtMs?: number, more: object = {}) {
  const limits = { expiresAtMs };
  const key = {
    id: 'k',
    userId: 'u',
    userName: 'ann',
    name: 'ci',
    hint: 'abcd',
    hash: 'h',
    createdAtMs: 1,
    strictTranslation: false,
    limits,
    ...more,
  };
  const condition = createExpiryCondition(
    {
      listUsers: async () => [{ id: 'u', name: 'ann', createdAtMs: 1, limits }],
      listLimitedApiKeys: async () => [{ ...key, ...(disabledAtMs === undefined ? {} : { disabledAtMs }) }],
      listBillingTokens: async () => [{ id: 't', name: 'sheet', createdAtMs: 1, expiresAtMs }],
    },
    () => ({ expiryDays: [7, 1] }),
  );
  return await condition.find({ nowMs, observations: [] });
}

for (const [days, threshold] of [
  [8, undefined],
  [7, 7],
  [1.5, 7],
  [1, 1],
  [0, 0],
  [-6.9, 0],
  [-7, undefined],
] as const)
  test(`a key that expires in ${days} days reaches the threshold ${threshold}`, async () => {
    const found = await find(nowMs + days * dayMs);
    assert.deepEqual(
      found.map((each) => [each.subject, each.threshold]),
      threshold === undefined ? [] : ['user:ann', 'key:k', 'token:t'].map((subject) => [subject, threshold]),
    );
  });

test('a disabled key is not missed', async () => {
  assert.deepEqual(
    (await find(nowMs + dayMs, 5)).map(({ subject }) => subject),
    ['user:ann', 'token:t'],
  );
});

test('a key of the playground, which ends within hours, is not missed', async () => {
  const expiresAtMs = nowMs + dayMs / 4;
  const playground = { name: 'playground-Ab_3-xyz', createdAtMs: nowMs, limits: { spendTotal: '1', expiresAtMs } };
  assert.deepEqual(
    (await find(expiresAtMs, undefined, playground)).map(({ subject }) => subject),
    ['user:ann', 'token:t'],
  );
});

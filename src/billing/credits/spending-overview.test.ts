import assert from 'node:assert/strict';
import { test } from 'node:test';

import type { Pot } from './pots.ts';
import { createSpendingReader } from './spending-overview.ts';

const nowMs = Date.UTC(2026, 10, 22, 12);

function reader(limitOf: (pot: Pot) => bigint | undefined) {
  const queried: string[] = [];
  const store = {
    readPots: async (pots: readonly Pot[]) =>
      pots.map((pot) => {
        queried.push(pot.id);
        return { pot, limitNanoUsd: limitOf(pot), spentNanoUsd: 3n, leasedNanoUsd: 1n, videosNanoUsd: 4n };
      }),
  };
  return { queried, ...createSpendingReader({ store }) };
}

const payer = { id: 'key_1', userName: 'ann' };

test('a payer without limits causes no query', async () => {
  const { read, queried } = reader(() => 10n);
  assert.deepEqual(await read(payer, nowMs), { limits: [] });
  assert.deepEqual(queried, []);
});

test('a balance and the limits of key and user, each with its reserve and its end', async () => {
  const { read } = reader(() => 10n);
  const overview = await read(
    { ...payer, limits: { spendPerDay: '1', spendTotal: '9' }, userLimits: { prepaid: true, spendPerMonth: '5' } },
    nowMs,
  );
  const amounts = { limitNanoUsd: 10n, spentNanoUsd: 3n, reservedNanoUsd: 5n, videosNanoUsd: 4n };
  assert.deepEqual(overview, {
    balance: { scope: 'user', balanceNanoUsd: 10n, reservedNanoUsd: 5n, videosNanoUsd: 4n },
    limits: [
      { scope: 'key', period: 'day', ...amounts, resetsAtMs: Date.UTC(2026, 10, 23) },
      { scope: 'key', period: 'total', ...amounts },
      { scope: 'user', period: 'month', ...amounts, resetsAtMs: Date.UTC(2026, 11, 1) },
    ],
  });
});

test('a limit that was removed meanwhile is not shown', async () => {
  const { read } = reader(() => undefined);
  assert.deepEqual(await read({ ...payer, limits: { spendPerDay: '1' } }, nowMs), { limits: [] });
});

import assert from 'node:assert/strict';
import { test } from 'node:test';

import type { HourlySpend } from '../alert-store.ts';
import { defaultThresholds } from './condition.ts';
import { createUsageCondition } from './find-usage.ts';

const nowMs = Date.UTC(2026, 10, 26, 12, 30);
const hour = Math.floor(nowMs / 3_600_000);
const usd = (amount: number): bigint => BigInt(Math.round(amount * 1e9));
const spent = (userName: string, hoursAgo: number, amount: number): HourlySpend => ({
  userName,
  hour: hour - hoursAgo,
  nanoUsd: usd(amount),
});

async function find(spend: readonly HourlySpend[], balances: Readonly<Record<string, number>> = {}, videos = 0) {
  const condition = createUsageCondition(
    {
      listHourlySpend: async (fromHour) => spend.filter((each) => each.hour >= fromHour),
      listUsers: async () =>
        Object.keys({ ...balances, paid: 1 }).map((name) => ({ id: name, name, createdAtMs: 1, limits: { prepaid: true } })),
      readBalances: async () =>
        Object.entries(balances).map(([userName, amount]) => {
          return { owner: { level: 'user', userName }, balanceNanoUsd: usd(amount), leasedNanoUsd: 0n, videosNanoUsd: usd(videos) };
        }),
    },
    () => defaultThresholds,
  );
  return await condition.find({ nowMs, observations: [] });
}

test('an hour is unusual above three times the busiest of the seven days before, and not below the least amount', async () => {
  const week = [spent('ann', 1, 4), spent('ann', 100, 5), spent('ann', 169, 100)];
  assert.deepEqual(await find([...week, spent('ann', 0, 15)]), []);
  const [found] = await find([...week, spent('ann', 0, 15.01)]);
  assert.deepEqual([found?.rule, found?.subject, found?.period], ['spend_rate', 'user:ann', '2026-11-26']);
  assert.match(found?.summary ?? '', /15\.01 USD in this hour; the busiest hour of the last seven days had 5 USD/);
  assert.deepEqual(await find([spent('ann', 5, 1), spent('ann', 0, 9.99)]), []);
});

test('a user without earlier spending has no usual rate', async () => {
  assert.deepEqual(await find([spent('new', 0, 500)]), []);
});

for (const [balance, threshold, severity] of [
  [70, undefined, undefined],
  [69, 7, 'warning'],
  [20, 7, 'warning'],
  [19, 2, 'critical'],
  [0, 0, 'critical'],
  [-3, 0, 'critical'],
] as const)
  test(`a balance of ${balance} USD at 10 USD a day is announced with ${threshold} days`, async () => {
    const [found] = await find([spent('ann', 20, 70)], { ann: balance });
    assert.deepEqual([found?.threshold, found?.severity], [threshold, severity]);
  });

test('unfinished videos reduce the balance, and without spending only an empty balance is a problem', async () => {
  assert.equal((await find([], { ann: 5 }, 5))[0]?.threshold, 0);
  assert.deepEqual(await find([], { ann: 0.01 }), []);
});

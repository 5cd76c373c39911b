import assert from 'node:assert/strict';
import { test } from 'node:test';

import type { PotOwner } from '../../billing/credits/pots.ts';
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
      listTeams: async () => [],
      readOrganization: async () => ({}),
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

test('the balance of a team lasts for the spending of its users that are not prepaid themselves, that of the organization for the rest', async () => {
  const prepaid = { prepaid: true } as const;
  const plain = { createdAtMs: 1 };
  const balance = (owner: PotOwner, amount: number) => ({ owner, balanceNanoUsd: usd(amount), leasedNanoUsd: 0n, videosNanoUsd: 0n });
  const condition = createUsageCondition(
    {
      listHourlySpend: async () => [spent('ann', 20, 70), spent('bob', 20, 700), spent('cat', 20, 70)],
      listUsers: async () => [
        { ...plain, id: 'ann', name: 'ann', team: 'research' },
        { ...plain, id: 'bob', name: 'bob', team: 'research', limits: prepaid },
        { ...plain, id: 'cat', name: 'cat' },
      ],
      listTeams: async () => [{ ...plain, id: 't', name: 'research', limits: prepaid }],
      readOrganization: async () => ({ limits: prepaid }),
      readBalances: async () => [
        balance({ level: 'organization' }, 15),
        balance({ level: 'team', teamId: 't' }, 65),
        balance({ level: 'user', userName: 'bob' }, 10_000),
      ],
    },
    () => defaultThresholds,
  );
  const found = await condition.find({ nowMs, observations: [] });
  assert.deepEqual(
    found.map(({ subject, summary, action }) => [subject, summary, action]),
    [
      [
        'team:t',
        'The balance of team research, 65 USD, lasts 6.5 days at the rate of the last seven days.',
        'Post a payment with weir teams top-up "research" <usd>.',
      ],
      [
        'organization:1',
        'The balance of the organization, 15 USD, lasts 1.5 days at the rate of the last seven days.',
        'Post a payment with weir organization top-up <usd>.',
      ],
    ],
  );
});

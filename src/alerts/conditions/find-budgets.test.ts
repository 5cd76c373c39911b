import assert from 'node:assert/strict';
import { test } from 'node:test';

import type { StoredApiKey, User } from '../../accounts/api-key.ts';
import type { Organization, Team } from '../../accounts/team.ts';
import type { Pot } from '../../billing/credits/pots.ts';
import { createBudgetCondition, refusedMember } from './find-budgets.ts';

const nowMs = Date.UTC(2026, 10, 26, 12);
const usd = 1_000_000_000n;
const user = (name: string, limits?: User['limits']): User => ({
  id: name,
  name,
  createdAtMs: 1,
  ...(limits === undefined ? {} : { limits }),
});
const key = (id: string, more: Partial<StoredApiKey> = {}): StoredApiKey => {
  return {
    id,
    userId: 'ann',
    userName: 'ann',
    name: `name-${id}`,
    hint: 'abcd',
    hash: id,
    createdAtMs: 1,
    strictTranslation: false,
    ...more,
  };
};

/** Finds budgets of a store whose pots have these amounts in USD. */
async function find(
  {
    users = [],
    keys = [],
    teams = [],
    organization = {},
  }: {
    readonly users?: readonly User[];
    readonly keys?: readonly StoredApiKey[];
    readonly teams?: readonly Team[];
    readonly organization?: Organization;
  },
  spent: Readonly<Record<string, number>>,
  refused: readonly string[] = [],
) {
  const read: (readonly Pot[])[] = [];
  const condition = createBudgetCondition(
    {
      listUsers: async () => users,
      listTeams: async () => teams,
      readOrganization: async () => organization,
      listLimitedApiKeys: async () => keys,
      readPots: async (pots) => {
        read.push(pots);
        return pots.map((pot) => ({
          pot,
          limitNanoUsd: 10n * usd,
          spentNanoUsd: BigInt(Math.round((spent[pot.id] ?? 0) * 1e9)),
          leasedNanoUsd: 5n * usd,
          videosNanoUsd: 0n,
        }));
      },
    },
    () => ({ budgetPercents: [50, 80, 95, 100] }),
  );
  const observations = refused.map((subject) => ({ rule: 'budget', subject, member: refusedMember, state: 'bad' }) as const);
  return { found: await condition.find({ nowMs, observations }), read };
}

const limited = { users: [user('ann', { spendPerMonth: '10' })] };
const pot = 'user:2026-11:ann';

for (const [spent, threshold] of [
  [4.99, undefined],
  [5, 50],
  [7.999999999, 50],
  [8, 80],
  [9.5, 95],
  [10, 100],
  [12, 100],
] as const)
  test(`10 USD of which ${spent} are spent reach the threshold ${threshold}`, async () => {
    const { found } = await find(limited, { [pot]: spent });
    assert.equal(found[0]?.threshold, threshold);
  });

test('leases do not count as spent, and the finding names amounts, period and the command', async () => {
  const { found } = await find(limited, { [pot]: 8.2 });
  assert.deepEqual(found, [
    {
      rule: 'budget',
      subject: 'user:ann',
      period: '2026-11',
      level: 2,
      threshold: 80,
      basis: '10000000000',
      severity: 'warning',
      summary: 'User ann has used 82 % of its spend limit: 8.2 of 10 USD this month.',
      action: 'Raise the limit with weir users limit "ann" --spend-per-month <usd>, or wait until 2026-12-01 (UTC).',
    },
  ]);
});

test('refused calls count as the end of a limit from 80 % on, not before', async () => {
  const [late] = (await find(limited, { [pot]: 8.5 }, [pot])).found;
  assert.deepEqual([late?.threshold, late?.severity], [100, 'critical']);
  assert.match(late?.summary ?? '', /^Calls of user ann are refused by its spend limit: 8\.5 of 10 USD/);
  assert.equal((await find(limited, { [pot]: 6 }, [pot])).found[0]?.threshold, 50);
});

test('the bound of a key of the playground is news to nobody', async () => {
  const limits = { spendTotal: '10', expiresAtMs: 3_600_000 };
  assert.deepEqual((await find({ keys: [key('a', { name: 'playground-Ab_3-xyz', limits })] }, { 'key:total:a': 10 })).found, []);
  assert.equal((await find({ keys: [key('a', { limits })] }, { 'key:total:a': 10 })).found.length, 1);
});

test('all limits of a user and its keys are read together, each once; disabled keys have none', async () => {
  const keys = [
    key('a', { limits: { spendPerDay: '10' }, userLimits: { spendPerMonth: '10' } }),
    key('b', { limits: { spendTotal: '10' }, userLimits: { spendPerMonth: '10' }, disabledAtMs: 5 }),
  ];
  const { read, found } = await find({ ...limited, keys }, { 'key:2026-11-26:a': 9.6 });
  assert.deepEqual(
    read.map((pots) => pots.map(({ id }) => id)),
    [[pot, 'key:2026-11-26:a']],
  );
  assert.match(found[0]?.summary ?? '', /^Key ann\/name-a has used 96 %/);
  assert.match(found[0]?.action ?? '', /weir keys update a --spend-per-day <usd>, or wait until 2026-11-27/);
});

test('limits of teams and of the organization are found with the name of the team', async () => {
  const teams = [{ id: 't1', name: 'research', createdAtMs: 1, limits: { spendPerMonth: '10' } }];
  const { found } = await find(
    { teams, organization: { limits: { spendTotal: '10' } } },
    { 'team:2026-11:t1': 8, 'organization:total:1': 9.6 },
  );
  assert.deepEqual(
    found.map(({ subject, summary, action }) => [subject, summary, action]),
    [
      [
        'team:t1',
        'Team research has used 80 % of its spend limit: 8 of 10 USD this month.',
        'Raise the limit with weir teams update "research" --spend-per-month <usd>, or wait until 2026-12-01 (UTC).',
      ],
      [
        'organization:1',
        'The organization has used 96 % of its spend limit: 9.6 of 10 USD in total.',
        'Raise the limit with weir organization update --spend-total <usd>.',
      ],
    ],
  );
});

test('without limits nothing is read', async () => {
  assert.deepEqual((await find({ users: [user('ann'), user('bob', { prepaid: true })] }, {})).read, []);
});

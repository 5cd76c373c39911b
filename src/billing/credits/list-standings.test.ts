import assert from 'node:assert/strict';
import { test } from 'node:test';

import type { User } from '../../accounts/api-key.ts';
import type { ListedApiKey } from '../../accounts/key-store.ts';
import { listStandings } from './list-standings.ts';

type Store = Parameters<typeof listStandings>[0];
const nowMs = Date.parse('2026-11-27T10:00:00Z');
const usd = 1_000_000_000n;
const users: readonly User[] = [
  { id: 'u1', name: 'ann', createdAtMs: 0, limits: { spendPerDay: '10', prepaid: true } },
  { id: 'u2', name: 'bob', createdAtMs: 0, limits: { spendPerMonth: '100' } },
];
const key = { id: 'k1', name: 'ci', userName: 'ann', limits: { spendTotal: '4' } } as unknown as ListedApiKey;

/** The spent part of pots, by their ids. */
const spent: Readonly<Record<string, bigint>> = {
  'user:2026-11-27:ann': 9n * usd,
  'user:2026-11:bob': 10n * usd,
  'key:total:k1': 4n * usd,
};
const limits: Readonly<Record<string, bigint>> = {
  'user:2026-11-27:ann': 10n * usd,
  'user:2026-11:bob': 100n * usd,
  'key:total:k1': 4n * usd,
  'balance:ann': 20n * usd,
  'team:2026-11:t1': 50n * usd,
};

const store: Store = {
  listUsers: async () => [...users],
  listTeams: async () => [{ id: 't1', name: 'atlas', createdAtMs: 0, limits: { spendPerMonth: '50' } }],
  readOrganization: async () => ({}),
  queryApiKeys: async (query) => (query.users === 'all' || query.users?.includes('ann') === true ? [key] : []),
  readPots: async (pots) =>
    pots.map((pot) => ({ pot, limitNanoUsd: limits[pot.id], spentNanoUsd: spent[pot.id] ?? 0n, leasedNanoUsd: 0n, videosNanoUsd: usd })),
};

test('limits and balances of all levels come nearest to their end first', async () => {
  const listed = await listStandings(store, 'all', nowMs);
  assert.deepEqual(
    listed.map(({ level, of, userName, team, key: found, leftNanoUsd }) => [level, of, found?.name ?? userName ?? team, leftNanoUsd / usd]),
    [
      ['user', 'day', 'ann', 0n],
      ['key', 'total', 'ci', 0n],
      ['user', 'month', 'bob', 89n],
      ['user', 'balance', 'ann', 19n],
      ['team', 'month', 'atlas', 49n],
    ],
  );
  assert.equal(listed.find(({ of }) => of === 'day')?.resetsAtMs, Date.parse('2026-11-28T00:00:00Z'));
  assert.equal(listed.find(({ of }) => of === 'balance')?.spentNanoUsd, undefined, 'a balance is reduced by what was spent');
});

test('a caller who sees some users sees no limit of others, of teams or of the organization', async () => {
  const listed = await listStandings(store, ['bob'], nowMs);
  assert.deepEqual(
    listed.map(({ userName, of }) => [userName, of]),
    [['bob', 'month']],
  );
});

test('bounds of keys of the playground, which end within hours, are not among the limits', async () => {
  const limits = { spendTotal: '4', expiresAtMs: nowMs + 3_600_000 };
  const playground: ListedApiKey = { ...key, name: 'playground-Ab_3-xyz', createdAtMs: nowMs, limits };
  const listed = await listStandings({ ...store, queryApiKeys: async () => [playground] }, ['ann'], nowMs);
  assert.deepEqual(
    listed.map(({ level }) => level),
    ['user', 'user'],
  );
});

import assert from 'node:assert/strict';
import { test } from 'node:test';

import type { StoredApiKey, User } from '../../accounts/api-key.ts';
import type { Organization, Team } from '../../accounts/team.ts';
import { type StandingQuestion, standingOf } from './standing.ts';

const nowMs = Date.UTC(2026, 10, 27, 12);
const usd = 1_000_000_000n;

const user: User = { id: 'u', name: 'ann', createdAtMs: 1, team: 'research', limits: { spendPerMonth: '100', requestsPerMinute: 60 } };
const key: StoredApiKey = {
  id: 'k',
  userId: 'u',
  userName: 'ann',
  name: 'ci',
  hint: 'abcd',
  hash: 'h',
  createdAtMs: 1,
  strictTranslation: false,
  limits: { spendPerDay: '10', expiresAtMs: nowMs + 5000, models: ['gpt-5*'] },
};
const team: Team = { id: 't', name: 'research', createdAtMs: 1, limits: { prepaid: true, concurrency: 4, expiresAtMs: nowMs + 9000 } };

/** Asks a store whose pots have these spent, leased and held amounts in USD. */
function ask(
  question: Partial<StandingQuestion>,
  amounts: Readonly<Record<string, readonly [limit: bigint, spent: bigint, leased: bigint, held?: bigint]>> = {},
  { teams = [team], organization = {} }: { readonly teams?: readonly Team[]; readonly organization?: Organization } = {},
) {
  const store: Parameters<typeof standingOf>[0] = {
    queryUsers: async ({ name }) => [user].filter((each) => each.name === name),
    queryApiKeys: async ({ users, ids = [] }) => [key].filter(({ userName, id }) => users.includes(userName) && ids.includes(id)),
    listTeams: async () => teams,
    readOrganization: async () => organization,
    readPots: async (pots) =>
      pots.map((pot) => {
        const [limit = 100n, spent = 0n, leased = 0n, held = 0n] = amounts[pot.id] ?? [];
        return { pot, limitNanoUsd: limit * usd, spentNanoUsd: spent * usd, leasedNanoUsd: leased * usd, videosNanoUsd: held * usd };
      }),
  };
  return standingOf(store, { userName: 'ann', ...question }, nowMs);
}

test('every amount of every level is shown with what is spent, reserved and left, of which leases take nothing, and when it is free again, the nearest to its end first', async () => {
  const standing = await ask(
    { keyId: 'k' },
    {
      'key:2026-11-27:k': [10n, 2n, 3n],
      'user:2026-11:ann': [100n, 95n, 1n],
      'balance-of-team:t': [40n, 0n, 10n],
      'organization:total:1': [8n, 9n, 0n],
    },
    { organization: { limits: { spendTotal: '8' } } },
  );
  const day = Date.UTC(2026, 10, 28);
  const month = Date.UTC(2026, 11, 1);
  assert.deepEqual(standing?.money, [
    { level: 'organization', of: 'total', limitNanoUsd: 8n * usd, spentNanoUsd: 9n * usd, reservedNanoUsd: 0n, leftNanoUsd: 0n },
    {
      level: 'user',
      of: 'month',
      limitNanoUsd: 100n * usd,
      spentNanoUsd: 95n * usd,
      reservedNanoUsd: usd,
      leftNanoUsd: 5n * usd,
      resetsAtMs: month,
    },
    {
      level: 'key',
      of: 'day',
      limitNanoUsd: 10n * usd,
      spentNanoUsd: 2n * usd,
      reservedNanoUsd: 3n * usd,
      leftNanoUsd: 8n * usd,
      resetsAtMs: day,
    },
    { level: 'team', of: 'balance', limitNanoUsd: 40n * usd, reservedNanoUsd: 10n * usd, leftNanoUsd: 40n * usd },
  ]);
  assert.deepEqual([standing.team, standing.key], ['research', { id: 'k', name: 'ci' }]);
});

test('rates and the first expiry of all levels are shown, the nearest level first', async () => {
  const standing = await ask({ keyId: 'k' });
  assert.deepEqual(standing?.rates, [
    { level: 'user', id: 'u', of: 'requests', limit: 60 },
    { level: 'team', id: 't', of: 'concurrency', limit: 4 },
  ]);
  assert.deepEqual(standing.expires, { level: 'key', atMs: nowMs + 5000 });
  assert.deepEqual((await ask({}))?.expires, { level: 'team', atMs: nowMs + 9000 });
});

test('a model is allowed, or the nearest level that does not allow it is named', async () => {
  assert.deepEqual((await ask({ keyId: 'k', model: 'gpt-5-mini' }))?.model, { name: 'gpt-5-mini' });
  assert.deepEqual((await ask({ keyId: 'k', model: 'claude' }))?.model, { name: 'claude', refusedBy: 'key' });
  assert.deepEqual((await ask({ model: 'claude' }))?.model, { name: 'claude' });
  const closed = { organization: { limits: { models: ['none'] } } };
  assert.deepEqual((await ask({ keyId: 'k', model: 'gpt-5' }, {}, closed))?.model, { name: 'gpt-5', refusedBy: 'organization' });
});

test('without limits there is nothing to show, and a foreign key or an unknown user has no standing', async () => {
  const free = await ask({}, {}, { teams: [] });
  assert.deepEqual(
    free?.money.map(({ level, of }) => [level, of]),
    [['user', 'month']],
  );
  assert.equal(free.team, undefined);
  assert.equal(await ask({ userName: 'bob' }), undefined);
  assert.equal(await ask({ keyId: 'other' }), undefined);
});

test('what unfinished videos hold is not left, and what a process leases is', async () => {
  const [month] = (await ask({}, { 'user:2026-11:ann': [100n, 3n, 90n, 7n] }))?.money ?? [];
  assert.deepEqual([month?.of, month?.reservedNanoUsd, month?.leftNanoUsd], ['month', 97n * usd, 90n * usd]);
});

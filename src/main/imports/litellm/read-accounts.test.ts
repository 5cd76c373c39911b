import assert from 'node:assert/strict';
import { test } from 'node:test';

import { createAccountPlan } from '../plan-accounts.ts';
import { createConfigPlan } from '../plan-config.ts';
import { readLiteLlmAccounts } from './read-accounts.ts';

const digest = (digit: string): string => digit.repeat(64);

function read(file: object) {
  const [plan, config] = [createAccountPlan(), createConfigPlan()];
  readLiteLlmAccounts(JSON.stringify(file), plan, config);
  return { teams: plan.teams(), users: plan.users(), keys: plan.keys(), notes: config.notes().map(({ what, why }) => `${what}: ${why}`) };
}

test('keys keep their secrets, limits and teams', () => {
  const { teams, users, keys } = read({
    teams: [{ team_id: 't1', team_alias: 'Research & Co', rpm_limit: '100', max_budget: 500, budget_duration: '30d' }],
    users: [{ user_id: 'u1', user_email: 'ann@example.com', max_budget: 10, spend: 2.5 }],
    keys: [
      {
        token: digest('a'),
        key_name: 'sk-...wXyZ',
        key_alias: 'ci',
        user_id: 'u1',
        team_id: 't1',
        models: ['gpt-5', 'claude-*'],
        tpm_limit: 2000,
        max_parallel_requests: 4,
        expires: '2027-01-01T00:00:00Z',
        budget_id: 'b1',
      },
    ],
    budgets: [{ budget_id: 'b1', max_budget: 0.1, budget_duration: '1d' }],
  });
  assert.deepEqual(teams, [{ name: 'Research - Co', limits: { requestsPerMinute: 100, spendPerMonth: '500' } }]);
  assert.deepEqual(users, [{ name: 'ann@example.com', team: 'Research - Co', limits: { spendTotal: '7.5' } }]);
  assert.deepEqual(keys, [
    {
      user: 'ann@example.com',
      name: 'ci',
      secret: { sha256: digest('a'), endsIn: 'wXyZ' },
      limits: {
        tokensPerMinute: 2000,
        concurrency: 4,
        models: ['gpt-5', 'claude-*'],
        spendPerDay: '0.1',
        expiresAtMs: Date.UTC(2027, 0, 1),
      },
      isDisabled: false,
    },
  ]);
});

test('a person with keys in two teams becomes a user in each', () => {
  const { users, keys } = read({
    teams: [
      { team_id: 'a', team_alias: 'a' },
      { team_id: 'b', team_alias: 'b' },
    ],
    keys: [
      { token: digest('1'), key_alias: 'x', user_id: 'u', team_id: 'a' },
      { token: digest('2'), key_alias: 'x', user_id: 'u', team_id: 'b' },
      { token: digest('3'), key_alias: 'x', user_id: 'u', team_id: 'b' },
    ],
  });
  assert.deepEqual(
    users.map(({ name, team }) => `${name}:${team ?? ''}`),
    ['u:a', 'u b:b'],
  );
  assert.deepEqual(
    keys.map(({ user, name }) => `${user}/${name}`),
    ['u/x', 'u b/x', 'u b/x-2'],
  );
});

test('blocked keys and keys without models are disabled, budgets of a week are named, and a key without digest is left out', () => {
  const { keys, notes } = read({
    keys: [
      { token: digest('1'), key_alias: 'blocked', blocked: true },
      { token: digest('2'), key_alias: 'closed', models: ['no-default-models'] },
      { token: digest('3'), key_alias: 'weekly', max_budget: 5, budget_duration: '7d', aliases: { a: 'b' } },
      { token: 'sk-plain', key_alias: 'odd' },
    ],
  });
  assert.deepEqual(
    keys.map(({ name, isDisabled }) => [name, isDisabled]),
    [
      ['blocked', true],
      ['closed', true],
      ['weekly', false],
    ],
  );
  const text = notes.join('\n');
  assert.match(text, /key weekly: a budget of 5 USD each 7d/);
  assert.match(text, /key weekly: aliases/);
  assert.match(text, /key odd: it has no token that is a SHA-256 digest/);
});

test('another file is refused', () => {
  assert.throws(() => read({}), /must be JSON with the lists/);
});

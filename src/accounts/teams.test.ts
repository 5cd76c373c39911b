import assert from 'node:assert/strict';
import { test } from 'node:test';
import { randomBytes } from 'node:crypto';

import { createAccounts } from './create-accounts.ts';
import { createFakeAccountsStore } from './testing/fake-accounts-store.ts';

function open() {
  const clock = { nowMs: () => 5, monotonicMs: () => 5 };
  return createAccounts({ store: createFakeAccountsStore(), clock, random: randomBytes, author: { actor: 'test', via: 'cli' } });
}

test('a team is created under a name that no other team has', async () => {
  const accounts = open();
  const team = await accounts.createTeam({ name: 'Réseau', limits: { concurrency: 2, requestsPerMinute: null } });
  assert.deepEqual(await accounts.findTeam('Re\u0301seau'), team);
  assert.deepEqual(team.limits, { concurrency: 2 });
  await assert.rejects(accounts.createTeam({ name: 'Réseau' }), { code: 'duplicate_name', message: /team named Réseau/ });
  await assert.rejects(accounts.createTeam({ name: '=x' }), { code: 'invalid_name', message: /The team name may contain only/ });
});

test('a user moves between teams, and a team with users is not deleted', async () => {
  const accounts = open();
  await accounts.createUser({ name: 'ann' });
  await assert.rejects(accounts.createUser({ name: 'ann' }), { code: 'duplicate_name' });
  await accounts.createTeam({ name: 'one' });
  await accounts.createTeam({ name: 'two' });
  await accounts.setUserTeam('ann', 'one');
  await accounts.setUserTeam('ann', 'two');
  assert.equal((await accounts.listUsers())[0]?.team, 'two');
  await assert.rejects(accounts.deleteTeam('two'), { code: 'team_in_use', message: /two has users/ });
  assert.equal(await accounts.deleteTeam('one'), true);
  assert.equal(await accounts.deleteTeam('one'), false);
  await assert.rejects(accounts.setUserTeam('ann', 'one'), { code: 'unknown_name', message: /no team named one/ });
  await assert.rejects(accounts.setUserTeam('bob', 'two'), { code: 'unknown_name', message: /no user named bob/ });
  await accounts.setUserTeam('ann', undefined);
  assert.equal(await accounts.deleteTeam('two'), true);
});

test('a key of a user in a team carries the limits of all levels', async () => {
  const accounts = open();
  const { key } = await accounts.createApiKey({ userName: 'ann', name: 'ci', tags: { project: 'x', env: 'prod' } });
  await accounts.createTeam({ name: 'one', limits: { concurrency: 2 } });
  await accounts.setUserTeam('ann', 'one');
  await accounts.changeUserLimits('ann', { concurrency: 1 });
  await accounts.changeOrganizationLimits({ concurrency: 3 });
  const found = await accounts.findApiKey({ id: key.id });
  assert.deepEqual(
    [found?.userLimits, found?.team?.limits, found?.organizationLimits],
    [{ concurrency: 1 }, { concurrency: 2 }, { concurrency: 3 }],
  );
  assert.deepEqual(found?.tags, { env: 'prod', project: 'x' });
  assert.equal(await accounts.setKeyTags(key.id, {}), true);
  assert.equal((await accounts.findApiKey({ id: key.id }))?.tags, undefined);
});

test('a team and the organization have spend limits and balances like a user', async () => {
  const accounts = open();
  await accounts.createTeam({ name: 'one', limits: { spendPerDay: '5' } });
  assert.equal(await accounts.changeTeam('one', { limits: { prepaid: true, spendPerMonth: '50' } }), true);
  assert.deepEqual((await accounts.findTeam('one'))?.limits, { spendPerDay: '5', prepaid: true, spendPerMonth: '50' });
  await accounts.changeOrganizationLimits({ spendTotal: '9' });
  assert.deepEqual((await accounts.readOrganization()).limits, { spendTotal: '9' });
});

import assert from 'node:assert/strict';
import { test } from 'node:test';

import type { StoredApiKey } from '../../src/accounts/api-key.ts';
import { changeAt } from '../../src/audit/testing/test-change.ts';
import { type StoreUnderTest, useEngine } from './store-under-test.ts';

/** The contract of every store for teams, the organization and the tags of keys. */
export function teamSuite(open: () => Promise<StoreUnderTest>): void {
  const engine = useEngine(open);

  async function createKey(label: string, changes: Partial<StoredApiKey> = {}): Promise<StoredApiKey> {
    const store = engine().store();
    const user = await store.ensureUser({ id: `user-${label}`, name: `user ${label}`, createdAtMs: 1 }, changeAt());
    const owner = { userId: user.id, userName: user.name };
    const key = { id: `key-${label}`, ...owner, name: 'ci', hint: 'abcd', createdAtMs: 2, strictTranslation: false, hash: `hash-${label}` };
    assert.equal(await store.insertApiKey({ ...key, ...changes }, changeAt()), true);
    return { ...key, ...changes };
  }

  test('a team has one name, is listed with its limits, and its name is free after it was deleted', async () => {
    const store = engine().store();
    const team = { id: 'team-a', name: 'research', createdAtMs: 5, limits: { requestsPerMinute: 60, upstreams: ['openai*'] } };
    assert.equal(await store.insertTeam(team, changeAt()), true);
    assert.equal(await store.insertTeam({ ...team, id: 'team-b' }, changeAt()), false);
    assert.deepEqual(await store.listTeams(), [team]);
    assert.equal(await store.changeTeam('research', { limits: { requestsPerMinute: null, spendPerDay: '5' } }, changeAt()), true);
    const limits = { upstreams: ['openai*'], spendPerDay: '5' };
    assert.deepEqual(await store.listTeams(), [{ ...team, limits }]);
    assert.equal(await store.changeTeam('nobody', { limits: { concurrency: 1 } }, changeAt()), false);
    assert.equal(await store.deleteTeam('research', changeAt()), 'deleted');
    assert.equal(await store.deleteTeam('research', changeAt()), 'missing');
    assert.deepEqual(await store.listTeams(), []);
    assert.equal(await store.insertTeam({ ...team, id: 'team-b' }, changeAt()), true);
    assert.equal(await store.deleteTeam('research', changeAt()), 'deleted');
  });

  test('keys carry the team of their owner, its limits and those of the organization, and every change is noticed', async () => {
    const store = engine().store();
    const key = await createKey('carried', { tags: { env: 'prod', project: 'search' } });
    await store.insertTeam({ id: 'team-carried', name: 'carriers', createdAtMs: 5 }, changeAt());
    const versions = [await store.keysVersion()];
    const noted = async (): Promise<StoredApiKey | undefined> => {
      const version = await store.keysVersion();
      assert.ok(version > (versions.at(-1) ?? assert.fail()), 'the version of the keys did not grow');
      versions.push(version);
      assert.deepEqual(
        (await store.listApiKeys()).find(({ id }) => id === key.id),
        await store.findApiKeyByHash(key.hash),
      );
      return await store.findApiKeyByHash(key.hash);
    };
    assert.deepEqual(await store.findApiKeyByHash(key.hash), key);
    assert.equal(await store.setUserTeam(key.userName, 'carriers', changeAt()), 'changed');
    const team = { id: 'team-carried', name: 'carriers' };
    assert.deepEqual(await noted(), { ...key, team });
    assert.equal((await store.listUsers()).find(({ id }) => id === key.userId)?.team, 'carriers');
    await store.changeTeam('carriers', { limits: { concurrency: 2 } }, changeAt());
    assert.deepEqual(await noted(), { ...key, team: { ...team, limits: { concurrency: 2 } } });
    await store.changeOrganizationLimits({ tokensPerMinute: 9 }, changeAt());
    assert.deepEqual(await noted(), { ...key, team: { ...team, limits: { concurrency: 2 } }, organizationLimits: { tokensPerMinute: 9 } });
    assert.deepEqual(await store.readOrganization(), { limits: { tokensPerMinute: 9 } });
    await store.changeOrganizationLimits({ tokensPerMinute: null }, changeAt());
    assert.deepEqual(await store.readOrganization(), {});
    assert.equal(await store.deleteTeam('carriers', changeAt()), 'in-use');
    assert.equal(await store.setUserTeam(key.userName, undefined, changeAt()), 'changed');
    assert.deepEqual(await noted(), key);
    assert.equal(await store.deleteTeam('carriers', changeAt()), 'deleted');
    assert.equal(await store.setUserTeam(key.userName, 'carriers', changeAt()), 'no-team');
    assert.equal(await store.setUserTeam('nobody', undefined, changeAt()), 'no-user');
  });

  test('tags of a key are replaced as a whole and removed', async () => {
    const store = engine().store();
    const key = await createKey('tagged');
    assert.equal(await store.setApiKeyTags(key.id, { project: 'search' }, changeAt()), true);
    assert.deepEqual((await store.findApiKeyByHash(key.hash))?.tags, { project: 'search' });
    assert.equal(await store.setApiKeyTags(key.id, {}, changeAt()), true);
    assert.deepEqual(await store.findApiKeyByHash(key.hash), key);
    assert.equal(await store.setApiKeyTags('none', {}, changeAt()), false);
  });

  test('every change of a team, of its users and of the organization is a row of the audit log', async () => {
    const store = engine().store();
    const key = await createKey('audited');
    const head = await store.auditHead();
    await store.insertTeam({ id: 'team-audited', name: 'audited', createdAtMs: 5 }, changeAt());
    // Both parts of a change are one row, and a change that changes nothing is none.
    const edit = { limits: { concurrency: 2 }, content: 'masked' } as const;
    await store.changeTeam('audited', edit, changeAt());
    await store.changeTeam('audited', edit, changeAt());
    await store.setUserTeam(key.userName, 'audited', changeAt());
    await store.setUserTeam(key.userName, undefined, changeAt());
    await store.deleteTeam('audited', changeAt());
    await store.changeOrganizationLimits({ concurrency: 3 }, changeAt());
    await store.changeOrganizationLimits({ concurrency: null }, changeAt());
    const rows = await store.readAudit(head.sequence, 100);
    const told = rows.map(({ action, subject, before, after }) => [
      action,
      subject,
      before?.includes('concurrency'),
      after?.includes('audited'),
    ]);
    assert.deepEqual(told, [
      ['teams.create', 'team:audited', undefined, true],
      ['teams.update', 'team:audited', false, true],
      ['users.update', 'user:user audited', false, true],
      ['users.update', 'user:user audited', false, true],
      ['teams.delete', 'team:audited', true, undefined],
      ['organization.update', 'organization', false, false],
      ['organization.update', 'organization', true, false],
    ]);
  });

  test('two handles that move a user and delete the team at once leave no user in a deleted team', async () => {
    const store = engine().store();
    const other = await engine().openAnother();
    for (let round = 0; round < 5; round += 1) {
      const key = await createKey(`raced-${round}`);
      const name = `raced ${round}`;
      await store.insertTeam({ id: `team-raced-${round}`, name, createdAtMs: 5 }, changeAt());
      const [moved, deleted] = await Promise.all([store.setUserTeam(key.userName, name, changeAt()), other.deleteTeam(name, changeAt())]);
      assert.ok((moved === 'changed') !== (deleted === 'deleted'), `${moved}, ${deleted}`);
      assert.equal((await store.findApiKeyByHash(key.hash))?.team?.name, moved === 'changed' ? name : undefined);
    }
  });
}

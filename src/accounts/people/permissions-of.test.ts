import assert from 'node:assert/strict';
import { test } from 'node:test';

import { type Permission, roles } from './permissions.ts';
import { narrowUsers, permissionsOf, type RoleSettings, roleSettingsDefault, usersOf } from './permissions-of.ts';

test('each setting gives one permission to one role and changes nothing else', () => {
  const gives: Record<keyof RoleSettings, readonly [role: string, permission: Permission]> = {
    ownersMakeKeys: ['owner', 'keys:write'],
    readContent: ['operator', 'content:read'],
    financePublishes: ['finance', 'prices:publish'],
  };
  for (const role of roles) {
    const before = permissionsOf({ role }, roleSettingsDefault);
    for (const [setting, [gets, permission]] of Object.entries(gives)) {
      const after = permissionsOf({ role }, { ...roleSettingsDefault, [setting]: true });
      assert.deepEqual([...after.difference(before)], role === gets ? [permission] : [], `${setting} ${role}`);
      assert.equal(before.difference(after).size, 0);
    }
  }
});

test('owners see their own users and other roles see all', () => {
  for (const role of roles) assert.deepEqual(usersOf({ role, users: ['bob'] }), role === 'owner' ? ['bob'] : 'all');
});

test('a narrower scope never has a user that either scope lacks', () => {
  assert.equal(narrowUsers('all', 'all'), 'all');
  assert.deepEqual(narrowUsers('all', ['a']), ['a']);
  assert.deepEqual(narrowUsers(['a'], 'all'), ['a']);
  assert.deepEqual(narrowUsers(['a', 'b'], ['b', 'c']), ['b']);
  assert.deepEqual(narrowUsers([], ['b']), []);
});

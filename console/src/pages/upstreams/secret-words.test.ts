import assert from 'node:assert/strict';
import { test } from 'node:test';

import { oldestSecret, type Secret, secretAge, secretState } from './secret-words.ts';

const secret = (name: string, more: Partial<Secret>): Secret => ({
  kind: 'secret',
  name,
  node: 'node-1',
  origin: 'Vault',
  identity: null,
  age_s: 5,
  read_at: null,
  changed_at: null,
  expires_at: null,
  failing_since: null,
  problem: null,
  ...more,
});

test('a secret is read, is in use although it cannot be read, or was never read', () => {
  assert.equal(secretState(secret('a', {})).word, 'read');
  assert.equal(secretState(secret('a', { problem: 'Vault is sealed' })).word, 'last value in use');
  assert.equal(secretState(secret('a', { problem: 'Vault is sealed', age_s: null })).word, 'cannot be read');
  assert.equal(secretState(secret('a', { age_s: null })).word, 'not used yet');
});

test('the oldest secret of an upstream is shown, and one that was never read before all; logins are no secrets', () => {
  const login = secret('Vault', { kind: 'login', age_s: 9000 });
  const old = secret('old', { age_s: 300 });
  const never = secret('never', { age_s: null });
  assert.equal(oldestSecret([secret('new', {}), old, login]), old);
  assert.equal(oldestSecret([old, never]), never);
  assert.equal(oldestSecret([]), undefined);
  assert.deepEqual([secretAge(old, String), secretAge(never, String)], ['300000', 'never']);
});

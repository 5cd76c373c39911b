import assert from 'node:assert/strict';
import { test } from 'node:test';

import { commandOf, ownerText, readOwner, readUsd } from './account-owner.ts';

test('an owner survives the address, also with a colon in its name', () => {
  for (const owner of [{ level: 'organization' }, { level: 'user', name: 'a:b' }, { level: 'team', name: 'organization' }] as const)
    assert.deepEqual(readOwner(ownerText(owner)), owner);
  for (const text of ['', 'user:', 'key:ann', 'ann']) assert.equal(readOwner(text), undefined);
});

test('amounts are exact to the ninth decimal, and what is no amount is none', () => {
  assert.equal(readUsd('25'), 25_000_000_000n);
  assert.equal(readUsd('-0.000000001'), -1n);
  assert.equal(readUsd('123456789012.123456789'), 123_456_789_012_123_456_789n);
  for (const text of ['', '1e3', '1,5', '.5', '0.0000000001', 'ten']) assert.equal(readUsd(text), undefined, text);
});

test('the command names the account as the command line does', () => {
  assert.equal(commandOf({ level: 'user', name: 'ann b' }, 'top-up'), "weir credits top-up 'ann b'");
  assert.equal(commandOf({ level: 'team', name: 'atlas' }, 'grant'), 'weir teams grant atlas');
  assert.equal(commandOf({ level: 'organization' }, 'correct'), 'weir organization correct');
});

import assert from 'node:assert/strict';
import { test } from 'node:test';

import { compileAddressList, parseNetwork } from './address-list.ts';

test('networks and single addresses are read, anything else is not', () => {
  for (const good of ['10.0.0.0/8', '192.0.2.7', '0.0.0.0/0', '2001:db8::/32', '::1', '::/0', '10.0.0.1/32'])
    assert.ok(parseNetwork(good) !== undefined, good);
  for (const bad of [
    '',
    '10.0.0.0/33',
    '::/129',
    '10.0.0/8',
    '10.0.0.0/',
    '10.0.0.0/-1',
    '10.0.0.0/08',
    'example.com',
    'fe80::1%eth0',
    '1.2.3.4/8/8',
  ])
    assert.equal(parseNetwork(bad), undefined, bad);
});

test('an address is recognised as within its network in every spelling', () => {
  const isListed = compileAddressList(['10.0.0.0/8', '192.0.2.7', '2001:db8::/32', 'no network']);
  for (const inside of [
    '10.0.0.0',
    '10.255.255.255',
    '192.0.2.7',
    '::ffff:10.1.2.3',
    '::FFFF:192.0.2.7',
    '2001:db8:ffff::1',
    '2001:db8::1%eth0',
  ])
    assert.equal(isListed(inside), true, inside);
  for (const outside of ['11.0.0.0', '9.255.255.255', '192.0.2.8', '::ffff:11.0.0.1', '2001:db9::1', '::1', '', 'localhost', 'no network'])
    assert.equal(isListed(outside), false, outside);
});

test('a list without networks matches no address', () => {
  assert.equal(compileAddressList([])('127.0.0.1'), false);
});

import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';

import { isPublicAddress } from './public-address.ts';

test('addresses of the public internet are public, also next to reserved networks', () => {
  const addresses = [
    '1.1.1.1 8.8.8.8 9.255.255.255 11.0.0.0 100.63.255.255 100.128.0.0 126.255.255.255 128.0.0.0',
    '169.253.255.255 169.255.0.0 172.15.255.255 172.32.0.0 192.0.1.0 192.167.255.255 192.169.0.0',
    '198.17.255.255 198.20.0.0 223.255.255.255 168.63.129.15',
    '2606:4700:4700::1111 2001:4860:4860::8888 2a00:1450:4001:80b::200e 2003::1 3ffe:ffff::1',
  ].flatMap((line) => line.split(' '));
  for (const address of addresses) assert.equal(isPublicAddress(address), true, address);
});

test('private, local, shared, special and reserved addresses are not public', () => {
  const addresses = [
    '0.0.0.0 0.255.255.255 10.0.0.0 10.255.255.255 100.64.0.0 100.100.100.200 100.127.255.255',
    '127.0.0.1 127.255.255.255 168.63.129.16 169.254.0.0 169.254.169.254 169.254.255.255',
    '172.16.0.0 172.31.255.255 192.0.0.192 192.0.2.1 192.88.99.1 192.168.0.0 192.168.255.255',
    '198.18.0.0 198.19.255.255 198.51.100.7 203.0.113.7 224.0.0.1 239.255.255.255 240.0.0.0 255.255.255.255',
    ':: ::1 ::ffff:127.0.0.1 ::ffff:8.8.8.8 ::ffff:7f00:1 ::127.0.0.1 ::8.8.8.8 ::ffff:0:8.8.8.8',
    '64:ff9b::127.0.0.1 64:ff9b::8.8.8.8 64:ff9b:1::10.0.0.1 2002:7f00:1:: 2002:808:808::1 2001::1 2001:0:8.8.8.8::',
    '2001:db8::1 3fff::1 100::1 5f00::1 fc00::1 fd00:ec2::254 fe80::1 fe80::1%eth0 fec0::1 ff02::1',
  ].flatMap((line) => line.split(' '));
  for (const address of addresses) assert.equal(isPublicAddress(address), false, address);
});

test('a text that is not an address is not public', () => {
  const texts = [
    '',
    'localhost',
    '127.1',
    '0x7f000001',
    '2130706433',
    '0177.0.0.1',
    '8.8.8',
    '8.8.8.8.8',
    ' 8.8.8.8',
    '[2606::1]',
    '2606::1%1',
  ];
  for (const text of texts) assert.equal(isPublicAddress(text), false, text);
});

const octets = fc.tuple(fc.nat(255), fc.nat(255), fc.nat(255), fc.nat(255));
const groups = fc.array(fc.nat(0xffff), { minLength: 8, maxLength: 8 });
const hex = (values: readonly number[]): string => values.map((value) => value.toString(16)).join(':');

test('an IPv4 address within an IPv6 address is never public, in any spelling', () => {
  fc.assert(
    fc.property(octets, ([a, b, c, d]) => {
      const dotted = [a, b, c, d].join('.');
      const grouped = hex([a * 256 + b, c * 256 + d]);
      for (const address of [dotted, grouped]) {
        for (const prefix of ['::', '::ffff:', '0:0:0:0:0:ffff:', '64:ff9b::', '64:ff9b:1::']) {
          assert.equal(isPublicAddress(prefix + address), false, prefix + address);
        }
      }
      assert.equal(isPublicAddress(`2002:${grouped}::1`), false);
    }),
  );
});

test('only addresses that begin with the bits 001 can be public', () => {
  fc.assert(
    fc.property(groups, (values) => {
      if (((values[0] ?? 0) & 0xe000) !== 0x2000) assert.equal(isPublicAddress(hex(values)), false, hex(values));
    }),
  );
});

import assert from 'node:assert/strict';
import type { IncomingMessage } from 'node:http';
import { test } from 'node:test';

import { compileAddressList } from './address-list.ts';
import { clientAddress } from './client-address.ts';

const request = (remoteAddress: string, forwardedFor?: string): IncomingMessage =>
  ({
    socket: { remoteAddress },
    headers: forwardedFor === undefined ? {} : { 'x-forwarded-for': forwardedFor },
  }) as unknown as IncomingMessage;

test('headers about the client are read only from trusted proxies, and only as far as they reach', () => {
  const isProxy = compileAddressList(['10.0.0.0/8', '::1']);
  const cases: readonly (readonly [from: string, header: string | undefined, address: string])[] = [
    ['192.0.2.1', '10.9.9.9', '192.0.2.1'],
    ['10.0.0.1', undefined, '10.0.0.1'],
    ['10.0.0.1', '192.0.2.1', '192.0.2.1'],
    ['10.0.0.1', '203.0.113.9, 192.0.2.1', '192.0.2.1'],
    ['::ffff:10.0.0.1', '203.0.113.9,192.0.2.1 ,10.0.0.2', '192.0.2.1'],
    ['::1', '192.0.2.1:4711', '192.0.2.1'],
    ['::1', '[2001:db8::7]:4711', '2001:db8::7'],
    ['::1', '10.0.0.7', '10.0.0.7'],
    ['::1', 'nonsense', 'nonsense'],
  ];
  for (const [from, header, address] of cases) assert.equal(clientAddress(request(from, header), isProxy), address, `${from} ${header}`);
  assert.equal(clientAddress(request('10.0.0.1', '192.0.2.1'), undefined), '10.0.0.1');
});

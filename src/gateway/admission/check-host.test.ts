import assert from 'node:assert/strict';
import { test } from 'node:test';

import { checkHost } from './read-request.ts';

test('hosts as clients write them pass', () => {
  for (const host of ['localhost', 'localhost:4000', 'gateway.example', '127.0.0.1:80', '[::1]', '[::1]:4000', 'weir_gateway-1', ''])
    checkHost({ rawHeaders: ['X-Host', 'a/b', 'Host', host, 'accept', '*/*'] });
  checkHost({ rawHeaders: [] });
});

test('host-as-path: an invalid host is refused', () => {
  for (const host of ['a/../v1?x', 'user@evil', 'a b', 'a,b', 'a#b', 'http://a', '[::1', '::1', 'a:b', 'a:123456', 'a\\b', 'ä'])
    assert.throws(() => checkHost({ rawHeaders: ['Host', host] }), { code: 'invalid_host', status: 400 }, host);
});

test('two-hosts: two headers are refused, also if they are equal', () => {
  for (const second of ['a', 'b'])
    assert.throws(() => checkHost({ rawHeaders: ['host', 'a', 'HOST', second] }), { code: 'invalid_host', message: /two/ });
});

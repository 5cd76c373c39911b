import assert from 'node:assert/strict';
import type { IncomingMessage } from 'node:http';
import { test } from 'node:test';

import { publicBaseUrl } from './public-base-url.ts';

const request = (headers: Readonly<Record<string, string>>, remoteAddress = '10.0.0.1') =>
  ({ headers, socket: { remoteAddress, localAddress: '127.0.0.1', localPort: 8080 } }) as unknown as IncomingMessage;

const isProxy = (address: string): boolean => address === '10.0.0.1';
const base = (headers: Readonly<Record<string, string>>, trusts: boolean, publicUrl?: string) =>
  publicBaseUrl(request(headers), { publicUrl, isProxy: trusts ? isProxy : undefined });

test('without a proxy the base is the host of the request', () => {
  assert.equal(base({ host: 'weir.local:8080' }, false), 'http://weir.local:8080');
  assert.equal(base({ host: '[::1]:8080' }, false), 'http://[::1]:8080');
});

test('forwarded headers count only from a trusted proxy', () => {
  const forwarded = { host: 'inside:1', 'x-forwarded-host': 'api.example', 'x-forwarded-proto': 'https' };
  assert.equal(base(forwarded, true), 'https://api.example');
  assert.equal(base(forwarded, false), 'http://inside:1');
  assert.equal(base({ ...forwarded, 'x-forwarded-host': 'api.example, other' }, true), 'https://api.example');
});

test('an invalid host never becomes part of an address', () => {
  for (const host of ['evil/path', 'a b', 'x@y', 'a?b', 'a#b', '']) assert.equal(base({ host }, false), 'http://127.0.0.1:8080', host);
  assert.equal(base({ host: 'good', 'x-forwarded-host': 'evil/"', 'x-forwarded-proto': 'javascript' }, true), 'http://good');
});

test('the configured address takes precedence', () => {
  assert.equal(base({ host: 'inside' }, true, 'https://api.example/'), 'https://api.example');
});

import assert from 'node:assert/strict';
import { test } from 'node:test';

import { readCallbackUrl } from './read-callback-url.ts';

const strict = { param: 'callback_url', allowPrivate: false };

test('an address of a public receiver is accepted, with its port, path and query', () => {
  for (const url of ['https://hooks.example/', 'https://hooks.example:8443/a?b=c', 'https://8.8.8.8/x'])
    assert.equal(readCallbackUrl(url, strict), url);
});

const refused: readonly unknown[] = [
  5,
  null,
  {},
  '',
  'hooks.example',
  '/hook',
  'http://hooks.example/',
  'ftp://hooks.example/',
  'javascript:alert(1)',
  'https://user:secret@hooks.example/',
  'https://127.0.0.1/',
  'https://127.1/',
  'https://2130706433/',
  'https://0x7f.0.0.1/',
  'https://[::1]/',
  'https://[::ffff:10.0.0.1]/',
  'https://169.254.169.254/latest',
  'https://localhost/',
  'https://a.localhost/',
  'https://printer.local/',
  'https://metadata.google.internal/',
  'https://192.168.1.1:8443/',
  `https://hooks.example/${'a'.repeat(3000)}`,
];
for (const value of refused) {
  test(`an invalid receiver is refused: ${JSON.stringify(value)?.slice(0, 60)}`, () => {
    assert.throws(() => readCallbackUrl(value, strict), { name: 'GatewayError', code: 'invalid_value', param: 'callback_url' });
  });
}

test('if private addresses are allowed, http is accepted too, but credentials are not', () => {
  const open = { param: 'callback_url', allowPrivate: true };
  for (const url of ['http://127.0.0.1:9000/', 'https://localhost/', 'http://[::1]/x']) assert.equal(readCallbackUrl(url, open), url);
  assert.throws(() => readCallbackUrl('http://user:secret@127.0.0.1/', open));
});

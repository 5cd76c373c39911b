import assert from 'node:assert/strict';
import { test } from 'node:test';

import { chooseProxy } from './choose-proxy.ts';
import { proxyFor, readEnvironmentProxies } from './environment-proxies.ts';

const read = (variables: Readonly<Record<string, string>>) => readEnvironmentProxies((name) => variables[name]);
const both = { HTTPS_PROXY: 'http://secure:3128', HTTP_PROXY: 'plain:3129' };

test('each scheme has its own proxy, and lower case comes first', () => {
  const proxies = read({ ...both, https_proxy: 'https://lower' });
  assert.equal(proxyFor('https://api.example', proxies)?.origin, 'https://lower');
  assert.equal(proxyFor('http://api.example', proxies)?.origin, 'http://plain:3129');
  assert.equal(proxyFor('http://api.example', read({ HTTPS_PROXY: 'http://secure:3128' })), undefined);
});

test('this machine is never reached through the proxy of the environment', () => {
  for (const host of ['127.0.0.1:8000', '127.9.9.9', '[::1]:8000', 'localhost:8000', 'vllm.localhost'])
    assert.equal(proxyFor(`http://${host}`, read(both)), undefined, host);
});

for (const [entry, reached, through] of [
  ['example.com', ['https://example.com', 'https://api.example.com'], ['https://notexample.com', 'https://example.com.evil']],
  ['.example.com', ['https://api.example.com'], ['https://example.org']],
  ['*.example.com', ['https://api.example.com'], ['https://example.org']],
  ['example.com:8443', ['https://example.com:8443'], ['https://example.com']],
  ['example.com:443', ['https://example.com'], ['https://example.com:8443']],
  ['EXAMPLE.com', ['https://example.com'], []],
  ['10.0.0.0/8', ['http://10.1.2.3'], ['http://11.0.0.1']],
  ['10.1.2.3', ['http://10.1.2.3:8000'], ['http://10.1.2.4']],
  ['2001:db8::/32', ['http://[2001:db8::1]'], ['http://[2001:db9::1]']],
  ['[2001:db8::1]:80', ['http://[2001:db8::1]'], ['http://[2001:db8::1]:81']],
  ['a.test, b.test c.test', ['https://a.test', 'https://b.test', 'https://c.test'], ['https://d.test']],
  ['*', ['https://anything.example'], []],
] as const) {
  test(`NO_PROXY=${entry}: only the named hosts are reached directly`, () => {
    const proxies = read({ ...both, NO_PROXY: entry });
    for (const origin of reached) assert.equal(proxyFor(origin, proxies), undefined, origin);
    for (const origin of through) assert.ok(proxyFor(origin, proxies), origin);
  });
}

test('an upstream’s own proxy beats the environment, and "none" means none', () => {
  const proxies = read({ ...both, NO_PROXY: '*' });
  assert.equal(chooseProxy('http://127.0.0.1:1', { proxy: 'http://own:1' }, proxies)?.origin, 'http://own:1');
  assert.equal(chooseProxy('https://api.example', { proxy: 'none' }, read(both)), undefined);
  assert.equal(chooseProxy('https://api.example', {}, read(both))?.origin, 'http://secure:3128');
});

test('a credential is sent and never shown, and an invalid value is refused without being repeated', () => {
  const { https } = read({ HTTPS_PROXY: 'http://us%40er:p%3Ass@proxy:3128' });
  assert.deepEqual(https, { origin: 'http://proxy:3128', authorization: `Basic ${Buffer.from('us@er:p:ss').toString('base64')}` });
  for (const value of ['socks5://user:secret@proxy', 'http://user:secret@proxy/path', 'http://user:%zz@proxy'])
    assert.throws(
      () => read({ HTTPS_PROXY: value }),
      (error: Error) => /HTTPS_PROXY must be/.test(error.message) && !/user|secret|%zz/.test(error.message),
    );
});

import assert from 'node:assert/strict';
import { test } from 'node:test';

import { StartError } from '../environment.ts';
import { formatUrl, listenError } from './listen.ts';

test('an address that cannot be used is reported with its variable', () => {
  for (const [code, words] of [
    ['EADDRINUSE', /port 8080 on 127\.0\.0\.1 is taken; set WEIR_PORT/],
    ['EACCES', /port 8080 needs rights.*set WEIR_PORT/],
    ['EADDRNOTAVAIL', /no address 127\.0\.0\.1; set WEIR_HOST/],
  ] as const) {
    const cause = Object.assign(new Error('listen'), { code });
    const told = listenError(cause, 'WEIR_PORT', '127.0.0.1', 8080);
    assert.ok(told instanceof StartError);
    assert.match(told.message, words);
    assert.equal(told.cause, cause);
  }
});

test('an unknown error is not changed', () => {
  for (const error of [new Error('x'), undefined, null, 'text', { code: 'EOTHER' }])
    assert.equal(listenError(error, 'WEIR_PORT', 'h', 1), error);
});

test('an address with colons gets its brackets', () => {
  assert.equal(formatUrl('127.0.0.1', 8080), 'http://127.0.0.1:8080');
  assert.equal(formatUrl('::1', 8080), 'http://[::1]:8080');
});

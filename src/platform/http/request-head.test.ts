import assert from 'node:assert/strict';
import { test } from 'node:test';

import { createRequestHeadEncoder } from './request-head.ts';

test('a head has its path, the host, the headers in order and the length', () => {
  const encode = createRequestHeadEncoder('api.example:8443');
  const expected = 'POST /v1/x?y=1 HTTP/1.1\r\nhost: api.example:8443\r\naccept: */*\r\nx-a: ü\r\ncontent-length: 7\r\n\r\n';
  for (let round = 0; round < 3; round++) assert.equal(encode('POST', '/v1/x?y=1', { accept: '*/*', 'x-a': 'ü' }, 7), expected);
});

test('a changed value is never written from the cache', () => {
  const encode = createRequestHeadEncoder('h');
  for (const value of ['one', 'two', 'one', 'x'.repeat(10_000)])
    assert.ok(encode('POST', '/', { authorization: value }, 0).includes(`\r\nauthorization: ${value}\r\n`));
});

test('a value that would begin another header or request is refused every time', () => {
  const encode = createRequestHeadEncoder('h');
  for (const headers of [
    { 'x-a': 'b\r\nx-c: d' },
    { 'x-a': 'b\nc' },
    { 'x-a': 'b\rc' },
    { 'x-a': 'b\0' },
    { 'x-a': '世界' },
    { 'x a': 'b' },
    { 'x-a:': 'b' },
    { '': 'b' },
    { host: 'other' },
    { 'Content-Length': '5' },
    { 'transfer-encoding': 'chunked' },
    { connection: 'close' },
  ] as Record<string, string>[]) {
    for (let round = 0; round < 2; round++) assert.throws(() => encode('POST', '/', headers, 0), TypeError, JSON.stringify(headers));
  }
  for (const path of ['', 'x', '/a b', '/a\r\nx: y', '/ä', '/a HTTP/1.1\r\n'])
    assert.throws(() => encode('POST', path, {}, 0), TypeError, path);
});

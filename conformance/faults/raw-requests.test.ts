import assert from 'node:assert/strict';
import { connect } from 'node:net';
import { after, before, describe, test } from 'node:test';
import { setImmediate } from 'node:timers/promises';

import { eventually, rawExchange } from '../support/http.ts';
import { type SimulatedWeir, startSimulatedGateway } from '../support/start-simulated-weir.ts';

const body = JSON.stringify({ model: 'claude-sonnet-4-5', max_tokens: 10, messages: [{ role: 'user', content: 'hi' }] });
const asChunks = `${body.length.toString(16)}\r\n${body}\r\n0\r\n\r\n`;
const chunked = 'transfer-encoding: chunked';

/** A request as raw bytes. `headers` follow a Host and the usual ones; null omits the header of that name. */
type Raw = {
  readonly method?: string;
  readonly target?: string;
  readonly host?: readonly string[];
  readonly credentials?: (key: string) => readonly string[];
  readonly length?: readonly string[];
  readonly headers?: readonly string[];
  readonly body?: string;
  readonly whole?: string;
};

/** The bytes that are sent, and the beginning of the answer; `served` are bytes of an upstream's reply. */
const cases: readonly (readonly [hazard: string, request: Raw, expected: RegExp])[] = [
  ['absolute-form: a gateway is not a forward proxy', { target: 'http://evil.example/v1/messages' }, /^HTTP\/1\.1 400 .*must be a path/s],
  ['asterisk-form', { target: '*' }, /^HTTP\/1\.1 400 /],
  ['authority-form', { target: 'evil.example:80' }, /^HTTP\/1\.1 400 /],
  ['a fragment', { target: '/v1/messages#/health' }, /^HTTP\/1\.1 400 .*fragment/s],
  ['raw dots do not lead to a parent folder', { target: '/v1/x/../messages' }, /^HTTP\/1\.1 404 /],
  ['escaped dots do not lead to a parent folder', { target: '/v1/%2e%2e/v1/messages' }, /^HTTP\/1\.1 404 /],
  ['an escaped slash is not a slash', { target: '/v1%2fmessages' }, /^HTTP\/1\.1 404 /],
  ['a doubled slash is not a host', { target: '//evil.example/v1/messages' }, /^HTTP\/1\.1 404 /],
  ['a backslash is not a slash', { target: '/v1\\messages' }, /^HTTP\/1\.1 404 /],
  ['two-hosts', { host: ['Host: a', 'Host: b'] }, /^HTTP\/1\.1 400 .*"type":"error".*two Host/s],
  ['two hosts, one with another spelling', { host: ['Host: a', 'hOST: a'] }, /^HTTP\/1\.1 400 .*two Host/s],
  ['no host', { host: [] }, /^HTTP\/1\.1 400 /],
  ['host-as-path', { host: ['Host: a/../v1?x'] }, /^HTTP\/1\.1 400 .*must be a host name/s],
  ['host with a user', { host: ['Host: a@evil.example'] }, /^HTTP\/1\.1 400 .*must be a host name/s],
  [
    'two-authorizations',
    { credentials: (key) => [`authorization: Bearer ${key}`, 'authorization: Bearer other'] },
    /^HTTP\/1\.1 401 .*two different/s,
  ],
  [
    'two authorizations, the wrong one first',
    { credentials: (key) => ['authorization: Bearer other', `authorization: Bearer ${key}`] },
    /^HTTP\/1\.1 401 .*two different/s,
  ],
  [
    'the same authorization twice',
    { credentials: (key) => [`authorization: Bearer ${key}`, `authorization: Bearer ${key}`] },
    /^HTTP\/1\.1 200 /,
  ],
  ['two-x-api-keys', { credentials: (key) => [`x-api-key: ${key}`, 'x-api-key: other'] }, /^HTTP\/1\.1 401 .*two different/s],
  ['joined-x-api-key', { credentials: (key) => [`x-api-key: ${key}, other`] }, /^HTTP\/1\.1 401 /],
  ['another key in the query', { target: '/v1/messages?key=other' }, /^HTTP\/1\.1 401 .*two different/s],
  [
    'another key in the trailer is ignored',
    { length: [chunked], body: `${asChunks.slice(0, -2)}authorization: Bearer other\r\nx-api-key: other\r\n\r\n` },
    /^HTTP\/1\.1 200 /,
  ],
  [
    'content-length with transfer-encoding',
    { headers: [chunked], body: '0\r\n\r\n' },
    /^HTTP\/1\.1 400 .*not a valid HTTP\/1\.1 request: .*Content-Length/s,
  ],
  ['two content-lengths', { length: [`content-length: ${body.length}`, 'content-length: 3'] }, /^HTTP\/1\.1 400 /],
  ['the same content-length twice', { length: [`content-length: ${body.length}`, `content-length: ${body.length}`] }, /^HTTP\/1\.1 400 /],
  ['a content-length with a sign', { length: [`content-length: +${body.length}`] }, /^HTTP\/1\.1 400 /],
  ['an unknown transfer-encoding', { length: ['transfer-encoding: xchunked'], body: asChunks }, /^HTTP\/1\.1 400 /],
  ['chunked that is not the last coding', { length: ['transfer-encoding: chunked, identity'], body: asChunks }, /^HTTP\/1\.1 400 /],
  ['chunked twice', { length: [chunked, chunked], body: asChunks }, /^HTTP\/1\.1 400 /],
  ['a chunk size that overflows', { length: [chunked], body: 'fffffffffffffffff\r\n' }, /^HTTP\/1\.1 400 /],
  [
    'chunk-extensions without end',
    { length: [chunked], body: `${body.length.toString(16)};${'a=b;'.repeat(20_000)}\r\n` },
    /^HTTP\/1\.1 400 /,
  ],
  [
    'trailers without end',
    { length: [chunked], body: `${asChunks.slice(0, -2)}${'x-a: b\r\n'.repeat(5000)}\r\n` },
    /^HTTP\/1\.1 431 |^HTTP\/1\.1 200 /,
  ],
  ['line feeds alone', { whole: 'GET /health HTTP/1.1\nhost: a\n\n' }, /^HTTP\/1\.1 400 /],
  ['a folded header', { headers: ['x-a: b\r\n c'] }, /^HTTP\/1\.1 400 /],
  ['a NUL in a header', { headers: ['x-a: b\0c'] }, /^HTTP\/1\.1 400 /],
  ['a space before the colon', { headers: ['x-a : b'] }, /^HTTP\/1\.1 400 /],
  ['a header of 20 KB', { headers: [`x-a: ${'a'.repeat(20_000)}`] }, /^HTTP\/1\.1 431 .*must not be larger than 16384 bytes/s],
  ['TRACE', { method: 'TRACE' }, /^HTTP\/1\.1 405 .*allow: POST/is],
  ['OPTIONS', { method: 'OPTIONS' }, /^HTTP\/1\.1 405 /],
  ['CONNECT', { method: 'CONNECT', target: 'evil.example:443' }, /^$/],
  ['the preface of HTTP/2', { whole: 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n' }, /^HTTP\/1\.1 400 /],
  [
    'an upgrade to HTTP/2, which the client of Java asks for, is ignored',
    { headers: ['upgrade: h2c', 'http2-settings: AAMA', 'connection: close, Upgrade, HTTP2-Settings'] },
    /^HTTP\/1\.1 200 .*"content":\[/s,
  ],
  [
    'an upgrade to HTTP/2 of a chunked request',
    { length: [chunked], body: asChunks, headers: ['upgrade: h2c', 'connection: close, Upgrade'] },
    /^HTTP\/1\.1 200 /,
  ],
  ['TLS on a plain port', { whole: '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03' }, /^HTTP\/1\.1 400 /],
  ['expect: 100-continue is answered', { headers: ['expect: 100-continue'] }, /^HTTP\/1\.1 100 Continue\r\n\r\nHTTP\/1\.1 200 /],
  ['another expectation', { headers: ['expect: 200-ok'] }, /^HTTP\/1\.1 417 .*must be 100-continue/s],
];

describe('requests as raw bytes', () => {
  let bench: SimulatedWeir;
  before(async () => {
    bench = await startSimulatedGateway();
  });
  after(() => bench[Symbol.asyncDispose]());

  const write = (raw: Raw): string => {
    if (raw.whole !== undefined) return raw.whole;
    const lines = [
      `${raw.method ?? 'POST'} ${raw.target ?? '/v1/messages'} HTTP/1.1`,
      ...(raw.host ?? ['Host: gateway.example']),
      'content-type: application/json',
      'anthropic-version: 2023-06-01',
      ...(raw.credentials ?? ((key) => [`authorization: Bearer ${key}`]))(bench.weir.apiKey),
      ...(raw.headers ?? []),
      ...(raw.length ?? [`content-length: ${body.length}`]),
      ...(raw.headers?.some((line) => line.startsWith('connection')) === true ? [] : ['connection: close']),
    ];
    return `${lines.join('\r\n')}\r\n\r\n${raw.body ?? body}`;
  };

  for (const [hazard, request, expected] of cases) {
    test(hazard, async () => {
      const answer = await rawExchange(bench.weir.gatewayUrl, Buffer.from(write(request), 'latin1'));
      assert.match(answer, expected);
      if (/^HTTP\/1\.1 [45]/.test(answer)) assert.doesNotMatch(answer, /"content":\[/, 'no other request was served');
    });
  }

  test('smuggling: bytes after a refused request on its connection are not served', async () => {
    const smuggled = `GET /health HTTP/1.1\r\nHost: a\r\n\r\n`;
    for (const request of [
      { headers: [chunked], body: `0\r\n\r\n${smuggled}` },
      { length: ['content-length: 3', 'content-length: 5'], body: smuggled },
    ]) {
      const answer = await rawExchange(bench.weir.gatewayUrl, write(request).replace('connection: close\r\n', ''));
      assert.equal(answer.match(/^HTTP\/1\.1 /gm)?.length, 1, answer);
    }
  });

  test('a connection whose first request asked for HTTP/2 serves the next one', async () => {
    const first = write({ headers: ['upgrade: h2c', 'http2-settings: AAMA', 'connection: Upgrade, HTTP2-Settings'] });
    const end = first.indexOf('\r\n\r\n') + 4;
    const socket = connect(Number(new URL(bench.weir.gatewayUrl).port), '127.0.0.1');
    let text = '';
    socket.on('data', (chunk: Buffer) => void (text += chunk.toString('latin1')));
    const answers = (count: number): Promise<string> =>
      eventually(
        () => text,
        (all) => all.split('"content":[').length === count + 1,
      );
    try {
      // Java sends head and body apart.
      socket.write(first.slice(0, end));
      await setImmediate();
      socket.write(first.slice(end));
      await answers(1);
      socket.write(write({}).replace('connection: close\r\n', ''));
      await answers(2);
      assert.equal(text.match(/HTTP\/1\.1 200/g)?.length, 2);
    } finally {
      socket.destroy();
    }
  });

  test('pipelined requests are answered in their order, and a flood of them blocks no other client', async () => {
    const count = 2000;
    const flood = rawExchange(bench.weir.gatewayUrl, 'GET /health HTTP/1.1\r\nHost: a\r\n\r\n'.repeat(count), {
      until: (text) => text.split('HTTP/1.1 200').length > count,
    });
    const other = await fetch(`${bench.weir.gatewayUrl}/health`);
    assert.equal(other.status, 200);
    assert.equal((await flood).match(/HTTP\/1\.1 200/g)?.length, count);
  });
});

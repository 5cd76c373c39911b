import assert from 'node:assert/strict';
import { test } from 'node:test';

import { chatDialects } from '../../../dialects/registry.ts';
import { GatewayError } from '../../../inference/gateway-error.ts';
import { createFakeExchange } from './testing/fake-exchange.ts';
import { describeUpstreamFailure, streamCut, upstreamTimeout } from './upstream-failure.ts';

const { target } = createFakeExchange({ dialect: chatDialects['openai-chat'] }).context;
const failure = (code: string, headersArrived = false) =>
  describeUpstreamFailure(Object.assign(new Error('connect to 10.0.0.7:443'), { code }), target, headersArrived);

test('an unreachable upstream is a 503 that clients may retry', () => {
  for (const code of ['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'CONNECT_TIMEOUT', 'CERT_HAS_EXPIRED']) {
    const error = failure(code);
    assert.deepEqual([error.code, error.status, error.retryAfterSeconds], ['upstream_unreachable', 503, 1], code);
    assert.equal(error.internal, `one: ${code}`);
  }
});

test('bytes that are not HTTP are the upstream’s fault', () => {
  const { code, status } = failure('INVALID_HTTP_REPLY');
  assert.deepEqual([code, status], ['upstream_invalid_reply', 502]);
});

test('a closed connection says whether a reply had begun, in words that clients retry on', () => {
  for (const code of ['ECONNRESET', 'CONNECTION_CLOSED', '']) {
    assert.match(failure(code).message, /^Upstream connection error: .*before a reply came/);
    assert.match(failure(code, true).message, /^Upstream connection error: .*terminated early/);
    assert.equal(failure(code).code, 'upstream_connection_error');
  }
});

test('no address and no name of an upstream reaches the client', () => {
  for (const code of ['ECONNREFUSED', 'INVALID_HTTP_REPLY', 'ECONNRESET']) {
    for (const arrived of [true, false]) assert.doesNotMatch(failure(code, arrived).message, /10\.0\.0\.7|\bone\b/);
  }
  assert.doesNotMatch(upstreamTimeout(target, 'reply', 5).message, /\bone\b/);
  assert.doesNotMatch(streamCut(target).message, /\bone\b/);
});

test('a worded error stays, and a thrown value that is not an error does no harm', () => {
  const worded = new GatewayError('shutting_down', 'bye');
  assert.equal(describeUpstreamFailure(worded, target, true), worded);
  for (const thrown of [undefined, null, 'text', 7, { code: 7 }])
    assert.equal(describeUpstreamFailure(thrown, target, false).code, 'upstream_connection_error');
});

test('a time-out names what the gateway waited for, in seconds or, below one, in milliseconds', () => {
  assert.match(upstreamTimeout(target, 'reply', 600_000).message, /no reply within 600 s \(timeout\)/);
  assert.match(upstreamTimeout(target, 'reply', 250).message, /no reply within 250 ms/);
  assert.equal(upstreamTimeout(target, 'reply', 250).status, 504);
});

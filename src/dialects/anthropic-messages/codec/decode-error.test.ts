import assert from 'node:assert/strict';
import { test } from 'node:test';

import { GatewayError } from '../../../inference/gateway-error.ts';
import { encodeError, encodeStreamError } from '../encode-error.ts';
import { decodeError } from './decode-error.ts';

const bodyOf = (type: string, message: string): unknown => ({ type: 'error', error: { type, message } });

for (const [status, type, code, seen] of [
  [400, 'invalid_request_error', 'upstream_refused_request', 400],
  [409, 'conflict_error', 'upstream_refused_request', 400],
  [422, 'invalid_request_error', 'upstream_refused_request', 400],
  [401, 'authentication_error', 'upstream_credentials_rejected', 503],
  [403, 'permission_error', 'upstream_permission_denied', 403],
  [402, 'billing_error', 'upstream_quota_exhausted', 503],
  [404, 'not_found_error', 'upstream_model_not_found', 404],
  [408, 'timeout_error', 'upstream_timeout', 504],
  [504, 'timeout_error', 'upstream_timeout', 504],
  [413, 'request_too_large', 'request_too_large', 413],
  [429, 'rate_limit_error', 'upstream_rate_limited', 429],
  [500, 'api_error', 'upstream_error', 500],
  [502, 'odd', 'upstream_error', 500],
  [503, 'odd', 'upstream_overloaded', 503],
  [529, 'overloaded_error', 'upstream_overloaded', 503],
  [500, 'overloaded_error', 'upstream_overloaded', 503],
  [302, 'odd', 'upstream_error', 502],
] as const) {
  test(`${status} ${type} becomes ${code}`, () => {
    const error = decodeError({ status, body: bodyOf(type, 'Why.'), retryAfterSeconds: 7 });
    assert.deepEqual([error.code, error.status, error.retryAfterSeconds], [code, seen, 7]);
  });
}

test('the vendor’s message reaches the client with limited length, unless it is about the gateway’s account', () => {
  assert.equal(decodeError({ status: 400, body: bodyOf('invalid_request_error', 'tools.0: no') }).message, 'tools.0: no');
  assert.equal(decodeError({ status: 400, body: bodyOf('invalid_request_error', 'x'.repeat(9000)) }).message.length, 2000);
  for (const [status, message] of [
    [401, 'invalid x-api-key sk-1'],
    [403, 'organization org-1 is disabled'],
    [402, 'account acc-1 owes'],
  ] as const) {
    assert.doesNotMatch(decodeError({ status, body: bodyOf('', message) }).message, /-1/);
  }
});

test('used-up credit is recognised in messages of the vendor and of imitating servers', () => {
  const vendor = bodyOf('invalid_request_error', 'Your credit balance is too low to access the API.');
  assert.equal(decodeError({ status: 400, body: vendor }).code, 'upstream_quota_exhausted');
  const imitator = { error: { code: 'insufficient_quota', message: 'You exceeded your quota.' } };
  assert.equal(decodeError({ status: 429, body: imitator }).code, 'upstream_quota_exhausted');
});

test('bodies that are not errors of this dialect are handled', () => {
  for (const body of [undefined, null, 'Bad gateway', {}, { error: 'plain words' }, { message: 'at the top' }]) {
    assert.equal(decodeError({ status: 502, body }).code, 'upstream_error');
  }
  assert.equal(decodeError({ status: 400, body: { error: 'plain words' } }).message, 'plain words');
  assert.equal(decodeError({ status: 400, body: { message: 'at the top' } }).message, 'at the top');
});

for (const [message, details] of [
  ['prompt is too long: 210000 tokens > 200000 maximum', { tokens: 210_000, tokensMax: 200_000 }],
  ['input length and `max_tokens` exceed context limit: 188,240 + 21333 > 200000, decrease', { tokens: 209_573, tokensMax: 200_000 }],
  [
    "This model's maximum context length is 8192 tokens. However, you requested 9000 tokens (8000 in the messages).",
    { tokens: 9000, tokensMax: 8192 },
  ],
  ['The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).', { tokens: 1_200_000, tokensMax: 1_048_576 }],
  ['request (9000 tokens) exceeds the available context size (4096 tokens), try increasing it', { tokens: 9000, tokensMax: 4096 }],
  ['Input is too long for requested model.', {}],
  ['Your input exceeds the context window of this model.', {}],
] as const) {
  test(`context overflow is recognised: ${message.slice(0, 60)}`, () => {
    const error = decodeError({ status: 400, body: bodyOf('invalid_request_error', message) });
    assert.deepEqual([error.code, error.status, error.details], ['context_length_exceeded', 400, details]);
  });
}

test('an ordinary refusal is not an overflow', () => {
  for (const message of ['max_tokens: 100000 > 64000, which is the maximum allowed', 'messages: too many']) {
    assert.equal(decodeError({ status: 400, body: bodyOf('invalid_request_error', message) }).code, 'upstream_refused_request');
  }
});

const written = (error: GatewayError): unknown => {
  const { status, body } = encodeError(error, 'req_1');
  const { error: expected } = JSON.parse(body.toString()) as { error: unknown };
  return { status, ...(expected as object) };
};

test('an overflow has the message that coding agents recognise, for any upstream message (field: error identity lost)', () => {
  const expected = { status: 400, type: 'invalid_request_error', code: 'context_length_exceeded' };
  const sized = new GatewayError('context_length_exceeded', 'Too many.', { details: { tokens: 210_000, tokensMax: 200_000 } });
  assert.deepEqual(written(sized), { ...expected, message: 'prompt is too long: 210000 tokens > 200000 maximum' });
  const unsized = new GatewayError('context_length_exceeded', 'Too many.', { details: {} });
  assert.deepEqual(written(unsized), { ...expected, message: 'prompt is too long: Too many.' });
  const own = new GatewayError('context_length_exceeded', 'prompt is too long: 3 > 2');
  assert.deepEqual(written(own), { ...expected, message: 'prompt is too long: 3 > 2' });
});

test('an overloaded upstream is 529 for the SDKs, and a rate limit is 429 with its seconds', () => {
  assert.deepEqual(written(new GatewayError('upstream_overloaded', 'Overloaded')), {
    status: 529,
    type: 'overloaded_error',
    code: 'upstream_overloaded',
    message: 'Overloaded',
  });
  const event = encodeStreamError(new GatewayError('upstream_overloaded', 'Overloaded'), { framing: 'sse', requestId: 'r', framesSent: 1 });
  assert.match(event.toString(), /"type":"overloaded_error"/);
  const limited = encodeError(decodeError({ status: 429, body: bodyOf('rate_limit_error', 'Slow.'), retryAfterSeconds: 3 }), 'r');
  assert.deepEqual([limited.status, limited.headers['retry-after']], [429, '3']);
});

test('an error of another gateway keeps its class', () => {
  for (const code of ['context_length_exceeded', 'upstream_overloaded', 'upstream_rate_limited', 'upstream_timeout'] as const) {
    const { status, body } = encodeError(new GatewayError(code, 'Why.'), 'req_1');
    assert.equal(decodeError({ status, body: JSON.parse(body.toString()) as unknown }).code, code);
  }
});

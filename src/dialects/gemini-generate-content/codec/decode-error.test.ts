import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ErrorCode } from '../../../inference/gateway-error.ts';
import { encodeError } from '../encode-error.ts';
import { decodeError } from './decode-error.ts';

const body = (code: number, message: string, details: readonly object[] = []): unknown => ({
  error: { code, message, status: 'X', details },
});

test('errors are classified by status, and by the vendor’s text if a status has several meanings', () => {
  const keyProblem = [{ reason: 'API_KEY_INVALID' }];
  const cases: readonly (readonly [status: number, reply: unknown, code: ErrorCode, sent: number])[] = [
    [400, body(400, 'Invalid value at contents'), 'upstream_refused_request', 400],
    [400, body(400, 'API key not valid. Please pass a valid API key.', keyProblem), 'upstream_credentials_rejected', 503],
    [400, body(400, 'API key expired. Please renew the API key.'), 'upstream_credentials_rejected', 503],
    [401, body(401, 'x'), 'upstream_credentials_rejected', 503],
    [403, body(403, 'Method doesn’t allow unregistered callers'), 'upstream_credentials_rejected', 503],
    [403, body(403, 'CachedContent not found (or permission denied)'), 'upstream_permission_denied', 403],
    [402, undefined, 'upstream_quota_exhausted', 503],
    [404, body(404, 'models/x is not found'), 'upstream_model_not_found', 404],
    [408, undefined, 'upstream_timeout', 504],
    [413, body(413, 'too large'), 'request_too_large', 413],
    [422, body(422, 'x'), 'upstream_refused_request', 400],
    [429, body(429, 'You exceeded your current quota'), 'upstream_rate_limited', 429],
    [429, body(429, 'Your prepayment credits are depleted.'), 'upstream_quota_exhausted', 503],
    [500, body(500, 'x'), 'upstream_error', 500],
    [501, undefined, 'upstream_error', 500],
    [503, body(503, 'The model is overloaded.'), 'upstream_overloaded', 503],
    [504, body(504, 'x'), 'upstream_timeout', 504],
    [529, '<html>', 'upstream_overloaded', 503],
    // Inside a 200, and in the array that answers a stream request (google-gemini/gemini-cli#25607).
    [200, body(503, 'x'), 'upstream_overloaded', 503],
    [400, [body(400, 'Invalid value')], 'upstream_refused_request', 400],
    [200, 'x', 'upstream_error', 500],
  ];
  for (const [status, reply, code, sent] of cases) {
    const error = decodeError({ status, body: reply });
    assert.deepEqual([error.code, error.status], [code, sent], JSON.stringify([status, reply]));
  }
});

test('messages about the request are passed on with limited length; those about keys and accounts are not', () => {
  assert.equal(decodeError({ status: 400, body: body(400, 'Unknown name "foo"') }).message, 'Unknown name "foo"');
  assert.equal(decodeError({ status: 400, body: body(400, 'x'.repeat(5000)) }).message.length, 2000);
  for (const status of [401, 403, 402, 500])
    assert.ok(!decodeError({ status, body: body(status, 'project 123 secret') }).message.includes('123'));
});

test('the retry delay comes from the header, or else from the details', () => {
  const details = [{ '@type': 'type.googleapis.com/google.rpc.RetryInfo', retryDelay: '34.4s' }];
  assert.equal(decodeError({ status: 429, body: body(429, 'm', details) }).retryAfterSeconds, 35);
  assert.equal(decodeError({ status: 429, body: body(429, 'm', details), retryAfterSeconds: 2 }).retryAfterSeconds, 2);
  assert.equal(decodeError({ status: 429, body: body(429, 'm') }).retryAfterSeconds, undefined);
});

test('a prompt that is too long is recognised in all wordings and reported in one that agents recognise', () => {
  const cases: readonly (readonly [string, object])[] = [
    [
      'The input token count (1048577) exceeds the maximum number of tokens allowed (1048576).',
      { tokens: 1_048_577, tokensMax: 1_048_576 },
    ],
    ['The input token count exceeds the maximum number of tokens allowed 1,048,576.', { tokensMax: 1_048_576 }],
    ['The input token count (40000) exceeds the maximum number of tokens allowed (32768)', { tokens: 40_000, tokensMax: 32_768 }],
  ];
  for (const [message, details] of cases) {
    const error = decodeError({ status: 400, body: body(400, message) });
    assert.deepEqual([error.code, error.status, error.details], ['context_length_exceeded', 400, details], message);
  }
  const wordingOf = (message: string): unknown => {
    const reply = encodeError(decodeError({ status: 400, body: body(400, message) }), 'r');
    return (JSON.parse(reply.body.toString()) as { error: { message: string; status: string } }).error;
  };
  assert.deepEqual(wordingOf(cases[0]?.[0] ?? ''), { code: 400, message: cases[0]?.[0], status: 'INVALID_ARGUMENT' });
  assert.deepEqual(wordingOf('input token count exceeds the maximum'), {
    code: 400,
    message: 'The input token count exceeds the maximum number of tokens allowed.',
    status: 'INVALID_ARGUMENT',
  });
});

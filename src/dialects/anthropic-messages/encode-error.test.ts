import assert from 'node:assert/strict';
import { test } from 'node:test';
import { GatewayError } from '../../inference/gateway-error.ts';
import { anthropicMessages } from './anthropic-messages.ts';
import { encodeError, encodeStreamError } from './encode-error.ts';
import { readError } from './read-error.ts';

const bodyOf = (error: GatewayError): unknown => JSON.parse(encodeError(error, 'req_1').body.toString());

test('the body is the vendor’s envelope with the contract’s code', () => {
  const reply = encodeError(new GatewayError('missing_required_field', 'max_tokens: Field required', { param: 'max_tokens' }), 'req_1');
  assert.equal(reply.status, 400);
  assert.deepEqual(reply.headers, { 'content-type': 'application/json', 'request-id': 'req_1' });
  assert.equal(
    reply.body.toString(),
    '{"type":"error","error":{"type":"invalid_request_error","message":"max_tokens: Field required","code":"missing_required_field"},"request_id":"req_1"}',
  );
});

test('every status has its type and stays the same', () => {
  const types: Record<number, string> = {
    400: 'invalid_request_error',
    401: 'authentication_error',
    402: 'billing_error',
    403: 'permission_error',
    404: 'not_found_error',
    405: 'invalid_request_error',
    409: 'conflict_error',
    413: 'request_too_large',
    415: 'invalid_request_error',
    426: 'invalid_request_error',
    429: 'rate_limit_error',
    500: 'server_error',
    502: 'server_error',
    503: 'overloaded_error',
    504: 'timeout_error',
    529: 'overloaded_error',
  };
  for (const [status, type] of Object.entries(types)) {
    const error = new GatewayError('upstream_error', 'No.', { status: Number(status) });
    assert.equal(encodeError(error, 'req_1').status, Number(status));
    assert.deepEqual(bodyOf(error), { type: 'error', error: { type, message: 'No.', code: 'upstream_error' }, request_id: 'req_1' });
  }
});

test('a refused thread makes the SDK continue without threads', () => {
  const error = { type: 'invalid_request_error', message: 'No threads here.', code: 'thread_unsupported' };
  const details = { error_code: 'thread_unsupported_request', unsupported: ['thread'] };
  const body = { type: 'error', error: { ...error, details }, request_id: 'req_1' };
  assert.deepEqual(bodyOf(new GatewayError('thread_unsupported', 'No threads here.')), body);
  assert.deepEqual(bodyOf(new GatewayError('thread_unsupported', 'No threads here.', { details })), body);
});

test('retry-after and other headers are sent, and cannot change the content type', () => {
  const error = new GatewayError('upstream_error', 'Slow down.', {
    status: 429,
    retryAfterSeconds: 3,
    headers: { 'x-should-retry': 'false', 'content-type': 'text/html' },
  });
  assert.deepEqual(encodeError(error, 'req_1').headers, {
    'x-should-retry': 'false',
    'retry-after': '3',
    'content-type': 'application/json',
    'request-id': 'req_1',
  });
});

test('a broken stream ends with the vendor’s error event and nothing after it', () => {
  const message = 'Upstream connection error: the stream was terminated early.';
  const error = new GatewayError('upstream_connection_error', message);
  assert.equal(
    encodeStreamError(error, { framing: 'sse', requestId: 'req_1', framesSent: 3 }).toString(),
    `event: error\ndata: {"type":"error","error":{"type":"overloaded_error","message":"${message}","code":"upstream_connection_error"},"request_id":"req_1"}\n\n`,
  );
});

test('a gateway reads the errors of another gateway', () => {
  const error = new GatewayError('upstream_timeout', 'Too late.');
  const body = bodyOf(error) as { error: unknown };
  assert.deepEqual(readError(body.error), { message: 'Too late.', status: 504 });
});

test('an error without a message says so', () => {
  assert.deepEqual(readError(undefined), { message: 'The upstream reported an error without a message.' });
  assert.deepEqual(readError({ type: 'overloaded_error' }), { message: 'overloaded_error', status: 529 });
  assert.deepEqual(readError({ message: 'x', code: 200 }), { message: 'x' });
});

test('the heartbeat is the vendor’s ping', () => {
  assert.equal(anthropicMessages.voice.heartbeat('sse').toString(), 'event: ping\ndata: {"type": "ping"}\n\n');
});

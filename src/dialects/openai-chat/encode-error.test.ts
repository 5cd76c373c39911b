import assert from 'node:assert/strict';
import { test } from 'node:test';
import { GatewayError, type ErrorCode } from '../../inference/gateway-error.ts';
import { encodeError, encodeStreamError } from './encode-error.ts';
import { openaiChat } from './openai-chat.ts';
import { readError } from './read-error.ts';

const errorOf = (error: GatewayError): unknown => (JSON.parse(encodeError(error, 'req_1').body.toString()) as { error: unknown }).error;

test('an error always has all four members', () => {
  const reply = encodeError(new GatewayError('internal_error', 'Sorry.'), 'req_1');
  assert.equal(reply.status, 500);
  assert.deepEqual(reply.headers, { 'content-type': 'application/json', 'x-request-id': 'req_1' });
  assert.equal(reply.body.toString(), '{"error":{"message":"Sorry.","type":"server_error","param":null,"code":"internal_error"}}');
});

test('the type and code match the case', () => {
  const cases: readonly [ErrorCode, number | undefined, string, string | null][] = [
    ['invalid_value', undefined, 'invalid_request_error', 'invalid_value'],
    ['missing_required_field', undefined, 'invalid_request_error', 'missing_required_parameter'],
    ['unknown_field', undefined, 'invalid_request_error', 'unknown_parameter'],
    ['invalid_json', undefined, 'invalid_request_error', 'invalid_json'],
    ['invalid_api_key', undefined, 'invalid_request_error', 'invalid_api_key'],
    ['missing_api_key', undefined, 'invalid_request_error', 'invalid_api_key'],
    ['conflicting_credentials', undefined, 'invalid_request_error', 'invalid_api_key'],
    ['model_not_found', undefined, 'invalid_request_error', 'model_not_found'],
    ['route_not_found', undefined, 'invalid_request_error', null],
    ['request_too_large', undefined, 'invalid_request_error', 'request_too_large'],
    ['upstream_error', 402, 'insufficient_quota', 'insufficient_quota'],
    ['upstream_error', 429, 'requests', 'rate_limit_exceeded'],
    ['upstream_error', undefined, 'server_error', 'upstream_error'],
    ['upstream_timeout', undefined, 'server_error', 'upstream_timeout'],
  ];
  for (const [code, status, type, vendorCode] of cases) {
    const error = new GatewayError(code, 'No.', status === undefined ? {} : { status });
    assert.deepEqual(errorOf(error), { message: 'No.', type, param: null, code: vendorCode }, code);
  }
});

test('an unknown model is a 404 with the vendor’s message', () => {
  const error = new GatewayError('model_not_found', 'Unknown model.', { param: 'model', details: { model: 'm-none' } });
  assert.equal(encodeError(error, 'req_1').status, 404);
  assert.deepEqual(errorOf(error), {
    message: 'The model `m-none` does not exist or you do not have access to it.',
    type: 'invalid_request_error',
    param: null,
    code: 'model_not_found',
  });
  assert.deepEqual(errorOf(new GatewayError('model_not_found', 'Unknown model.')), {
    message: 'Unknown model.',
    type: 'invalid_request_error',
    param: null,
    code: 'model_not_found',
  });
});

test('an error has the field and the vendor’s specific code', () => {
  const error = new GatewayError('invalid_value', 'x', { param: 'messages[0].role', details: { openai_code: 'invalid_type' } });
  assert.deepEqual(errorOf(error), { message: 'x', type: 'invalid_request_error', param: 'messages[0].role', code: 'invalid_type' });
});

test('an error has retry-after and the other headers', () => {
  const error = new GatewayError('upstream_error', 'x', { status: 429, retryAfterSeconds: 2, headers: { 'x-should-retry': 'false' } });
  assert.deepEqual(encodeError(error, 'req_1').headers, {
    'x-should-retry': 'false',
    'retry-after': '2',
    'content-type': 'application/json',
    'x-request-id': 'req_1',
  });
});

test('a broken stream ends with an error chunk and without [DONE]', () => {
  const message = 'Upstream connection error: the stream was terminated early.';
  const bytes = encodeStreamError(new GatewayError('upstream_connection_error', message)).toString();
  assert.equal(bytes, `data: {"error":{"message":"${message}","type":"server_error","param":null,"code":"upstream_connection_error"}}\n\n`);
});

test('an error without a message has a default message', () => {
  assert.deepEqual(readError({}), { message: 'The upstream reported an error without a message.' });
  assert.deepEqual(readError({ message: '', code: 'overloaded' }), { message: 'overloaded', status: 503 });
  assert.deepEqual(readError({ message: 'x', code: 200 }), { message: 'x' });
});

test('a heartbeat is a comment', () => {
  assert.equal(openaiChat.voice.heartbeat('sse').toString(), ': keep-alive\n\n');
});

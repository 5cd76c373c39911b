import assert from 'node:assert/strict';
import { test } from 'node:test';
import { errorCodes, GatewayError } from '../../inference/gateway-error.ts';
import type { ErrorCode } from '../../inference/gateway-error.ts';
import { createSseFrameReader } from '../../platform/sse/sse-frame-reader.ts';
import { openaiResponses } from './openai-responses.ts';

const encode = (error: GatewayError) => {
  const reply = openaiResponses.voice.encodeError(error, 'req_1');
  return { ...reply, json: JSON.parse(reply.body.toString()) as { error: Record<string, unknown> } };
};

test('every error has all four members', () => {
  for (const code of Object.keys(errorCodes) as ErrorCode[]) {
    const { json, headers, status } = encode(new GatewayError(code, 'm'));
    assert.deepEqual(Object.keys(json), ['error']);
    assert.deepEqual(Object.keys(json.error), ['message', 'type', 'param', 'code'], code);
    const isMoney = code === 'insufficient_credit' || code === 'spend_limit_reached';
    const ofRequest = isMoney ? 'insufficient_quota' : status === 429 ? 'requests' : 'invalid_request_error';
    assert.equal(json.error.type, status >= 500 ? 'server_error' : ofRequest, code);
    assert.deepEqual(headers, { 'content-type': 'application/json', 'x-request-id': 'req_1' });
  }
});

test("an unknown model is a 400 with the vendor's message", () => {
  const { status, json } = encode(new GatewayError('model_not_found', 'no such model', { details: { model: 'x' } }));
  assert.equal(status, 400);
  assert.deepEqual(json.error, {
    message: "The requested model 'x' does not exist.",
    type: 'invalid_request_error',
    param: 'model',
    code: 'model_not_found',
  });
  assert.equal(encode(new GatewayError('model_not_found', 'no such model')).json.error.message, 'no such model');
});

test("machine codes are the vendor's", () => {
  const cases: readonly [ErrorCode, number, string | null][] = [
    ['missing_required_field', 400, 'missing_required_parameter'],
    ['unknown_field', 400, 'unknown_parameter'],
    ['invalid_value', 400, 'invalid_value'],
    ['invalid_json', 400, 'invalid_json'],
    ['invalid_api_key', 401, 'invalid_api_key'],
    ['conflicting_credentials', 401, 'invalid_api_key'],
    ['missing_api_key', 401, null],
    ['route_not_found', 404, null],
    ['method_not_allowed', 405, 'method_not_allowed'],
    ['request_too_large', 413, 'request_too_large'],
    ['unsupported_media_type', 415, 'unsupported_media_type'],
    ['upgrade_required', 426, 'upgrade_required'],
    ['untranslatable_field', 400, 'unsupported_parameter'],
    ['upstream_refused_request', 400, null],
    ['upstream_model_not_found', 400, 'model_not_found'],
    ['upstream_rate_limited', 429, 'rate_limit_exceeded'],
    ['upstream_overloaded', 503, 'upstream_overloaded'],
    ['upstream_timeout', 504, 'upstream_timeout'],
  ];
  for (const [code, status, vendorCode] of cases) {
    const reply = encode(new GatewayError(code, 'm'));
    assert.deepEqual([reply.status, reply.json.error.code], [status, vendorCode], code);
  }
});

test('an upstream rate limit keeps its status, and the waiting time is a header', () => {
  const error = new GatewayError('upstream_error', 'slow down', {
    status: 429,
    retryAfterSeconds: 7,
    headers: { 'x-should-retry': 'true' },
  });
  const { status, headers, json } = encode(error);
  assert.equal(status, 429);
  assert.deepEqual([json.error.type, json.error.code], ['requests', 'rate_limit_exceeded']);
  assert.deepEqual([headers['retry-after'], headers['x-should-retry']], ['7', 'true']);
});

test('internal details never reach the body', () => {
  const { body } = encode(new GatewayError('internal_error', 'm', { internal: 'secret', cause: new Error('secret') }));
  assert.ok(!body.includes('secret'));
});

function readEvents(bytes: Buffer): { type: string | undefined; json: Record<string, unknown> }[] {
  const reader = createSseFrameReader({ frameBytesMax: 100_000 });
  const frames = reader.push(bytes);
  assert.equal(reader.rest().length, 0);
  return frames.map((frame) => ({ type: frame.event, json: JSON.parse(frame.data) as Record<string, unknown> }));
}

test('a broken stream ends with a nested and flat error and a failed response, and continues the numbering', () => {
  const error = new GatewayError('upstream_connection_error', 'Upstream connection error: the stream was terminated early.');
  const partialResponse = { id: 'resp_1', object: 'response', created_at: 1, model: 'm', status: 'in_progress', output: [], error: null };
  const bytes = openaiResponses.voice.encodeStreamError(error, {
    framing: 'sse',
    requestId: 'req_1',
    framesSent: 9,
    lastSequenceNumber: 41,
    partialResponse,
  });
  const [first, second, ...rest] = readEvents(bytes);
  assert.equal(rest.length, 0);
  const body = { message: error.message, type: 'server_error', param: null, code: 'upstream_connection_error' };
  assert.deepEqual(first, {
    type: 'error',
    json: { type: 'error', sequence_number: 42, code: body.code, message: error.message, param: null, error: body },
  });
  assert.equal(second?.type, 'response.failed');
  assert.equal(second.json.sequence_number, 43);
  assert.deepEqual(second.json.response, {
    ...partialResponse,
    usage: null,
    status: 'failed',
    error: { code: 'server_error', message: error.message },
  });
});

test('a stream without sequence numbers is numbered by its frames', () => {
  const bytes = openaiResponses.voice.encodeStreamError(new GatewayError('upstream_timeout', 'm'), {
    framing: 'sse',
    requestId: 'r',
    framesSent: 3,
  });
  assert.deepEqual(
    readEvents(bytes).map(({ json }) => json.sequence_number),
    [3, 4],
  );
});

test('the tap reads our own ending as failed, also after a cut stream', () => {
  const reader = createSseFrameReader({ frameBytesMax: 100_000 });
  const tap = openaiResponses.createStreamTap({ framing: 'sse', request: {} });
  const ending = openaiResponses.voice.encodeStreamError(new GatewayError('upstream_timeout', 'late'), {
    framing: 'sse',
    requestId: 'r',
    framesSent: 0,
  });
  for (const frame of reader.push(ending)) tap.read(frame);
  assert.deepEqual([tap.state(), tap.report().error?.message], ['failed', 'late']);
});

test('a heartbeat is a comment and not an event', () => {
  const [frame] = createSseFrameReader({ frameBytesMax: 100 }).push(openaiResponses.voice.heartbeat('sse'));
  assert.equal(frame?.data, '');
});

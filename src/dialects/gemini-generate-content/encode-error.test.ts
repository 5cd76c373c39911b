import assert from 'node:assert/strict';
import { test } from 'node:test';
import { errorCodes, GatewayError } from '../../inference/gateway-error.ts';
import type { ErrorCode } from '../../inference/gateway-error.ts';
import { createJsonArrayFrameReader } from '../../platform/sse/json-array-frame-reader.ts';
import { createSseFrameReader } from '../../platform/sse/sse-frame-reader.ts';
import { geminiGenerateContent } from './gemini-generate-content.ts';

type Body = { error: { code: number; message: string; status: string; details?: Record<string, unknown>[] } };

const encode = (error: GatewayError) => {
  const reply = geminiGenerateContent.voice.encodeError(error, 'req_1');
  return { ...reply, json: JSON.parse(reply.body.toString()) as Body };
};

test('the code is the HTTP status, and the status name is that of the contract', () => {
  const names: Partial<Record<ErrorCode, readonly [number, string]>> = {
    invalid_value: [400, 'INVALID_ARGUMENT'],
    invalid_api_key: [401, 'UNAUTHENTICATED'],
    missing_api_key: [401, 'UNAUTHENTICATED'],
    model_not_found: [404, 'NOT_FOUND'],
    method_not_allowed: [405, 'UNIMPLEMENTED'],
    request_too_large: [413, 'PAYLOAD_TOO_LARGE'],
    unsupported_media_type: [415, 'INVALID_ARGUMENT'],
    internal_error: [500, 'INTERNAL'],
    upstream_error: [502, 'INTERNAL'],
    upstream_unreachable: [503, 'UNAVAILABLE'],
    upstream_timeout: [504, 'DEADLINE_EXCEEDED'],
  };
  for (const code of Object.keys(errorCodes) as ErrorCode[]) {
    const { status, json } = encode(new GatewayError(code, 'm'));
    assert.equal(json.error.code, status);
    assert.match(json.error.status, /^[A-Z_]+$/);
    const expected = names[code];
    if (expected !== undefined) assert.deepEqual([status, json.error.status], expected, code);
  }
  assert.equal(encode(new GatewayError('upstream_error', 'm', { status: 403 })).json.error.status, 'PERMISSION_DENIED');
});

test('a refused key has the reason that programs read', () => {
  const { details } = encode(new GatewayError('invalid_api_key', 'm')).json.error;
  assert.deepEqual(details, [
    {
      '@type': 'type.googleapis.com/google.rpc.ErrorInfo',
      reason: 'API_KEY_INVALID',
      domain: 'googleapis.com',
      metadata: { service: 'generativelanguage.googleapis.com' },
    },
  ]);
});

test('a wrong field is named in the details', () => {
  const error = new GatewayError('invalid_value', 'too hot', { param: 'generationConfig.temperature' });
  assert.deepEqual(encode(error).json.error, {
    code: 400,
    message: 'too hot',
    status: 'INVALID_ARGUMENT',
    details: [
      {
        '@type': 'type.googleapis.com/google.rpc.BadRequest',
        fieldViolations: [{ field: 'generationConfig.temperature', description: 'too hot' }],
      },
    ],
  });
});

test('an unknown model has the vendor text, with or without the prefix', () => {
  for (const model of ['x', 'models/x']) {
    const { message } = encode(new GatewayError('model_not_found', 'm', { details: { model } })).json.error;
    assert.equal(
      message,
      'models/x is not found for API version v1beta, or is not supported for generateContent. Call ModelService.ListModels to see the list of available models and their supported methods.',
    );
  }
});

test('a rate limit contains its retry delay, in the header and in the details', () => {
  const { headers, json } = encode(new GatewayError('upstream_error', 'm', { status: 429, retryAfterSeconds: 34 }));
  assert.equal(headers['retry-after'], '34');
  assert.equal(json.error.status, 'RESOURCE_EXHAUSTED');
  assert.deepEqual(json.error.details, [{ '@type': 'type.googleapis.com/google.rpc.RetryInfo', retryDelay: '34s' }]);
});

test('an array stream is answered with an array', () => {
  const { body } = geminiGenerateContent.voice.encodeError(new GatewayError('upstream_timeout', 'm'), 'r', 'json-array');
  assert.equal((JSON.parse(body.toString()) as Body[])[0]?.error.status, 'DEADLINE_EXCEEDED');
});

test('a broken event stream ends with an error event in this framing', () => {
  const error = new GatewayError('upstream_connection_error', 'Upstream connection error');
  const bytes = geminiGenerateContent.voice.encodeStreamError(error, { framing: 'sse', requestId: 'r', framesSent: 3 });
  assert.equal(bytes.toString(), 'data: {"error":{"code":503,"message":"Upstream connection error","status":"UNAVAILABLE"}}\r\n\r\n');
});

test('a broken array is closed: the whole body is JSON after any number of elements', () => {
  const error = new GatewayError('upstream_connection_error', 'm');
  for (const sent of ['', '[{"candidates":[]}', '[{"candidates":[]},\r\n{"candidates":[]}']) {
    const framesSent = sent === '' ? 0 : sent.split('},').length;
    const ending = geminiGenerateContent.voice.encodeStreamError(error, { framing: 'json-array', requestId: 'r', framesSent });
    const elements = JSON.parse(sent + ending.toString()) as Body[];
    assert.equal(elements.length, framesSent + 1);
    assert.equal(elements.at(-1)?.error.status, 'UNAVAILABLE');
  }
});

test('our own end mark is read as a failure in both framings', () => {
  for (const framing of ['sse', 'json-array'] as const) {
    const reader = (framing === 'sse' ? createSseFrameReader : createJsonArrayFrameReader)({ frameBytesMax: 10_000 });
    const tap = geminiGenerateContent.createStreamTap({ framing, request: {} });
    const ending = geminiGenerateContent.voice.encodeStreamError(new GatewayError('upstream_timeout', 'late'), {
      framing,
      requestId: 'r',
      framesSent: 0,
    });
    for (const frame of reader.push(ending)) tap.read(frame);
    assert.deepEqual([tap.state(), tap.report().error], ['failed', { message: 'late', status: 504 }]);
  }
});

test('a heartbeat is a chunk without content, or white space between elements', () => {
  const tap = geminiGenerateContent.createStreamTap({ framing: 'sse', request: {} });
  for (const frame of createSseFrameReader({ frameBytesMax: 100 }).push(geminiGenerateContent.voice.heartbeat('sse'))) tap.read(frame);
  const { state, malformedFrames, usageReport } = tap.report();
  assert.deepEqual([state, malformedFrames, usageReport], ['open', 0, undefined]);
  assert.deepEqual(JSON.parse(`[{}${geminiGenerateContent.voice.heartbeat('json-array').toString()},{}]`), [{}, {}]);
});

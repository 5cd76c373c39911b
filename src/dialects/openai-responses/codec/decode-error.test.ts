import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { ErrorCode } from '../../../inference/gateway-error.ts';
import { encodeError } from '../encode-error.ts';
import { encodeStreamError } from '../encode-stream-error.ts';
import { decodeError } from './decode-error.ts';

const body = (error: object): object => ({ error: { message: 'm', type: 'invalid_request_error', param: null, code: null, ...error } });

const classes: readonly (readonly [status: number, body: unknown, code: ErrorCode, clientStatus: number])[] = [
  [400, body({ code: 'invalid_value' }), 'upstream_refused_request', 400],
  [422, { detail: 'bad' }, 'upstream_refused_request', 400],
  [400, body({ code: 'model_not_found' }), 'upstream_model_not_found', 404],
  [404, body({}), 'upstream_model_not_found', 404],
  [401, body({ code: 'invalid_api_key' }), 'upstream_credentials_rejected', 503],
  [403, body({ code: 'unsupported_country_region_territory' }), 'upstream_permission_denied', 403],
  [402, body({}), 'upstream_quota_exhausted', 503],
  [429, body({ type: 'insufficient_quota', code: 'insufficient_quota' }), 'upstream_quota_exhausted', 503],
  [429, body({ type: 'tokens', code: 'rate_limit_exceeded' }), 'upstream_rate_limited', 429],
  [429, undefined, 'upstream_rate_limited', 429],
  [408, undefined, 'upstream_timeout', 504],
  [504, 'gateway timeout', 'upstream_timeout', 504],
  [413, undefined, 'request_too_large', 413],
  [503, body({ type: 'server_error' }), 'upstream_overloaded', 503],
  [529, undefined, 'upstream_overloaded', 503],
  [500, body({ type: 'server_error', code: 'server_is_overloaded' }), 'upstream_overloaded', 503],
  [500, body({ type: 'server_error' }), 'upstream_error', 500],
  [502, null, 'upstream_error', 500],
  // Errors within a stream, whose status has no meaning.
  [200, { type: 'error', code: 'rate_limit_exceeded', message: 'm', param: null, sequence_number: 3 }, 'upstream_rate_limited', 429],
  [
    200,
    { type: 'error', error: { type: 'insufficient_quota', code: 'insufficient_quota', message: 'm' } },
    'upstream_quota_exhausted',
    503,
  ],
  [200, { type: 'response.failed', response: { status: 'failed', error: { code: 'server_error', message: 'm' } } }, 'upstream_error', 500],
  [
    200,
    { type: 'response.failed', response: { status: 'failed', error: { code: 'invalid_prompt', message: 'm' } } },
    'upstream_refused_request',
    400,
  ],
  [200, undefined, 'upstream_error', 500],
];

describe('errors are classified by code, then by status', () => {
  for (const [status, answer, code, clientStatus] of classes) {
    test(`the answer ${status} ${JSON.stringify(answer)} is ${code}`, () => {
      const error = decodeError({ status, body: answer });
      assert.deepEqual([error.code, error.status], [code, clientStatus]);
      assert.notEqual(error.message, '');
    });
  }

  test('at most 2000 characters of the message are passed on, and nothing about credentials and bills', () => {
    assert.equal(decodeError({ status: 400, body: body({ message: "Unknown parameter: 'x'." }) }).message, "Unknown parameter: 'x'.");
    assert.equal(decodeError({ status: 400, body: body({ message: 'x'.repeat(5000) }) }).message.length, 2000);
    for (const status of [401, 402, 403]) {
      assert.doesNotMatch(decodeError({ status, body: body({ message: 'Incorrect API key provided: sk-1234' }) }).message, /sk-/);
    }
  });

  test('the waiting time is kept', () => {
    assert.equal(decodeError({ status: 429, body: undefined, retryAfterSeconds: 7 }).retryAfterSeconds, 7);
  });
});

describe('an input that is too long is recognised', () => {
  const wordings: readonly (readonly [answer: unknown, sizes: object])[] = [
    [
      body({
        code: 'context_length_exceeded',
        message: 'Your input exceeds the context window of this model. Please adjust your input and try again.',
      }),
      {},
    ],
    [
      body({ message: "This model's maximum context length is 8192 tokens. However, your messages resulted in 9,001 tokens." }),
      { tokens: 9001, tokensMax: 8192 },
    ],
    [
      {
        object: 'error',
        message: "This model's maximum context length is 4096 tokens. However, you requested 5000 tokens (4000 in the messages).",
      },
      { tokens: 5000, tokensMax: 4096 },
    ],
    [
      {
        error: {
          code: 400,
          message: 'request (9000 tokens) exceeds the available context size (8192 tokens), try increasing it',
          type: 'exceed_context_size_error',
        },
      },
      { tokens: 9000, tokensMax: 8192 },
    ],
    [
      body({ message: "The input (9000 tokens) is longer than the model's context length (8192 tokens)." }),
      { tokens: 9000, tokensMax: 8192 },
    ],
    [body({ message: 'Prompt is too long.' }), {}],
  ];
  for (const [answer, sizes] of wordings) {
    test(JSON.stringify(answer), () => {
      const error = decodeError({ status: 400, body: answer });
      assert.deepEqual([error.code, error.details], ['context_length_exceeded', sizes]);
    });
  }

  test('and has the message that agents recognise, in an answer and in a stream', () => {
    const error = decodeError({ status: 400, body: body({ message: 'maximum context length is 10 tokens, you requested 20' }) });
    const reply = encodeError(error, 'req_1');
    assert.deepEqual(
      [reply.status, JSON.parse(reply.body.toString())],
      [
        400,
        {
          error: {
            message:
              'Your input exceeds the context window of this model. Please adjust your input and try again. It has 20 tokens, and the model accepts at most 10.',
            type: 'invalid_request_error',
            param: 'input',
            code: 'context_length_exceeded',
          },
        },
      ],
    );
    const ending = encodeStreamError(error, { framing: 'sse', requestId: 'req_1', framesSent: 2 }).toString();
    assert.match(ending, /"status":"failed","error":{"code":"context_length_exceeded","message":"Your input exceeds the context window/);
  });
});

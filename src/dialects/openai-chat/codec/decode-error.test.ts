import assert from 'node:assert/strict';
import { test } from 'node:test';
import { GatewayError } from '../../../inference/gateway-error.ts';
import { encodeError } from '../encode-error.ts';
import { decodeError } from './decode-error.ts';

const openai = (message: string, members: object = {}): unknown => ({
  error: { message, type: 'invalid_request_error', param: null, code: null, ...members },
});

test('errors are classified by status, or by their message if the status is unspecific', () => {
  const cases: readonly [status: number, body: unknown, code: string, clientStatus: number][] = [
    [400, openai('Bad.'), 'upstream_refused_request', 400],
    [422, { detail: [{ loc: ['body', 'messages'], msg: 'Field required', type: 'missing' }] }, 'upstream_refused_request', 400],
    [409, openai('Conflict.'), 'upstream_refused_request', 400],
    [401, openai('Incorrect API key provided: sk-abc'), 'upstream_credentials_rejected', 503],
    [403, openai('Country, region, or territory not supported'), 'upstream_permission_denied', 403],
    [403, openai('The API key was reported as leaked'), 'upstream_credentials_rejected', 503],
    [403, { error: { message: 'Your input was flagged', code: 403 } }, 'upstream_refused_request', 400],
    [
      400,
      { code: 'Client specified an invalid argument', error: 'Incorrect API key provided: xa***12.' },
      'upstream_credentials_rejected',
      503,
    ],
    [402, { error: { message: 'Insufficient credits', code: 402 } }, 'upstream_quota_exhausted', 503],
    [429, openai('You exceeded your current quota', { code: 'insufficient_quota' }), 'upstream_quota_exhausted', 503],
    [429, openai('Rate limit reached', { code: 'rate_limit_exceeded' }), 'upstream_rate_limited', 429],
    [404, openai('The model `x` does not exist', { code: 'model_not_found' }), 'upstream_model_not_found', 404],
    [404, { error: "model 'x' not found, try pulling it first" }, 'upstream_model_not_found', 404],
    [400, openai('x is not a valid model', { code: 'model_not_found' }), 'upstream_model_not_found', 404],
    [408, openai('Timeout'), 'upstream_timeout', 504],
    [504, '<html>', 'upstream_timeout', 504],
    [413, undefined, 'request_too_large', 413],
    [500, openai('The server had an error'), 'upstream_error', 500],
    [502, undefined, 'upstream_error', 500],
    [500, openai('The engine is currently overloaded'), 'upstream_overloaded', 503],
    [503, openai('No healthy upstream'), 'upstream_overloaded', 503],
    [529, {}, 'upstream_overloaded', 503],
    [200, { error: { message: 'Rate limited', code: 429 } }, 'upstream_rate_limited', 429],
    [200, { error: { message: 'Something' } }, 'upstream_error', 500],
  ];
  for (const [status, body, code, clientStatus] of cases) {
    const error = decodeError({ status, body });
    assert.deepEqual([error.code, error.status], [code, clientStatus], `${status} ${JSON.stringify(body)}`);
    assert.notEqual(error.message, '');
  }
});

test('the message is the vendor’s, in any form, with a limited length and without names of the account', () => {
  const messageOf = (body: unknown, status = 400): string => decodeError({ status, body }).message;
  assert.equal(messageOf(openai('Bad.')), 'Bad.');
  assert.equal(messageOf({ error: 'Bad.' }), 'Bad.');
  assert.equal(messageOf({ object: 'error', message: 'Bad.', code: 400 }), 'Bad.');
  assert.equal(messageOf({ detail: 'Bad.' }), 'Bad.');
  assert.equal(messageOf({ detail: [{ loc: ['body', 'n'], msg: 'Bad.' }] }), 'body.n: Bad.');
  assert.equal(messageOf('Bad.'), 'Bad.');
  assert.equal(
    messageOf({ error: { message: 'Provider returned error', code: 400, metadata: { raw: '{"error":{"message":"Say \\"a\\"."}}' } } }),
    'Provider returned error: Say "a".',
  );
  assert.equal(messageOf(openai('x'.repeat(9000))).length, 2001);
  assert.equal(
    messageOf(openai('Limit of organization org-abcdef123 with sk-proj-abcdefgh12 reached'), 429),
    'Limit of organization … with … reached',
  );
  assert.doesNotMatch(messageOf(openai('Incorrect API key provided: sk-abcdefghijk'), 401), /sk-/);
});

test('the retry time is kept', () => {
  assert.equal(decodeError({ status: 429, body: openai('Slow down'), retryAfterSeconds: 7 }).retryAfterSeconds, 7);
});

test('a request that is too long is recognised in the messages of vendors, services and servers', () => {
  const cases: readonly [status: number, body: unknown, tokens: number | undefined, tokensMax: number | undefined][] = [
    [
      400,
      openai(
        "This model's maximum context length is 8192 tokens. However, your messages resulted in 9001 tokens. Please reduce the length of the messages.",
        {
          code: 'context_length_exceeded',
        },
      ),
      9001,
      8192,
    ],
    [
      400,
      openai(
        "This model's maximum context length is 4096 tokens. However, you requested 5000 tokens (4000 in the messages, 1000 in the completion).",
      ),
      5000,
      4096,
    ],
    [
      400,
      openai(
        "This endpoint's maximum context length is 200000 tokens. However, you requested about 250,000 tokens (240000 of text input).",
      ),
      250_000,
      200_000,
    ],
    [400, openai("This model's maximum context length is 4096 tokens and your request has 5000 input tokens"), 5000, 4096],
    [400, openai('Too long.', { code: 'context_length_exceeded' }), undefined, undefined],
    [
      400,
      {
        error: {
          code: 400,
          message: 'the request exceeds the available context size',
          type: 'exceed_context_size_error',
          n_prompt_tokens: 5000,
          n_ctx: 4096,
        },
      },
      5000,
      4096,
    ],
    [500, { error: 'the request exceeds the available context size. try increasing it' }, undefined, undefined],
    [400, { object: 'error', message: "The input (5000 tokens) is longer than the model's context length (4096 tokens)." }, 5000, 4096],
    [
      400,
      { message: 'Prompt contains 40000 tokens and 0 draft tokens, too large for model with 32768 maximum context length' },
      40_000,
      32_768,
    ],
    [400, { code: 'x', error: "This model's maximum prompt length is 131072 but the request contains 200000 tokens." }, 200_000, 131_072],
    [400, openai('The prompt is too long: 200000, model maximum context length: 131071'), 200_000, 131_071],
    [
      400,
      openai(
        'Trying to keep the first 5000 tokens when context the overflows. However, the model is loaded with context length of only 4096 tokens',
      ),
      5000,
      4096,
    ],
    [400, openai('Invalid request: Your request exceeded model token limit: 131072 (requested: 140000)'), 140_000, 131_072],
    [400, openai('Please reduce the length of the messages or completion. Current length is 9000 while limit is 8192'), 9000, 8192],
    [413, openai('Please reduce the length of the messages or completion.'), undefined, undefined],
    [
      400,
      {
        error: {
          message: 'Provider returned error',
          metadata: { raw: '{"message":"prompt is too long: 210000 tokens > 200000 maximum"}' },
        },
      },
      210_000,
      200_000,
    ],
    [400, openai('The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).'), 1_200_000, 1_048_576],
    [400, { error: 'input length exceeds the context length' }, undefined, undefined],
    [400, openai('<400> InternalError.Algo.InvalidParameter: Range of input length should be [1, 30720]'), undefined, 30_720],
  ];
  for (const [status, body, tokens, tokensMax] of cases) {
    const error = decodeError({ status, body });
    assert.equal(error.code, 'context_length_exceeded', JSON.stringify(body));
    assert.deepEqual([error.details?.tokens, error.details?.tokensMax], [tokens, tokensMax], JSON.stringify(body));
  }
});

test('an output limit that is too large is not a request that is too long', () => {
  const message =
    "'max_tokens' or 'max_completion_tokens' is too large: 5000. This model's maximum context length is 4096 tokens and your request has 100 input tokens";
  assert.equal(decodeError({ status: 400, body: openai(message) }).code, 'upstream_refused_request');
});

test('clients receive the vendor’s message and code for a request that is too long', () => {
  const bodyOf = (message: string, details: object): unknown =>
    (
      JSON.parse(encodeError(new GatewayError('context_length_exceeded', message, { details: { ...details } }), 'r').body.toString()) as {
        error: unknown;
      }
    ).error;
  assert.deepEqual(bodyOf('prompt is too long: 210000 tokens > 200000 maximum', { tokens: 210_000, tokensMax: 200_000 }), {
    message:
      "This model's maximum context length is 200000 tokens. However, your messages resulted in 210000 tokens. Please reduce the length of the messages.",
    type: 'invalid_request_error',
    param: 'messages',
    code: 'context_length_exceeded',
  });
  assert.match(JSON.stringify(bodyOf('Too long.', {})), /maximum context length\. Too long\./);
});

test('other errors of an upstream have the status and code that clients compare', () => {
  const cases: readonly [GatewayError, number, string][] = [
    [decodeError({ status: 429, body: {} }), 429, 'rate_limit_exceeded'],
    [decodeError({ status: 529, body: {} }), 503, 'upstream_overloaded'],
    [decodeError({ status: 404, body: {} }), 404, 'model_not_found'],
  ];
  for (const [error, status, code] of cases) {
    const reply = encodeError(error, 'r');
    assert.deepEqual([reply.status, (JSON.parse(reply.body.toString()) as { error: { code: unknown } }).error.code], [status, code]);
  }
});

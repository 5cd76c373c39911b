import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createPlanner } from '../../plan-reply.ts';
import { createPromptCache } from '../../prompt-cache.ts';
import { asText } from '../../read-json.ts';
import { VendorError, type JsonRecord, type SimulatedReply, type SimulatedRequest, type SimulatedVendor } from '../../simulated-vendor.ts';
import type { Steering } from '../../steering.ts';
import { xai } from '../xai/xai.ts';
import { openai } from './openai.ts';

const cache = createPromptCache();

type Ask = { readonly vendor?: SimulatedVendor; readonly path?: string; readonly method?: string; readonly steering?: Steering };

function send(body: JsonRecord | undefined, ask: Ask = {}): SimulatedReply {
  const request: SimulatedRequest = {
    method: ask.method ?? 'POST',
    path: ask.path ?? '/v1/chat/completions',
    query: new URLSearchParams(),
    headers: { authorization: 'Bearer k' },
    body,
    requestId: 'req_test',
  };
  const vendor = ask.vendor ?? openai;
  vendor.authenticate(request);
  const reply = vendor.handle(
    request,
    createPlanner({
      seed: 'chat',
      nowMs: 1_000_000,
      steering: ask.steering ?? {},
      cache,
      onPlan: (_plan, _steering, keepCache) => keepCache(),
    }),
  );
  assert.ok(reply !== undefined);
  return reply;
}

function ask(changes: JsonRecord = {}): JsonRecord {
  return { model: 'gpt-4o', messages: [{ role: 'user', content: 'Hello' }], ...changes };
}

function answer(changes: JsonRecord = {}, options: Ask = {}): { choice: JsonRecord; message: JsonRecord; usage: JsonRecord } {
  const reply = send(ask(changes), options);
  const body = JSON.parse(reply.type === 'whole' ? reply.body : '') as { choices: JsonRecord[]; usage: JsonRecord };
  const [choice = {}] = body.choices;
  return { choice, message: choice['message'] as JsonRecord, usage: body.usage };
}

function stream(changes: JsonRecord = {}, options: Ask = {}): Extract<SimulatedReply, { type: 'stream' }> {
  const reply = send(ask({ stream: true, ...changes }), options);
  assert.ok(reply.type === 'stream');
  assert.equal(reply.frames.length, reply.frameTokens.length);
  assert.equal(
    reply.frameTokens.reduce((sum, tokens) => sum + tokens, 0),
    reply.plan.usage.outputTokens,
  );
  return reply;
}

function refused(body: JsonRecord, options: Ask = {}): VendorError {
  try {
    send(body, options);
  } catch (error) {
    assert.ok(error instanceof VendorError, String(error));
    return error;
  }
  return assert.fail('was not refused');
}

type ErrorBody = {
  readonly error: { readonly message: string; readonly type: string; readonly param: string | null; readonly code: string | null };
};
const errorOf = (changes: JsonRecord): ErrorBody['error'] => (refused(ask(changes)).body as ErrorBody).error;

const tool: JsonRecord = {
  type: 'function',
  function: {
    name: 'lookup',
    parameters: { type: 'object', properties: { query: { type: 'string' } }, required: ['query'], additionalProperties: false },
  },
};
const asked: JsonRecord = {
  role: 'assistant',
  content: null,
  tool_calls: [{ id: 'call_1', type: 'function', function: { name: 'lookup', arguments: '{}' } }],
};

test('the frames of a stream are exactly these', () => {
  const reply = stream(
    { stream_options: { include_usage: true, include_obfuscation: false } },
    { steering: { text: 'Hi, é 世界!', pace: { tokensPerFrame: 2 } } },
  );
  const head = `"id":"chatcmpl-${reply.plan.id}","object":"chat.completion.chunk","created":1000,"model":"gpt-4o","service_tier":"default","system_fingerprint":null`;
  assert.deepEqual(reply.frames, [
    `data: {${head},"choices":[{"index":0,"delta":{"role":"assistant","content":"","refusal":null},"logprobs":null,"finish_reason":null}],"usage":null}\n\n`,
    `data: {${head},"choices":[{"index":0,"delta":{"content":"Hi, é 世界"},"logprobs":null,"finish_reason":null}],"usage":null}\n\n`,
    `data: {${head},"choices":[{"index":0,"delta":{"content":"!"},"logprobs":null,"finish_reason":null}],"usage":null}\n\n`,
    `data: {${head},"choices":[{"index":0,"delta":{},"logprobs":null,"finish_reason":"stop"}],"usage":null}\n\n`,
    `data: {${head},"choices":[],"usage":{"prompt_tokens":2,"completion_tokens":3,"total_tokens":5,"prompt_tokens_details":{"cached_tokens":0,"audio_tokens":0},"completion_tokens_details":{"reasoning_tokens":0,"audio_tokens":0,"accepted_prediction_tokens":0,"rejected_prediction_tokens":0}}}\n\n`,
    'data: [DONE]\n\n',
  ]);
  assert.equal(reply.firstContentFrame, 1);
});

test('usage is streamed only if requested, except by the vendor that always sends it', () => {
  assert.ok(!stream().frames.some((frame) => frame.includes('"usage"')));
  assert.ok(stream({ model: 'grok-4.3' }, { vendor: xai }).frames.at(-2)?.includes('"usage":{'));
});

test('chunks of tool calls have id and name once, arguments in pieces, and an index per call', () => {
  const reply = stream({ tools: [tool] }, { steering: { toolCalls: 2, seed: 'no text' } });
  const calls = reply.frames
    .filter((frame) => frame.includes('"tool_calls":['))
    .map(
      (frame) =>
        (JSON.parse(frame.slice(6)) as { choices: { delta: { tool_calls: JsonRecord[] } }[] }).choices[0]?.delta.tool_calls[0] ?? {},
    );
  assert.deepEqual(
    calls.filter((call) => call['id'] !== undefined).map((call) => call['index']),
    [0, 1],
  );
  for (const index of [0, 1]) {
    const text = calls
      .filter((call) => call['index'] === index)
      .map((call) => asText((call['function'] as JsonRecord)['arguments']))
      .join('');
    assert.deepEqual(JSON.parse(text), reply.plan.toolCalls[index]?.arguments);
  }
  assert.ok(reply.frames.at(-2)?.includes('"finish_reason":"tool_calls"'));
});

test('finish reasons, refusals and structured output are written', () => {
  assert.equal(answer({ max_tokens: 2 }).choice['finish_reason'], 'length');
  assert.equal(answer({ stop: 'simulated' }).message['content'], 'This is a ');
  assert.equal(answer({}, { steering: { stop: 'content-filter' } }).choice['finish_reason'], 'content_filter');
  const refusal = answer({}, { steering: { stop: 'refusal' } }).message;
  assert.deepEqual([refusal['content'], typeof refusal['refusal']], [null, 'string']);
  const schema = (tool['function'] as JsonRecord)['parameters'] ?? {};
  const json = answer({ response_format: { type: 'json_schema', json_schema: { name: 'q', schema, strict: true } } }).message['content'];
  assert.deepEqual(Object.keys(JSON.parse(asText(json)) as JsonRecord), ['query']);
});

test('reasoning is hidden and inside the completion tokens here, and visible and beside them there', () => {
  const here = answer({ model: 'gpt-5' });
  assert.equal(here.message['reasoning_content'], undefined);
  const hereDetails = here.usage['completion_tokens_details'] as JsonRecord;
  assert.ok(
    Number(hereDetails['reasoning_tokens']) > 0 && Number(here.usage['completion_tokens']) > Number(hereDetails['reasoning_tokens']),
  );
  const there = answer({ model: 'grok-4.3' }, { vendor: xai });
  assert.match(asText(there.message['reasoning_content']), /^This is simulated reasoning/);
  const details = there.usage['completion_tokens_details'] as JsonRecord;
  const sum = Number(there.usage['prompt_tokens']) + Number(there.usage['completion_tokens']) + Number(details['reasoning_tokens']);
  assert.equal(there.usage['total_tokens'], sum);
  stream({ model: 'gpt-5' });
  stream({ model: 'grok-4.3' }, { vendor: xai });
});

test('long prompts are cached automatically; only models that charge for cache writes report them', () => {
  const details = (model: string): JsonRecord =>
    answer({ model, messages: [{ role: 'user', content: 'x'.repeat(8_192) }] }).usage['prompt_tokens_details'] as JsonRecord;
  assert.deepEqual([details('gpt-4o')['cached_tokens'], details('gpt-4o')['cached_tokens']], [0, 2_048]);
  assert.equal(details('gpt-4o')['cache_write_tokens'], undefined);
  assert.deepEqual([details('gpt-5.6-sol')['cache_write_tokens'], details('gpt-5.6-sol')['cached_tokens']], [2_048, 2_048]);
});

test('refusals have the vendor’s message, parameter and code', () => {
  const cases: [JsonRecord, string, string | null, string | null][] = [
    [{ foo: 1 }, "Unknown parameter: 'foo'.", 'foo', 'unknown_parameter'],
    [{ max_tokens: 'x' }, "Invalid type for 'max_tokens': expected an integer, but got a string instead.", 'max_tokens', 'invalid_type'],
    [
      { messages: [] },
      "Invalid 'messages': empty array. Expected an array with minimum length 1, but got an empty array instead.",
      'messages',
      'empty_array',
    ],
    [
      { temperature: 3 },
      "Invalid 'temperature': decimal above maximum value. Expected a value <= 2, but got 3 instead.",
      'temperature',
      'decimal_above_max_value',
    ],
    [
      { messages: [{ role: 'user' }] },
      "Missing required parameter: 'messages[0].content'.",
      'messages[0].content',
      'missing_required_parameter',
    ],
    [
      { stream_options: { include_usage: true } },
      "The 'stream_options' parameter is only allowed when 'stream' is enabled.",
      'stream_options',
      null,
    ],
    [
      { tool_choice: 'auto' },
      "Invalid value for 'tool_choice': 'tool_choice' is only allowed when 'tools' are specified.",
      'tool_choice',
      null,
    ],
    [
      { model: 'gpt-5.4', max_tokens: 5 },
      "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.",
      'max_tokens',
      'unsupported_parameter',
    ],
    [
      { model: 'gpt-5', temperature: 0.5 },
      "Unsupported value: 'temperature' does not support 0.5 with this model. Only the default (1) value is supported.",
      'temperature',
      'unsupported_value',
    ],
    [
      { response_format: { type: 'json_object' } },
      "'messages' must contain the word 'json' in some form, to use 'response_format' of type 'json_object'.",
      'messages',
      null,
    ],
    [
      { messages: [{ role: 'tool', tool_call_id: 'call_1', content: 'x' }] },
      "Invalid parameter: messages with role 'tool' must be a response to a preceeding message with 'tool_calls'.",
      'messages.[0].role',
      null,
    ],
    [
      { messages: [asked, { role: 'user', content: 'x' }] },
      "An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'. The following tool_call_ids did not have response messages: call_1",
      'messages.[1].role',
      null,
    ],
    [
      { messages: [{ role: 'assistant', content: null }] },
      "Invalid value for 'content': expected a string, got null.",
      'messages.[0].content',
      null,
    ],
    [
      { messages: [{ role: 'assistant', content: 'a', reasoning_content: 'b' }] },
      "Unknown parameter: 'messages[0].reasoning_content'.",
      'messages[0].reasoning_content',
      'unknown_parameter',
    ],
  ];
  for (const [changes, message, param, code] of cases)
    assert.deepEqual(errorOf(changes), { message, type: 'invalid_request_error', param, code });
  const missing = refused(ask({ model: 'missing-model' }));
  assert.deepEqual([missing.status, (missing.body as ErrorBody).error.code], [404, 'model_not_found']);
  assert.match(
    errorOf({ tools: [{ type: 'function', function: { name: 'bad name' } }] }).message,
    /^Invalid 'tools\[0\]\.function\.name': string does not match pattern/,
  );
  assert.match(
    errorOf({ tools: [{ type: 'function', function: { name: 'a', strict: true, parameters: { type: 'object' } } }] }).message,
    /^Invalid schema for function 'a': /,
  );
});

test('a complete tool round is accepted and answered with text', () => {
  const messages = [{ role: 'user', content: 'a' }, asked, { role: 'tool', tool_call_id: 'call_1', content: 'x' }];
  assert.equal(answer({ messages, tools: [tool] }).choice['finish_reason'], 'stop');
});

test('the other vendor has its own error body, and accepts unknown members and reasoning in the history', () => {
  const messages = [
    { role: 'user', content: 'a' },
    { role: 'assistant', content: 'b', reasoning_content: 'c' },
    { role: 'user', content: 'd' },
  ];
  answer({ model: 'grok-4.3', messages, search_parameters: { mode: 'auto' } }, { vendor: xai });
  const wrong = refused(ask({ model: 'missing-model' }), { vendor: xai });
  assert.deepEqual([wrong.status, (wrong.body as JsonRecord)['code']], [404, 'Some requested entity was not found']);
  assert.equal(refused(ask({ temperature: 3 }), { vendor: xai }).status, 400);
});

test('models and the responses routes are part of both vendors', () => {
  for (const vendor of [openai, xai]) {
    const list = send(undefined, { vendor, method: 'GET', path: '/v1/models' });
    const [first] = (JSON.parse(list.type === 'whole' ? list.body : '') as { data: JsonRecord[] }).data;
    assert.equal(first?.['object'], 'model');
    send(undefined, { vendor, method: 'GET', path: `/v1/models/${asText(first?.['id'])}` });
    const response = send({ model: 'gpt-5', input: 'Hello' }, { vendor, path: '/v1/responses' });
    assert.ok(response.type === 'whole' && response.status === 200);
  }
});

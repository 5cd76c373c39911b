import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createPlanner } from '../../plan-reply.ts';
import { createPromptCache } from '../../prompt-cache.ts';
import { asText } from '../../read-json.ts';
import { signReasoning } from '../../reasoning-signature.ts';
import { VendorError, type Json, type JsonRecord, type SimulatedReply, type SimulatedRequest } from '../../simulated-vendor.ts';
import { createVendorMemory } from '../../vendor-memory.ts';
import type { Steering } from '../../steering.ts';
import { anthropic } from './anthropic.ts';

type Ask = {
  readonly path?: string;
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly steering?: Steering;
};

const cache = createPromptCache();
const memory = createVendorMemory();
let calls = 0;

function requestOf(body: JsonRecord | undefined, ask: Ask): SimulatedRequest {
  const [path = '', query = ''] = (ask.path ?? '/v1/messages').split('?');
  return {
    method: ask.method ?? 'POST',
    path,
    query: new URLSearchParams(query),
    headers: { 'x-api-key': 'k', 'anthropic-version': '2023-06-01', ...ask.headers },
    body,
    requestId: 'req_test',
    nowMs: 0,
    memory,
  };
}

function send(body: JsonRecord | undefined, ask: Ask = {}): SimulatedReply {
  const request = requestOf(body, ask);
  anthropic.authenticate(request);
  const planReply = createPlanner({
    seed: 'anthropic',
    steering: ask.steering ?? {},
    cache,
    numberCall: () => calls++,
    onPlan: (_plan, _steering, keepCache) => keepCache(),
  });
  const reply = anthropic.handle(request, planReply);
  assert.ok(reply !== undefined);
  return reply;
}

function ask(changes: JsonRecord = {}): JsonRecord {
  return { model: 'claude-test', max_tokens: 500, messages: [{ role: 'user', content: 'Hello' }], ...changes };
}

function answer(changes: JsonRecord = {}, options: Ask = {}): JsonRecord {
  const reply = send(ask(changes), options);
  assert.equal(reply.type, 'whole');
  return JSON.parse(reply.type === 'whole' ? reply.body : '') as JsonRecord;
}

/** The message of a body's refusal; its status and type are checked too. */
function refusal(body: JsonRecord | undefined, options: Ask = {}, status = 400, type = 'invalid_request_error'): string {
  try {
    send(body, options);
  } catch (error) {
    assert.ok(error instanceof VendorError, String(error));
    assert.equal(error.status, status);
    const record = error.body as { type: string; error: { type: string; message: string }; request_id: string };
    assert.deepEqual([record.type, record.error.type, record.request_id], ['error', type, 'req_test']);
    return record.error.message;
  }
  return assert.fail('was not refused');
}

const tool: JsonRecord = {
  name: 'lookup',
  input_schema: { type: 'object', properties: { query: { type: 'string' } }, required: ['query'], additionalProperties: false },
};
const user = (...content: Json[]): JsonRecord => ({ role: 'user', content });
const assistant = (...content: Json[]): JsonRecord => ({ role: 'assistant', content });
const text = (value: string, more: JsonRecord = {}): JsonRecord => ({ type: 'text', text: value, ...more });
const call = (id: string): JsonRecord => ({ type: 'tool_use', id, name: 'lookup', input: {} });
const result = (id: string): JsonRecord => ({ type: 'tool_result', tool_use_id: id, content: 'found' });

test('the frames of a stream are exactly these', () => {
  const reply = createPlannedStream({ text: 'Hi, é 世界!', outputTokensMax: 10 });
  assert.deepEqual(reply.frames, [
    'event: message_start\ndata: {"type":"message_start","message":{"id":"msg_FIXED","type":"message","role":"assistant","model":"claude-test","content":[],"stop_reason":null,"stop_sequence":null,"stop_details":null,"container":null,"usage":{"input_tokens":2,"cache_creation_input_tokens":0,"cache_read_input_tokens":0,"cache_creation":{"ephemeral_5m_input_tokens":0,"ephemeral_1h_input_tokens":0},"output_tokens":1,"service_tier":"standard","inference_geo":"global"}}}\n\n',
    'event: content_block_start\ndata: {"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}\n\n',
    'event: ping\ndata: {"type": "ping"}\n\n',
    'event: content_block_delta\ndata: {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"Hi, "}}\n\n',
    'event: content_block_delta\ndata: {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"é 世界"}}\n\n',
    'event: content_block_delta\ndata: {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"!"}}\n\n',
    'event: content_block_stop\ndata: {"type":"content_block_stop","index":0}\n\n',
    'event: message_delta\ndata: {"type":"message_delta","delta":{"stop_reason":"end_turn","stop_sequence":null,"stop_details":null,"container":null},"usage":{"input_tokens":2,"cache_creation_input_tokens":0,"cache_read_input_tokens":0,"cache_creation":{"ephemeral_5m_input_tokens":0,"ephemeral_1h_input_tokens":0},"output_tokens":3}}\n\n',
    'event: message_stop\ndata: {"type":"message_stop"}\n\n',
  ]);
  assert.deepEqual(reply.frameTokens, [0, 0, 0, 1, 1, 1, 0, 0, 0]);
  assert.equal(reply.firstContentFrame, 3);
});

/** A stream with a fixed id and without the padding. */
function createPlannedStream(steering: Steering & { outputTokensMax: number }): {
  frames: string[];
  frameTokens: readonly number[];
  firstContentFrame: number;
} {
  const reply = send(ask({ stream: true, max_tokens: steering.outputTokensMax }), {
    steering: { text: steering.text ?? '', pace: { tokensPerFrame: 1 } },
  });
  assert.equal(reply.type, 'stream');
  if (reply.type !== 'stream') throw new Error('unreachable');
  const padded = reply.frames.filter((frame) => frame.endsWith(' \n\n'));
  assert.ok(padded.length > 3, 'frames are padded with spaces');
  return { ...reply, frames: reply.frames.map((frame) => frame.replace(reply.plan.id, 'FIXED').replace(/ +\n\n$/, '\n\n')) };
}

test('a stream delivers the tokens that it reports, for any blocks', () => {
  const variants: JsonRecord[] = [
    {},
    { thinking: { type: 'enabled', budget_tokens: 1024 }, max_tokens: 2000 },
    { thinking: { type: 'adaptive', display: 'omitted' } },
    { tools: [tool], tool_choice: { type: 'any' } },
    {
      tools: [{ name: 'noop', input_schema: { type: 'object', properties: {}, additionalProperties: false } }],
      tool_choice: { type: 'any' },
    },
    { max_tokens: 3 },
  ];
  for (const variant of variants) {
    const reply = send(ask({ ...variant, stream: true }));
    assert.ok(reply.type === 'stream');
    assert.equal(reply.frames.length, reply.frameTokens.length);
    assert.equal(
      reply.frameTokens.reduce((sum, tokens) => sum + tokens, 0),
      reply.plan.usage.outputTokens,
      JSON.stringify(variant),
    );
    assert.ok((reply.frameTokens[reply.firstContentFrame] ?? 0) > 0);
  }
});

test('thinking comes first, signed, and its text is omitted if the client asks for that', () => {
  const [thinking, reply] = answer({ thinking: { type: 'enabled', budget_tokens: 1024 }, max_tokens: 2000 })['content'] as JsonRecord[];
  assert.equal(thinking?.['signature'], signReasoning(asText(thinking?.['thinking'])));
  assert.equal(reply?.['type'], 'text');
  const [omitted] = answer({ thinking: { type: 'adaptive', display: 'omitted' } })['content'] as JsonRecord[];
  assert.equal(omitted?.['thinking'], '');
});

test('every stop reason is written', () => {
  assert.equal(answer({ max_tokens: 1 })['stop_reason'], 'max_tokens');
  const stopped = answer({ stop_sequences: ['simulated'] });
  assert.deepEqual([stopped['stop_reason'], stopped['stop_sequence']], ['stop_sequence', 'simulated']);
  assert.equal(answer({ tools: [tool] })['stop_reason'], 'tool_use');
  const refused = answer({}, { steering: { stop: 'refusal' } });
  assert.equal(refused['stop_reason'], 'refusal');
  assert.equal((refused['stop_details'] as JsonRecord)['type'], 'refusal');
  assert.equal(answer({}, { steering: { stop: 'pause' } })['stop_reason'], 'pause_turn');
});

test('cache marks: the first use writes, a later one reads, in the cache of its lifetime', () => {
  const system = [text('A long preamble. '.repeat(10), { cache_control: { type: 'ephemeral', ttl: '1h' } })];
  const first = answer({ system })['usage'] as JsonRecord;
  assert.deepEqual([first['cache_creation_input_tokens'], first['cache_read_input_tokens']], [43, 0]);
  assert.deepEqual(first['cache_creation'], { ephemeral_5m_input_tokens: 0, ephemeral_1h_input_tokens: 43 });
  const second = answer({ system })['usage'] as JsonRecord;
  assert.deepEqual([second['cache_creation_input_tokens'], second['cache_read_input_tokens']], [0, 43]);
  assert.ok(Number(second['input_tokens']) > 0 && Number(second['input_tokens']) < 10);
});

test('credentials and a version are required, with the vendor’s messages', () => {
  const bare = (headers: Record<string, string>): SimulatedRequest => ({ ...requestOf(ask(), {}), headers });
  assert.throws(() => anthropic.authenticate(bare({})), /x-api-key header is required/);
  assert.throws(() => anthropic.authenticate(bare({ 'x-api-key': '' })), /invalid x-api-key/);
  anthropic.authenticate(bare({ authorization: 'Bearer k' }));
  assert.throws(() => anthropic.handle(bare({ 'x-api-key': 'k' }), createPlanner({ seed: '' })), /anthropic-version: header is required/);
});

test('an invalid shape is refused with the place and the reason', () => {
  const cases: [JsonRecord, string][] = [
    [{ foo: 1 }, 'foo: Extra inputs are not permitted'],
    [{ max_tokens: '5' }, 'max_tokens: Input should be a valid integer'],
    [{ max_tokens: -1 }, 'max_tokens: Input should be greater than or equal to 0'],
    [{ temperature: 1.5 }, 'temperature: Input should be less than or equal to 1'],
    [{ messages: 'Hi' }, 'messages: Input should be a valid list'],
    [{ messages: [{ role: 'tool', content: 'x' }] }, "messages.0.role: Input should be 'user', 'assistant' or 'system'"],
    [{ messages: [user({ type: 'text' })] }, 'messages.0.content.0.text.text: Field required'],
    [{ messages: [user({ type: 'text', text: 'a', foo: 1 })] }, 'messages.0.content.0.text.foo: Extra inputs are not permitted'],
    [{ messages: [user({ text: 'a' })] }, "messages.0.content.0: Unable to extract tag using discriminator 'type'"],
    [
      { messages: [user({ type: 'image', source: { type: 'base64', media_type: 'image/bmp', data: 'AA==' } })] },
      "messages.0.content.0.image.source.base64.media_type: Input should be 'image/jpeg', 'image/png', 'image/gif' or 'image/webp'",
    ],
    [
      { tools: [{ name: 'bad name', input_schema: { type: 'object' } }] },
      "tools.0.custom.name: String should match pattern '^[a-zA-Z0-9_-]{1,128}$'",
    ],
    [{ tools: [{ name: 'a' }] }, 'tools.0.custom.input_schema: Field required'],
    [{ tools: [{ type: 'function', function: { name: 'a' } }] }, ''],
    [{ tool_choice: { type: 'tool' } }, 'tool_choice.tool.name: Field required'],
    [{ thinking: { type: 'enabled', budget_tokens: 5 } }, 'thinking.enabled.budget_tokens: Input should be greater than or equal to 1024'],
    [{ system: [{ type: 'image' }] }, ''],
  ];
  for (const [changes, message] of cases) {
    const found = refusal(ask(changes));
    if (message !== '') assert.equal(found, message);
  }
  assert.equal(refusal({ model: 'm', messages: [] }), 'max_tokens: Field required');
  assert.match(
    refusal(ask({ messages: [user({ type: 'input_text', text: 'a' })] })),
    /^messages\.0\.content\.0: Input tag 'input_text' found using 'type' does not match any of the expected tags: 'text', /,
  );
  assert.match(refusal(ask({ tools: [{ type: 'function', function: {} }] })), /^tools\.0: Input tag 'function' found/);
});

test('rules between members are checked', () => {
  const cases: [JsonRecord, RegExp][] = [
    [{ messages: [] }, /^messages: at least one message is required$/],
    [{ messages: [assistant(text('Hi'))] }, /first message must use the "user" role/],
    [{ messages: [user(text(''))] }, /text content blocks must be non-empty/],
    [{ messages: [user(text(' \n'))] }, /must contain non-whitespace text/],
    [{ messages: [user(text('a')), assistant(text('b '))] }, /cannot end with trailing whitespace/],
    [{ messages: [user(text('a')), assistant(), user(text('b'))] }, /^messages\.1: all messages must have non-empty content/],
    [{ stop_sequences: [' '] }, /each stop sequence must contain non-whitespace/],
    [{ tools: [tool, tool] }, /Tool names must be unique/],
    [{ tool_choice: { type: 'any' } }, /may only be specified while providing tools/],
    [{ tools: [tool], tool_choice: { type: 'tool', name: 'other' } }, /Tool 'other' not found in provided tools/],
    [
      { thinking: { type: 'enabled', budget_tokens: 1024 }, max_tokens: 1024 },
      /`max_tokens` must be greater than `thinking.budget_tokens`/,
    ],
    [{ thinking: { type: 'enabled', budget_tokens: 1024 }, max_tokens: 2000, temperature: 0 }, /`temperature` may only be set to 1/],
    [
      { thinking: { type: 'adaptive' }, tools: [tool], tool_choice: { type: 'any' } },
      /Thinking may not be enabled when tool_choice forces/,
    ],
    [
      { output_config: { format: { type: 'json_schema', schema: { type: 'object' } } } },
      /'additionalProperties' must be explicitly set to false/,
    ],
    [
      { messages: [user(...Array.from({ length: 5 }, () => text('a', { cache_control: { type: 'ephemeral' } })))] },
      /maximum of 4 blocks with cache_control may be provided\. Found 5/,
    ],
    [
      {
        messages: [
          user(text('a', { cache_control: { type: 'ephemeral' } }), text('b', { cache_control: { type: 'ephemeral', ttl: '1h' } })),
        ],
      },
      /must not come after/,
    ],
    [
      { messages: [user(text('a')), assistant({ type: 'thinking', thinking: 'mine', signature: 'AA==' }, text('b')), user(text('c'))] },
      /Invalid `signature` in `thinking` block/,
    ],
  ];
  for (const [changes, pattern] of cases) assert.match(refusal(ask(changes)), pattern);
  assert.equal(refusal(ask({ model: 'missing-model' }), {}, 404, 'not_found_error'), 'model: missing-model');
});

test('tool calls and results must match', () => {
  const unanswered = /^messages\.1: `tool_use` ids were found without `tool_result` blocks immediately after: toolu_a\. Each/;
  assert.match(refusal(ask({ messages: [user(text('a')), assistant(call('toolu_a')), user(text('b'))] })), unanswered);
  assert.match(refusal(ask({ messages: [user(text('a')), assistant(call('toolu_a'))] })), unanswered);
  // Results after text do not count.
  assert.match(refusal(ask({ messages: [user(text('a')), assistant(call('toolu_a')), user(text('b'), result('toolu_a'))] })), unanswered);
  assert.match(
    refusal(ask({ messages: [user(result('toolu_a'))] })),
    /^messages\.0\.content\.0: unexpected `tool_use_id` found in `tool_result` blocks: toolu_a\./,
  );
  assert.match(refusal(ask({ messages: [user(text('a')), assistant(call('t'), call('t')), user(result('t'))] })), /ids must be unique/);
  // Consecutive messages of one role are one turn, and instructions may be between them.
  const split = [
    user(text('a')),
    assistant(call('t1')),
    assistant(call('t2')),
    { role: 'system', content: 'x' },
    user(result('t1')),
    user(result('t2'), text('b')),
  ];
  assert.equal(answer({ messages: split, tools: [tool] })['stop_reason'], 'end_turn');
});

test('with thinking on, a tool loop must begin with its reasoning', () => {
  const thinking = { thinking: { type: 'enabled', budget_tokens: 1024 }, max_tokens: 2000, tools: [tool] };
  const found = refusal(ask({ ...thinking, messages: [user(text('a')), assistant(call('t')), user(result('t'))] }));
  assert.match(found, /^messages\.1\.content\.0\.type: Expected `thinking` or `redacted_thinking`, but found `tool_use`/);
  const own = { type: 'thinking', thinking: 'why', signature: signReasoning('why') };
  answer({ ...thinking, messages: [user(text('a')), assistant(own, call('t')), user(result('t'))] });
});

test('fields of a beta exist only with its header', () => {
  assert.equal(refusal(ask({ context_management: { edits: [] } })), 'context_management: Extra inputs are not permitted');
  answer({ context_management: { edits: [] } }, { headers: { 'anthropic-beta': 'other-2025-01-01, context-management-2025-06-27' } });
  assert.equal(refusal(ask({ thread: { type: 'create' } })), 'thread: Extra inputs are not permitted');
});

test('threads: only new messages are sent, and only a known reply can be continued, once, by its owner', () => {
  const headers = { 'anthropic-beta': 'message-threads-2026-08-12' };
  const first = answer({ thread: { type: 'create' }, tools: [tool] }, { headers, steering: { toolCalls: 1 } });
  const calls = (first['content'] as JsonRecord[]).filter((block) => block['type'] === 'tool_use');
  const next = { thread: { type: 'continue', previous_message_id: first['id'] ?? '' }, messages: [user(result(asText(calls[0]?.['id'])))] };
  assert.match(threadError(ask(next), { ...headers, 'x-api-key': 'other' }), /^thread_not_found/);
  assert.match(threadError(ask({ ...next, tools: [tool] }), headers), /tools: may not be set/);
  const second = answer(next, { headers });
  assert.equal(second['stop_reason'], 'end_turn');
  assert.ok(Number((second['usage'] as JsonRecord)['input_tokens']) > 3, 'the stored messages are counted');
  assert.match(threadError(ask(next), headers), /^thread_already_continued/);
  assert.match(threadError(ask({ thread: { type: 'continue', previous_message_id: 'msg_x' } }), headers), /^thread_not_found/);
});

function threadError(body: JsonRecord, headers: Record<string, string>): string {
  try {
    send(body, { headers });
  } catch (error) {
    assert.ok(error instanceof VendorError && error.status === 400);
    const { error: inner } = error.body as { error: { message: string; details?: { error_code: string } } };
    return `${inner.details?.error_code ?? ''} ${inner.message}`;
  }
  return assert.fail('was not refused');
}

test('count_tokens counts the tokens of a message, and accepts no output limits', () => {
  const reply = send(
    { model: 'claude-test', messages: [{ role: 'user', content: 'x'.repeat(40) }] },
    { path: '/v1/messages/count_tokens' },
  );
  assert.ok(reply.type === 'whole' && reply.plan === undefined);
  assert.deepEqual(JSON.parse(reply.body), { input_tokens: 10 });
  assert.equal(refusal(ask(), { path: '/v1/messages/count_tokens' }), 'max_tokens: Extra inputs are not permitted');
});

test('the models can be listed in pages and read one by one', () => {
  const get = (path: string): JsonRecord => {
    const reply = send(undefined, { method: 'GET', path });
    return JSON.parse(reply.type === 'whole' ? reply.body : '') as JsonRecord;
  };
  const all = get('/v1/models');
  const ids = (all['data'] as JsonRecord[]).map((model) => asText(model['id']));
  const page = get(`/v1/models?limit=1&after_id=${ids[0]}`);
  assert.deepEqual([page['first_id'], page['last_id'], page['has_more']], [ids[1], ids[1], true]);
  assert.equal(get(`/v1/models/${ids[0]}`)['type'], 'model');
  assert.equal(refusal(undefined, { method: 'GET', path: '/v1/models/nope' }, 404, 'not_found_error'), 'model: nope');
});

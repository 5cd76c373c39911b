import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createPromptCache } from '../../prompt-cache.ts';
import type { JsonRecord, SimulatedReply, SimulatedRequest, VendorMemory } from '../../simulated-vendor.ts';
import { VendorError } from '../../simulated-vendor.ts';
import { createVendorMemory } from '../../vendor-memory.ts';
import { createSteeredPlanner } from '../create-steered-planner.ts';
import { handleResponses } from './responses.ts';

type Call = {
  method?: string;
  path?: string;
  steering?: Record<string, string>;
  memory?: VendorMemory;
  key?: string;
  cache?: ReturnType<typeof createPromptCache>;
};

// Bodies are read loosely: their content is the subject of the tests.
type Loose = any;

function send(body: JsonRecord | undefined, call: Call = {}): SimulatedReply | undefined {
  const [path = '', query = ''] = (call.path ?? '/v1/responses').split('?');
  const request: SimulatedRequest = {
    method: call.method ?? 'POST',
    path,
    query: new URLSearchParams(query),
    headers: { authorization: `Bearer ${call.key ?? 'one'}` },
    body,
    ...(call.memory && { memory: call.memory }),
  };
  return handleResponses(request, createSteeredPlanner(call.steering, call.cache));
}

function whole(body: JsonRecord | undefined, call: Call = {}): Loose {
  const reply = send(body, call);
  assert.equal(reply?.type, 'whole');
  return JSON.parse(reply.body);
}

function stream(body: JsonRecord, call: Call = {}): { events: Loose[]; reply: Extract<SimulatedReply, { type: 'stream' }> } {
  const reply = send({ stream: true, ...body }, call);
  assert.equal(reply?.type, 'stream');
  const events = reply.frames.map((frame) => {
    const [, name, data] = /^event: (.+)\ndata: (.+)\n\n$/.exec(frame) ?? [];
    const event = JSON.parse(data ?? '');
    assert.equal(event.type, name);
    return event;
  });
  return { events, reply };
}

function refusalOf(body: JsonRecord, call: Call = {}): { status: number; message: string; param: string | null; code: string | null } {
  try {
    send(body, call);
  } catch (error) {
    assert.ok(error instanceof VendorError);
    const details: Loose = error.body;
    assert.deepEqual(Object.keys(details.error), ['message', 'type', 'param', 'code']);
    assert.equal(details.error.type, 'invalid_request_error');
    return { status: error.status, message: details.error.message, param: details.error.param, code: details.error.code };
  }
  throw new Error(`accepted: ${JSON.stringify(body)}`);
}

const model = 'gpt-4o';
const weather = {
  type: 'function',
  name: 'get_weather',
  strict: true,
  parameters: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'], additionalProperties: false },
};

test('response-object-lacks-members: every member that the vendor sends exists, null if absent', () => {
  const response = whole({ model, input: 'Hello' });
  assert.deepEqual(Object.keys(response).toSorted(), [
    'background',
    'completed_at',
    'created_at',
    'error',
    'id',
    'incomplete_details',
    'instructions',
    'max_output_tokens',
    'max_tool_calls',
    'metadata',
    'model',
    'object',
    'output',
    'parallel_tool_calls',
    'previous_response_id',
    'prompt_cache_key',
    'reasoning',
    'safety_identifier',
    'service_tier',
    'status',
    'store',
    'temperature',
    'text',
    'tool_choice',
    'tools',
    'top_logprobs',
    'top_p',
    'truncation',
    'usage',
    'user',
  ]);
  assert.equal(response.status, 'completed');
  assert.equal(response.created_at, 1_785_963_542);
  assert.match(response.output[0].content[0].text, /simulated/);
  assert.equal(response.usage.total_tokens, response.usage.input_tokens + response.usage.output_tokens);
  assert.equal(response.service_tier, 'default');
});

test('same-request-other-reply: the same request and seed give the same bytes', () => {
  assert.deepEqual(send({ model, input: 'Hello' }), send({ model, input: 'Hello' }));
});

test('events-out-of-order: text is wrapped in created, item, part, deltas, and completed carries everything', () => {
  const { events, reply } = stream({ model, input: 'Hello' });
  const types = events.map((event) => event.type);
  assert.deepEqual(
    [...new Set(types)],
    [
      'response.created',
      'response.in_progress',
      'response.output_item.added',
      'response.content_part.added',
      'response.output_text.delta',
      'response.output_text.done',
      'response.content_part.done',
      'response.output_item.done',
      'response.completed',
    ],
  );
  assert.deepEqual(
    events.map((event) => event.sequence_number),
    events.map((_, index) => index),
  );
  assert.deepEqual([events[0].response.status, events[0].response.output, events[0].response.usage], ['in_progress', [], null]);
  const text = events.filter((event) => event.type === 'response.output_text.delta').map((event) => event.delta);
  const final = events.at(-1).response;
  assert.equal(text.join(''), final.output[0].content[0].text);
  assert.ok(events.slice(2, -1).every((event) => (event.item_id ?? event.item.id) === final.output[0].id));
  assert.equal(reply.frameTokens[reply.firstContentFrame - 1], 0);
  assert.ok((reply.frameTokens[reply.firstContentFrame] ?? 0) > 0);
  assert.equal(reply.headers['content-type'], 'text/event-stream; charset=utf-8');
  assert.ok(events.every((event) => !('obfuscation' in event)));
  assert.deepEqual(final, whole({ model, input: 'Hello', stream: false }));
});

for (const [name, body, steering] of [
  ['text', { model, input: 'Hello' }, {}],
  ['hidden reasoning', { model: 'gpt-5', input: 'Hello' }, {}],
  ['shown reasoning', { model: 'gpt-5', input: 'Hello', reasoning: { effort: 'high', summary: 'auto' } }, {}],
  ['parallel calls', { model, input: 'Hello', tools: [weather], tool_choice: 'required' }, { 'tool-calls': '2' }],
  ['refusal', { model, input: 'Hello' }, { stop: 'refusal' }],
  ['empty', { model, input: 'Hello' }, { text: '' }],
  ['custom tool', { model, input: 'Hello', tools: [{ type: 'custom', name: 'sql' }], tool_choice: 'required' }, {}],
  [
    'namespace',
    { model, input: 'Hello', tools: [{ type: 'namespace', name: 'db', description: '', tools: [weather] }], tool_choice: 'required' },
    {},
  ],
] as const satisfies readonly (readonly [string, JsonRecord, Record<string, string>])[]) {
  test(`frame-tokens-do-not-add-up: ${name}`, () => {
    const { events, reply } = stream(body, { steering });
    const sum = reply.frameTokens.reduce((total, tokens) => total + tokens, 0);
    assert.equal(sum, events.at(-1).response.usage.output_tokens);
    assert.equal(reply.frameTokens.length, reply.frames.length);
  });
}

test('reasoning-shown-or-hidden: the summary and the encrypted content are only in the reply if requested, and their count is inside the output tokens', () => {
  const hidden = whole({ model: 'gpt-5', input: 'Hello' });
  assert.deepEqual(hidden.output[0], { id: hidden.output[0].id, type: 'reasoning', summary: [] });
  assert.match(hidden.output[0].id, /^rs_/);
  const { reasoning_tokens: reasoningTokens } = hidden.usage.output_tokens_details;
  assert.ok(reasoningTokens > 0 && reasoningTokens < hidden.usage.output_tokens);
  const body = { model: 'gpt-5', input: 'Hello', reasoning: { summary: 'detailed' }, include: ['reasoning.encrypted_content'] };
  const { events } = stream(body);
  const types = events.filter((event) => event.output_index === 0).map((event) => event.type);
  assert.deepEqual(
    [...new Set(types)],
    [
      'response.output_item.added',
      'response.reasoning_summary_part.added',
      'response.reasoning_summary_text.delta',
      'response.reasoning_summary_text.done',
      'response.reasoning_summary_part.done',
      'response.output_item.done',
    ],
  );
  const item = events.at(-1).response.output[0];
  assert.ok(item.encrypted_content.length > 20);
  assert.match(item.summary[0].text, /simulated reasoning/);
  assert.equal(whole({ model: 'gpt-5', input: 'Hello', reasoning: { effort: 'none' } }).output[0].type, 'message');
});

test('parallel-calls-share-an-id: each call has its own item id and call id, and arguments that match the schema', () => {
  const { events } = stream({ model, input: 'Weather?', tools: [weather], tool_choice: 'required' }, { steering: { 'tool-calls': '2' } });
  const calls = events.at(-1).response.output;
  assert.deepEqual(
    calls.map((call: Loose) => [call.type, call.name, call.status]),
    [
      ['function_call', 'get_weather', 'completed'],
      ['function_call', 'get_weather', 'completed'],
    ],
  );
  assert.equal(new Set(calls.flatMap((call: Loose) => [call.id, call.call_id])).size, 4);
  for (const [index, call] of calls.entries()) {
    assert.match(call.call_id, /^call_/);
    assert.match(call.id, /^fc_/);
    assert.equal(typeof JSON.parse(call.arguments).city, 'string');
    const deltas = events.filter((event) => event.type === 'response.function_call_arguments.delta' && event.output_index === index);
    assert.equal(deltas.map((event) => event.delta).join(''), call.arguments);
    const added = events.find((event) => event.type === 'response.output_item.added' && event.output_index === index);
    assert.deepEqual([added.item.arguments, added.item.status], ['', 'in_progress']);
  }
  assert.deepEqual(events.at(-1).response.tools, [{ ...weather, description: null }]);
});

test('namespaced-call: the call names the function and its namespace', () => {
  const tools = [{ type: 'namespace', name: 'db', description: 'd', tools: [{ ...weather, name: 'read' }] }];
  const [call] = whole({ model, input: 'x', tools, tool_choice: 'required', parallel_tool_calls: false }).output;
  assert.deepEqual([call.type, call.name, call.namespace], ['function_call', 'read', 'db']);
});

test('refusal-as-text: a refusal is a part of its own kind', () => {
  const { events } = stream({ model, input: 'Hello' }, { steering: { stop: 'refusal' } });
  const types = events.map((event) => event.type);
  assert.ok(types.includes('response.refusal.delta') && types.includes('response.refusal.done'));
  assert.equal(events.at(-1).response.output[0].content[0].type, 'refusal');
});

test('cut-reply-looks-complete: the output limit gives incomplete everywhere', () => {
  const { events } = stream({ model, input: 'Hello', max_output_tokens: 16 }, { steering: { 'output-tokens': '60' } });
  const last = events.at(-1);
  assert.equal(last.type, 'response.incomplete');
  assert.deepEqual(
    [last.response.status, last.response.incomplete_details, last.response.completed_at],
    ['incomplete', { reason: 'max_output_tokens' }, null],
  );
  assert.equal(last.response.output.at(-1).status, 'incomplete');
  assert.equal(last.response.usage.output_tokens, 16);
  const filtered = whole({ model, input: 'Hello' }, { steering: { stop: 'content-filter' } });
  assert.deepEqual(filtered.incomplete_details, { reason: 'content_filter' });
});

test('failure-in-the-stream: the error event is nested as at the vendor, and a failed response follows', () => {
  const { reply } = stream({ model, input: 'Hello' });
  const [error, failed] = reply.errorFrame.split('\n\n').map((frame) => JSON.parse(frame.split('data: ')[1] ?? 'null'));
  assert.deepEqual([error.type, error.error.code], ['error', 'server_error']);
  assert.deepEqual([failed.type, failed.response.status, failed.response.error.code], ['response.failed', 'failed', 'server_error']);
});

test('web-search: a search call comes before the text, which cites its source by characters', () => {
  const { events } = stream({ model, input: 'Nachrichten über Zürich?', tools: [{ type: 'web_search' }] });
  const types = [...new Set(events.map((event) => event.type))];
  assert.ok(types.indexOf('response.web_search_call.searching') < types.indexOf('response.output_text.delta'));
  assert.ok(types.indexOf('response.output_text.delta') < types.indexOf('response.output_text.annotation.added'));
  const [search, message] = events.at(-1).response.output;
  assert.deepEqual(search.action.query, 'Nachrichten über Zürich?');
  const [citation] = message.content[0].annotations;
  assert.equal(citation.type, 'url_citation');
  assert.ok(citation.end_index > 0 && citation.end_index <= Array.from(message.content[0].text).length);
  assert.ok(!('action' in events.find((event) => event.type === 'response.output_item.added').item));
  assert.equal(events.at(-1).response.tools[0].search_context_size, 'medium');
  assert.equal(whole({ model, input: 'x', tools: [{ type: 'web_search_preview' }], tool_choice: 'none' }).output.length, 1);
});

test('structured-output: the text is JSON of the schema', () => {
  const format = { type: 'json_schema', name: 'city', strict: true, schema: weather.parameters };
  const response = whole({ model, input: 'x', text: { format } });
  assert.equal(typeof JSON.parse(response.output[0].content[0].text).city, 'string');
  assert.deepEqual(response.text.format, { ...format, description: null });
  assert.deepEqual(
    Object.keys(JSON.parse(whole({ model, input: 'as json', text: { format: { type: 'json_object' } } }).output[0].content[0].text))
      .length > 0,
    true,
  );
});

test('unknown-item: an item of an unknown type can be requested', () => {
  const { events } = stream({ model, input: 'Hello' }, { steering: { fault: 'unknown-block' } });
  assert.equal(events.at(-1).response.output[0].type, 'simulated_unknown_item');
});

test('obfuscation-breaks-the-text: padding is only sent if requested, and only beside deltas', () => {
  const { events } = stream({ model, input: 'Hello', stream_options: { include_obfuscation: true } });
  for (const event of events) assert.equal('obfuscation' in event, event.type.endsWith('.delta'));
});

test('chain-forgets: a continued conversation contains the earlier turns, but not their instructions', () => {
  const memory = createVendorMemory();
  const first = whole({ model, input: 'My name is Ada.', instructions: 'A rule that takes up some tokens of the prompt.' }, { memory });
  const alone = whole({ model, input: 'What is my name?' }, { memory });
  const second = whole({ model, input: 'What is my name?', previous_response_id: first.id }, { memory });
  assert.equal(second.previous_response_id, first.id);
  const replayed = whole({
    model,
    input: [{ role: 'user', content: 'My name is Ada.' }, ...first.output, { role: 'user', content: 'What is my name?' }],
  });
  assert.ok(second.usage.input_tokens > alone.usage.input_tokens);
  assert.equal(second.usage.input_tokens, replayed.usage.input_tokens);
  whole(undefined, { memory, method: 'DELETE', path: `/v1/responses/${first.id}` });
  assert.equal(refusalOf({ model, input: 'x', previous_response_id: first.id }, { memory }).code, 'previous_response_not_found');
  assert.ok(whole({ model, input: 'x', previous_response_id: second.id }, { memory }).usage.input_tokens > second.usage.input_tokens);
});

test("foreign-response: another credential's, an unstored and a missing response are equally unknown", () => {
  const memory = createVendorMemory();
  const kept = whole({ model, input: 'Hello' }, { memory });
  const unkept = whole({ model, input: 'Hello!', store: false }, { memory });
  for (const [id, key] of [
    [kept.id, 'two'],
    [unkept.id, 'one'],
    ['resp_never', 'one'],
  ] as const) {
    const call = { memory, key, method: 'GET', path: `/v1/responses/${id}` };
    assert.throws(() => send(undefined, call), { status: 404, message: `Response with id '${id}' not found.` });
    assert.deepEqual(refusalOf({ model, input: 'x', previous_response_id: id }, { memory, key }), {
      status: 400,
      message: `Previous response with id '${id}' not found.`,
      param: 'previous_response_id',
      code: 'previous_response_not_found',
    });
  }
});

test('stored-response: it can be read, replayed from a number on, listed and deleted once', () => {
  const memory = createVendorMemory();
  const { events } = stream({ model, input: 'Hello' }, { memory });
  const { response } = events.at(-1);
  const path = `/v1/responses/${response.id}`;
  assert.deepEqual(whole(undefined, { memory, method: 'GET', path: `${path}?stream=false` }), response);
  const replay = send(undefined, { memory, method: 'GET', path: `${path}?stream=true&starting_after=3` });
  assert.equal(replay?.type, 'whole');
  assert.match(replay.body, /^event: response.output_text.delta\ndata: \{"type":"response.output_text.delta","sequence_number":4,/);
  const list = whole(undefined, { memory, method: 'GET', path: `${path}/input_items` });
  assert.deepEqual(list.data[0].content, [{ type: 'input_text', text: 'Hello' }]);
  assert.deepEqual([list.object, list.has_more, list.first_id], ['list', false, list.data[0].id]);
  assert.deepEqual(whole(undefined, { memory, method: 'DELETE', path }), { id: response.id, object: 'response', deleted: true });
  assert.throws(() => send(undefined, { memory, method: 'DELETE', path }), { status: 404 });
});

test('background: the answer is queued at once, and the finished response can be read', () => {
  const memory = createVendorMemory();
  const queued = whole({ model, input: 'Hello', background: true }, { memory });
  assert.deepEqual([queued.status, queued.output, queued.usage], ['queued', [], null]);
  assert.equal(whole(undefined, { memory, method: 'GET', path: `/v1/responses/${queued.id}` }).status, 'completed');
  const { events } = stream({ model, input: 'Hello', background: true }, { memory });
  assert.deepEqual(
    events.slice(0, 3).map((event) => event.type),
    ['response.created', 'response.queued', 'response.in_progress'],
  );
  assert.throws(() => send(undefined, { memory, path: `/v1/responses/${queued.id}/cancel` }), {
    status: 400,
    message: 'Cannot cancel a completed response.',
  });
});

test("replayed-output: the vendor's output is accepted as input, with its references and reasoning", () => {
  const memory = createVendorMemory();
  const body = {
    model: 'gpt-5',
    input: 'Weather?',
    tools: [weather, { type: 'web_search' }],
    tool_choice: 'required',
    reasoning: { summary: 'auto' },
  };
  const first = whole(body, { memory, steering: { 'tool-calls': '2' } });
  const outputs = first.output
    .filter((item: Loose) => item.call_id)
    .map((item: Loose) => ({ type: 'function_call_output', call_id: item.call_id, output: '{"degrees":20}' }));
  assert.equal(outputs.length, 2);
  const question = { role: 'user', content: 'Weather?' };
  const second = whole({ ...body, tool_choice: 'auto', input: [question, ...first.output, ...outputs] }, { memory });
  assert.equal(second.output.at(-1).type, 'message');
  const references = first.output.map((item: Loose) => ({ type: 'item_reference', id: item.id }));
  const third = whole({ ...body, tool_choice: 'auto', input: [question, ...references, ...outputs] }, { memory });
  assert.equal(third.usage.input_tokens, second.usage.input_tokens);
  const [reasoning] = first.output;
  const unknown = refusalOf({ ...body, input: [question, ...first.output, ...outputs] });
  assert.deepEqual([unknown.status, unknown.param], [404, 'input']);
  assert.match(unknown.message, new RegExp(`^Item with id '${reasoning.id}' not found\\. Items are not persisted`));
});

test('prompt-cache: a long prompt is cached automatically, and reads are inside the input tokens', () => {
  const cache = createPromptCache();
  const input = 'The same long words. '.repeat(400);
  const first = whole({ model, input }, { cache });
  const second = whole({ model, input }, { cache });
  assert.equal(first.usage.input_tokens, second.usage.input_tokens);
  assert.deepEqual(first.usage.input_tokens_details.cached_tokens, 0);
  assert.ok(second.usage.input_tokens_details.cached_tokens > 1024);
  assert.ok(second.usage.input_tokens_details.cached_tokens < second.usage.input_tokens);
});

test('count: the count of input tokens is the one that is billed', () => {
  const body = { model, input: 'Hello there', tools: [weather] };
  assert.deepEqual(whole(body, { path: '/v1/responses/input_tokens' }), {
    object: 'response.input_tokens',
    input_tokens: whole(body).usage.input_tokens,
  });
});

test('agent-program: a body as agent programs send it is accepted', () => {
  const response = whole({
    model: 'gpt-5-codex',
    instructions: 'You are an agent.',
    input: [
      { type: 'message', role: 'developer', content: [{ type: 'input_text', text: 'rules' }] },
      { type: 'message', id: 'item-1', role: 'user', content: [{ type: 'input_text', text: 'list files' }] },
      { type: 'reasoning', summary: [], content: null, encrypted_content: 'abc' },
      { type: 'function_call', name: 'shell', arguments: '{"command":["ls"]}', call_id: 'call_1' },
      { type: 'function_call_output', call_id: 'call_1', output: 'a.ts' },
    ],
    tools: [
      { type: 'function', name: 'shell', description: 'runs', strict: false, parameters: { type: 'object', properties: {} } },
      {
        type: 'namespace',
        name: 'mcp__x',
        description: 'tools of x',
        tools: [{ type: 'function', name: 'go', strict: false, parameters: { type: 'object' } }],
      },
      { type: 'web_search', external_web_access: true },
      { type: 'custom', name: 'apply_patch', format: { type: 'grammar', syntax: 'lark', definition: 'x' } },
    ],
    tool_choice: 'auto',
    parallel_tool_calls: false,
    reasoning: { effort: 'medium', summary: 'auto' },
    store: false,
    include: ['reasoning.encrypted_content'],
    prompt_cache_key: 'k',
    text: { verbosity: 'low' },
    client_metadata: { a: 'b' },
  });
  assert.equal(response.status, 'completed');
  assert.equal(response.output.at(-1).type, 'message');
});

const image = (url: string) => [{ role: 'user', content: [{ type: 'input_image', image_url: url }] }];
const call = { type: 'function_call', call_id: 'call_x', name: 'f', arguments: '{}' };
const output = { type: 'function_call_output', call_id: 'call_x', output: 'ok' };

for (const [body, message, param, code, status = 400] of [
  [{ model: 'missing-model', input: 'x' }, "The requested model 'missing-model' does not exist.", 'model', 'model_not_found'],
  [
    { model: 'o4-mini', input: 'x', temperature: 0.5 },
    "Unsupported parameter: 'temperature' is not supported with this model.",
    'temperature',
    'unsupported_parameter',
  ],
  [{ input: 'x' }, "Missing required parameter: 'model'.", 'model', 'missing_required_parameter'],
  [{ model }, "Missing required parameter: 'input'.", 'input', 'missing_required_parameter'],
  [{ model, input: 'x', foo: 1 }, "Unknown parameter: 'foo'.", 'foo', 'unknown_parameter'],
  [{ model, input: 'x', max_tokens: 9 }, "Unknown parameter: 'max_tokens'.", 'max_tokens', 'unknown_parameter'],
  [{ model, input: 'x', text: { foo: 1 } }, "Unknown parameter: 'text.foo'.", 'text.foo', 'unknown_parameter'],
  [
    { model, input: [{ role: 'user', content: [{ type: 'input_text', text: 'x', cache_control: {} }] }] },
    "Unknown parameter: 'input[0].content[0].cache_control'.",
    'input[0].content[0].cache_control',
    'unknown_parameter',
  ],
  [
    { model, input: 'x', temperature: -1 },
    "Invalid 'temperature': decimal below minimum value. Expected a value >= 0, but got -1 instead.",
    'temperature',
    'decimal_below_min_value',
  ],
  [
    { model, input: 'x', top_p: 1.5 },
    "Invalid 'top_p': decimal above maximum value. Expected a value <= 1, but got 1.5 instead.",
    'top_p',
    'decimal_above_max_value',
  ],
  [
    { model, input: 'x', max_output_tokens: 5 },
    "Invalid 'max_output_tokens': integer below minimum value. Expected a value >= 16, but got 5 instead.",
    'max_output_tokens',
    'integer_below_min_value',
  ],
  [
    { model, input: 'x', max_output_tokens: 'many' },
    "Invalid type for 'max_output_tokens': expected an integer, but got a string instead.",
    'max_output_tokens',
    'invalid_type',
  ],
  [
    { model, input: 5 },
    "Invalid type for 'input': expected one of a string or an array of objects, but got an integer instead.",
    'input',
    'invalid_type',
  ],
  [
    { model, input: 'x', reasoning: { effort: 'huge' } },
    "Invalid value: 'huge'. Supported values are: 'none', 'minimal', 'low', 'medium', 'high', 'xhigh', and 'max'.",
    'reasoning.effort',
    'invalid_value',
  ],
  [
    { model, input: 'x', include: ['all'] },
    "Invalid value: 'all'. Supported values are: 'file_search_call.results', 'web_search_call.results', 'web_search_call.action.sources', 'message.input_image.image_url', 'computer_call_output.output.image_url', 'code_interpreter_call.outputs', 'reasoning.encrypted_content', and 'message.output_text.logprobs'.",
    'include[0]',
    'invalid_value',
  ],
  [
    { model, input: 'x', metadata: { a: 1 } },
    "Invalid type for 'metadata.a': expected a string, but got an integer instead.",
    'metadata.a',
    'invalid_type',
  ],
  [
    { model, input: 'x', tools: [{ type: 'function', parameters: {} }] },
    "Missing required parameter: 'tools[0].name'.",
    'tools[0].name',
    'missing_required_parameter',
  ],
  [
    { model, input: 'x', tools: [{ type: 'function', function: { name: 'f' } }] },
    "Unknown parameter: 'tools[0].function'.",
    'tools[0].function',
    'unknown_parameter',
  ],
  [
    { model, input: 'x', tools: [{ ...weather, name: 'no spaces' }] },
    "Invalid 'tools[0].name': string does not match pattern. Expected a string that matches the pattern '^[a-zA-Z0-9_-]+$'.",
    'tools[0].name',
    'invalid_value',
  ],
  [
    { model, input: 'x', tools: [{ ...weather, parameters: { type: 'object', properties: {} } }] },
    "Invalid schema for function 'get_weather': In context=(), 'additionalProperties' is required to be supplied and to be false.",
    'tools[0].parameters',
    'invalid_function_parameters',
  ],
  [{ model, input: 'x', tool_choice: 'required' }, "Tool choice 'required' must be specified with 'tools' parameter.", 'tool_choice', null],
  [
    { model, input: 'x', tools: [weather], tool_choice: { type: 'function', name: 'other' } },
    "Tool choice 'function' not found in 'tools' parameter.",
    'tool_choice',
    null,
  ],
  [
    { model, input: 'x', text: { format: { type: 'json_object' } } },
    "Response input messages must contain the word 'json' in some form to use 'text.format' of type 'json_object'.",
    'input',
    null,
  ],
  [
    { model, input: 'x', text: { format: { type: 'json_schema', json_schema: {} } } },
    "Unknown parameter: 'text.format.json_schema'.",
    'text.format.json_schema',
    'unknown_parameter',
  ],
  [
    {
      model,
      input: 'x',
      text: { format: { type: 'json_schema', name: 'n', strict: true, schema: { ...weather.parameters, required: [] } } },
    },
    "Invalid schema for response_format 'n': In context=(), 'required' is required to be supplied and to be an array including every key in properties. Missing 'city'.",
    'text.format.schema',
    'invalid_json_schema',
  ],
  [{ model, input: [call] }, 'No tool output found for function call call_x.', 'input', null],
  [{ model, input: [output] }, 'No tool call found for function call output with call_id call_x.', 'input', null],
  [{ model, input: [output, call] }, 'No tool call found for function call output with call_id call_x.', 'input', null],
  [
    { model, input: [{ ...call, id: 'call_x' }, output] },
    "Invalid 'input[0].id': 'call_x'. Expected an ID that begins with 'fc'.",
    'input[0].id',
    'invalid_value',
  ],
  [
    { model, input: [{ ...call, call_id: 'c'.repeat(65) }] },
    "Invalid 'input[0].call_id': string too long. Expected a string with maximum length 64, but got a string with length 65 instead.",
    'input[0].call_id',
    'string_above_max_length',
  ],
  [
    { model, input: [{ type: 'reasoning', id: 'rs_x', summary: [], encrypted_content: 'e' }] },
    "Item 'rs_x' of type 'reasoning' was provided without its required following item.",
    'input',
    null,
  ],
  [{ model, input: [{ type: 'tool_result', id: 'x' }] }, undefined, 'input[0]', 'invalid_value'],
  [
    { model, input: [{ role: 'assistant', content: [{ type: 'input_text', text: 'x' }] }] },
    "Invalid value: 'input_text'. Supported values are: 'output_text' and 'refusal'.",
    'input[0].content[0]',
    'invalid_value',
  ],
  [
    { model, input: [{ role: 'user', content: [{ type: 'text', text: 'x' }] }] },
    "Invalid value: 'text'. Supported values are: 'input_text', 'input_image', 'output_text', 'refusal', 'input_file', and 'input_audio'.",
    'input[0].content[0]',
    'invalid_value',
  ],
  [
    { model, input: [{ role: 'tool', content: 'x' }] },
    "Invalid value: 'tool'. Supported values are: 'assistant', 'system', 'developer', and 'user'.",
    'input[0].role',
    'invalid_value',
  ],
  [
    { model, input: image('abc') },
    "Invalid 'input[0].content[0].image_url'. Expected a valid URL, but got a value with an invalid format.",
    'input[0].content[0].image_url',
    'invalid_value',
  ],
  [
    { model, input: 'x', previous_response_id: 'resp_a', conversation: 'conv_a' },
    "Mutually exclusive parameters: 'previous_response_id' and 'conversation'. Ensure you are only providing one of: 'previous_response_id' and 'conversation'.",
    null,
    'mutually_exclusive_parameters',
  ],
  [{ model, input: [{ type: 'item_reference', id: 'msg_x' }] }, undefined, 'input', null, 404],
] as const satisfies readonly (readonly [JsonRecord, string | undefined, string | null, string | null, number?])[]) {
  test(`wrong-request-is-refused: ${JSON.stringify(body).slice(0, 110)}`, () => {
    const refusal = refusalOf(body);
    assert.deepEqual(refusal, { status, message: message ?? refusal.message, param, code });
  });
}

test('images-are-counted: data addresses and links count as media', () => {
  const text = whole({ model, input: [{ role: 'user', content: [{ type: 'input_text', text: 'x' }] }] });
  const both = whole({
    model,
    input: [
      {
        role: 'user',
        content: [
          { type: 'input_text', text: 'x' },
          { type: 'input_image', image_url: 'data:image/png;base64,AAAA' },
        ],
      },
    ],
  });
  assert.ok(both.usage.input_tokens > text.usage.input_tokens);
});

test('foreign-route: other paths and methods are not handled', () => {
  assert.equal(send(undefined, { method: 'GET' }), undefined);
  assert.equal(send({}, { path: '/v1/chat/completions' }), undefined);
  assert.equal(send({}, { method: 'PUT', path: '/v1/responses/resp_x' }), undefined);
});

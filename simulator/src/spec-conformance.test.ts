import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ValidateFunction } from 'ajv';
import { Compile } from 'typebox/compile';
import { createPlanner } from './plan-reply.ts';
import type { JsonRecord, SimulatedReply, SimulatedVendor } from './simulated-vendor.ts';
import { readSteering } from './steering.ts';
import { assertValid, membersOf, readSpec as readTypedSpec, skipWithoutSpecs as skip } from './vendor-specs.ts';
import { anthropic } from './vendors/anthropic/anthropic.ts';
import { messagesSchema } from './vendors/anthropic/messages-schema.ts';
import { decodeProtoJson } from './vendors/gemini/decode-proto-json.ts';
import { gemini } from './vendors/gemini/gemini.ts';
import { generateContentMessage, generateContentSchema, schemaMessage } from './vendors/gemini/generate-content-schema.ts';
import { chatSchema } from './vendors/openai/chat-schema.ts';
import { openai } from './vendors/openai/openai.ts';
import { responsesRequestSchema } from './vendors/openai/responses-request-schema.ts';

// The schemas of the vendors are read loosely.
type Loose = any;

const readSpec = (name: string): { readonly schemas: Loose; readonly validator: (schema: string) => ValidateFunction } =>
  readTypedSpec(name);

type Exchange = { readonly name: string; readonly body: JsonRecord; readonly steering?: Readonly<Record<string, string>> };

function send(vendor: SimulatedVendor, path: string, exchange: Exchange, headers: Readonly<Record<string, string>> = {}): SimulatedReply {
  const steering = readSteering(
    Object.fromEntries(Object.entries(exchange.steering ?? {}).map(([name, value]) => [`x-simulator-${name}`, value])),
  );
  const [pathname = '', query = ''] = path.split('?');
  const request = { method: 'POST', path: pathname, query: new URLSearchParams(query), headers, body: exchange.body };
  const reply = vendor.handle(request, createPlanner({ seed: 'seed', nowMs: 1_785_963_542_000, steering }));
  assert.ok(reply);
  return reply;
}

function wholeBody(reply: SimulatedReply): Loose {
  assert.equal(reply.type, 'whole');
  return JSON.parse(reply.body);
}

function streamData(reply: SimulatedReply): Loose[] {
  assert.equal(reply.type, 'stream');
  const data = reply.frames.map((frame) => /(?:^|\n)data: (.+?)\s*$/.exec(frame)?.[1] ?? '');
  return data.filter((text) => text !== '[DONE]').map((text) => JSON.parse(text));
}

const parameters = { type: 'object', properties: { city: { type: 'string' } }, required: ['city'], additionalProperties: false };
const forcedTwice = { stop: 'tool-use', 'tool-calls': '2' };

const responsesExchanges: readonly Exchange[] = [
  { name: 'text', body: { model: 'gpt-4o', input: 'Hello' } },
  {
    name: 'reasoning',
    body: {
      model: 'gpt-5.6-sol',
      input: 'Hello',
      reasoning: { effort: 'high', summary: 'auto' },
      include: ['reasoning.encrypted_content'],
    },
  },
  {
    name: 'calls',
    body: {
      model: 'gpt-4o',
      input: 'Hello',
      tools: [
        { type: 'function', name: 'f', parameters },
        { type: 'custom', name: 'c' },
        { type: 'namespace', name: 'n', description: 'd', tools: [{ type: 'function', name: 'g', parameters }] },
      ],
    },
    steering: forcedTwice,
  },
  {
    name: 'search',
    body: {
      model: 'gpt-4o',
      input: 'Hello',
      tools: [{ type: 'web_search' }, { type: 'file_search', vector_store_ids: ['vs'] }],
      include: ['web_search_call.action.sources'],
    },
  },
  {
    name: 'schema',
    body: {
      model: 'gpt-4o',
      input: 'Hello',
      text: { format: { type: 'json_schema', name: 'n', schema: parameters, strict: true } },
      metadata: { a: 'b' },
    },
  },
  { name: 'refusal', body: { model: 'gpt-4o', input: 'Hello' }, steering: { stop: 'refusal' } },
  { name: 'cut', body: { model: 'gpt-5', input: 'Hello', max_output_tokens: 16 } },
  { name: 'background', body: { model: 'gpt-4o', input: 'Hello', background: true } },
];

test('spec-conformance: responses replies and events match the description', { skip }, () => {
  const spec = readSpec('openai');
  const response = spec.validator('Response');
  const event = spec.validator('ResponseStreamEvent');
  // The vendor sends `store` too, although its description omits it.
  const members = new Set([...Object.keys(membersOf(spec.schemas.Response, spec.schemas)), 'store']);
  for (const exchange of responsesExchanges) {
    const body = wholeBody(send(openai, '/v1/responses', exchange));
    assertValid(response, body, exchange.name);
    assert.deepEqual(
      Object.keys(body).filter((name) => !members.has(name)),
      [],
      'members that the description does not have',
    );
    const reply = send(openai, '/v1/responses', { ...exchange, body: { ...exchange.body, stream: true } });
    for (const data of streamData(reply)) {
      assertValid(event, data, `${exchange.name} ${data.type}`);
      assert.ok(isKnownEvent(spec.schemas, data.type), `unknown event ${data.type}`);
    }
  }
});

/** Events are distinguished by their type; an unknown one would pass as one with few requirements. */
function isKnownEvent(schemas: Loose, type: string): boolean {
  const branches: Loose[] = schemas.ResponseStreamEvent.anyOf ?? schemas.ResponseStreamEvent.oneOf;
  return branches.some((branch) => schemas[branch.$ref.split('/').at(-1)].properties.type.enum?.includes(type));
}

const chatExchanges: readonly Exchange[] = [
  { name: 'text', body: { model: 'gpt-4o', messages: [{ role: 'user', content: 'Hello' }] } },
  { name: 'usage', body: { model: 'gpt-5', messages: [{ role: 'user', content: 'Hello' }], stream_options: { include_usage: true } } },
  {
    name: 'calls',
    body: {
      model: 'gpt-4o',
      messages: [{ role: 'user', content: 'Hello' }],
      tools: [{ type: 'function', function: { name: 'f', parameters } }],
    },
    steering: forcedTwice,
  },
  { name: 'refusal', body: { model: 'gpt-4o', messages: [{ role: 'user', content: 'Hello' }] }, steering: { stop: 'refusal' } },
  { name: 'cut', body: { model: 'gpt-4o', messages: [{ role: 'user', content: 'Hello' }], max_tokens: 4 } },
];

test('spec-conformance: chat completions and chunks match the description', { skip }, () => {
  const spec = readSpec('openai');
  const completion = spec.validator('CreateChatCompletionResponse');
  const chunk = spec.validator('CreateChatCompletionStreamResponse');
  for (const exchange of chatExchanges) {
    const { stream_options: _, ...body } = exchange.body;
    assertValid(completion, wholeBody(send(openai, '/v1/chat/completions', { ...exchange, body })), exchange.name);
    const reply = send(openai, '/v1/chat/completions', { ...exchange, body: { ...exchange.body, stream: true } });
    for (const data of streamData(reply)) assertValid(chunk, data, exchange.name);
  }
});

const question = { role: 'user', content: 'Hello' };
const messagesExchanges: readonly Exchange[] = [
  { name: 'text', body: { model: 'claude-sonnet-5', max_tokens: 200, messages: [question] } },
  {
    name: 'thinking',
    body: { model: 'claude-sonnet-5', max_tokens: 2000, messages: [question], thinking: { type: 'enabled', budget_tokens: 1024 } },
  },
  {
    name: 'calls',
    body: { model: 'claude-sonnet-5', max_tokens: 200, messages: [question], tools: [{ name: 'f', input_schema: parameters }] },
    steering: forcedTwice,
  },
  { name: 'cut', body: { model: 'claude-sonnet-5', max_tokens: 3, messages: [question] } },
  { name: 'stop sequence', body: { model: 'claude-sonnet-5', max_tokens: 200, messages: [question], stop_sequences: ['simulated'] } },
  { name: 'refusal', body: { model: 'claude-sonnet-5', max_tokens: 200, messages: [question] }, steering: { stop: 'refusal' } },
];

test('spec-conformance: messages and their events match the description', { skip }, () => {
  const spec = readSpec('anthropic');
  const message = spec.validator('BetaMessage');
  const event = spec.validator('BetaMessageStreamEvent');
  const headers = { 'anthropic-version': '2023-06-01' };
  for (const exchange of messagesExchanges) {
    assertValid(message, wholeBody(send(anthropic, '/v1/messages', exchange, headers)), exchange.name);
    const reply = send(anthropic, '/v1/messages', { ...exchange, body: { ...exchange.body, stream: true } }, headers);
    // Pings are sent by the vendor and missing from its description.
    for (const data of streamData(reply)) if (data.type !== 'ping') assertValid(event, data, `${exchange.name} ${data.type}`);
  }
});

const contents = [{ role: 'user', parts: [{ text: 'Über Zürich? See https://simulated.example/a' }] }];
const generateExchanges: readonly Exchange[] = [
  { name: 'text', body: { contents } },
  { name: 'thoughts', body: { contents, generationConfig: { thinkingConfig: { includeThoughts: true } } } },
  {
    name: 'calls',
    body: { contents, tools: [{ functionDeclarations: [{ name: 'f', parametersJsonSchema: parameters }] }] },
    steering: forcedTwice,
  },
  { name: 'search', body: { contents, tools: [{ googleSearch: {} }, { codeExecution: {} }, { urlContext: {} }] } },
  { name: 'older search', body: { contents, tools: [{ googleSearchRetrieval: {} }] } },
  { name: 'cut', body: { contents, generationConfig: { maxOutputTokens: 3 } } },
  { name: 'unsafe', body: { contents }, steering: { stop: 'content-filter' } },
  { name: 'blocked', body: { contents, serviceTier: 'flex' }, steering: { stop: 'refusal' } },
  { name: 'media', body: { contents: [{ parts: [{ inlineData: { mimeType: 'application/pdf', data: 'AAAA' } }] }] } },
];

test('spec-conformance: generate-content replies and chunks match the description in every member', { skip }, () => {
  const spec = readSpec('gemini-v1beta');
  const response = spec.validator('GenerateContentResponse');
  for (const exchange of generateExchanges) {
    assertValid(response, wholeBody(send(gemini, '/v1beta/models/gemini-3.5-flash:generateContent', exchange)), exchange.name);
    for (const data of streamData(send(gemini, '/v1beta/models/gemini-3.5-flash:streamGenerateContent?alt=sse', exchange))) {
      assertValid(response, data, exchange.name);
    }
    assertValid(
      spec.validator('CountTokensResponse'),
      wholeBody(send(gemini, '/v1beta/models/gemini-3.5-flash:countTokens', { ...exchange, body: { contents } })),
      'count',
    );
  }
  const reply = gemini.handle(
    { method: 'GET', path: '/v1beta/models', query: new URLSearchParams(), headers: {}, body: undefined },
    createPlanner({ seed: 's' }),
  );
  assert.ok(reply);
  assertValid(spec.validator('ListModelsResponse'), wholeBody(reply), 'models');
});

for (const [name, specName, schemaName, ours] of [
  ['responses', 'openai', 'CreateResponse', responsesRequestSchema],
  ['chat completions', 'openai', 'CreateChatCompletionRequest', chatSchema],
  ['messages', 'anthropic', 'CreateMessageParams', messagesSchema],
  ['messages with betas', 'anthropic', 'BetaCreateMessageParams', messagesSchema],
] as const) {
  test(`parameter-unknown-to-us: ${name}`, { skip }, () => {
    const { schemas } = readSpec(specName);
    const unknown = Object.keys(membersOf(schemas[schemaName], schemas)).filter((member) => !(member in ours.properties));
    assert.deepEqual(unknown, []);
  });
}

/** Closed branches of a union by the value of their type; open ones accept every member. */
function branchesByType(node: Loose, schemas: Loose): Map<string, Set<string>> {
  const branches = new Map<string, Set<string>>();
  const visit = (branch: Loose): void => {
    if (branch.$ref) return visit(schemas[branch.$ref.split('/').at(-1)]);
    for (const nested of branch.anyOf ?? branch.oneOf ?? []) visit(nested);
    const { type } = branch.properties ?? {};
    for (const value of type?.enum ?? (type?.const === undefined ? [] : [type.const])) {
      const isOpen = branch.additionalProperties !== false && schemas === undefined;
      const known = branches.get(value) ?? new Set();
      for (const member of isOpen ? ['*'] : Object.keys(membersOf(branch, schemas))) known.add(member);
      branches.set(value, known);
    }
  };
  visit(node);
  return branches;
}

for (const [name, schemaName, property] of [
  ['tools', 'Tool', 'tools'],
  ['input items', 'InputItem', 'input'],
  ['tool choices', 'ToolChoiceParam', 'tool_choice'],
] as const) {
  test(`member-unknown-to-us: responses ${name}`, { skip }, () => {
    const { schemas } = readSpec('openai');
    const ours = branchesByType(toItems(responsesRequestSchema.properties[property]), undefined);
    for (const [type, members] of branchesByType(schemas[schemaName], schemas)) {
      const known = ours.get(type);
      assert.ok(known, `no ${type}`);
      const unknown = known.has('*') ? [] : [...members].filter((member) => !known.has(member));
      assert.deepEqual(unknown, [], `members of ${type}`);
    }
  });
}

/** The schema of the items inside a nullable list, or the schema itself. */
function toItems(node: Loose): Loose {
  const list = (node.anyOf ?? []).find((branch: Loose) => branch.type === 'array');
  return list ? list.items : node;
}

test('member-unknown-to-us: every message and enum of generate-content is known', { skip }, () => {
  const { schemas } = readSpec('gemini-v1beta');
  const seen = new Set<unknown>();
  const compare = (ours: Loose, theirs: Loose, path: string): void => {
    if (theirs.$ref) return compare(ours, schemas[theirs.$ref.split('/').at(-1)], path);
    if (seen.has(theirs) || ours.isFree || ours.isSchemaMap) return;
    seen.add(theirs);
    if (ours.isSchema) return compare(schemaMessage, theirs, path);
    if (ours.type === 'array') return compare(ours.items, theirs.items, path);
    if (ours.enum)
      assert.deepEqual(
        theirs.enum.filter((value: string) => !ours.enum.includes(value)),
        [],
        `values of ${path}`,
      );
    for (const [member, node] of Object.entries(theirs.properties ?? {})) {
      assert.ok(ours.properties && member in ours.properties, `no ${path}.${member}`);
      compare(ours.properties[member], node, `${path}.${member}`);
    }
  };
  compare(generateContentSchema, schemas.GenerateContentRequest, 'request');
});

type Judged = readonly [name: string, body: JsonRecord];

/**
 * Bodies with the same verdict by both: shapes, types, bounds and enums of the core members. The descriptions have no
 * rules between members.
 */
function judgeAlike(format: string, validate: ValidateFunction, accepts: (body: JsonRecord) => boolean, bodies: readonly Judged[]): void {
  for (const [name, body] of bodies)
    assert.equal(accepts(body), validate(body), `${format} ${name}: ${JSON.stringify(validate.errors?.slice(0, 3))}`);
}

const responses = { model: 'gpt-4o', input: 'Hello' };
const item = (members: JsonRecord): JsonRecord => ({ ...responses, input: [members] });

test('judged-otherwise: responses requests get the same verdict', { skip }, () => {
  const validator = Compile(responsesRequestSchema);
  judgeAlike('responses', readSpec('openai').validator('CreateResponse'), (body) => validator.Check(body), [
    ['text', responses],
    ['message', item({ role: 'user', content: 'x' })],
    [
      'parts',
      item({
        type: 'message',
        role: 'user',
        content: [
          { type: 'input_text', text: 'x' },
          { type: 'input_image', detail: 'auto', image_url: 'https://simulated.example/a.png' },
        ],
      }),
    ],
    [
      'output message',
      item({
        type: 'message',
        id: 'msg_1',
        role: 'assistant',
        status: 'completed',
        content: [{ type: 'output_text', text: 'x', annotations: [], logprobs: [] }],
      }),
    ],
    ['call', item({ type: 'function_call', call_id: 'c', name: 'f', arguments: '{}' })],
    ['call output', item({ type: 'function_call_output', call_id: 'c', output: 'x' })],
    ['reasoning', item({ type: 'reasoning', id: 'rs_1', summary: [{ type: 'summary_text', text: 'x' }], encrypted_content: 'e' })],
    [
      'function',
      { ...responses, tools: [{ type: 'function', name: 'f', parameters, strict: true }], tool_choice: { type: 'function', name: 'f' } },
    ],
    ['search', { ...responses, tools: [{ type: 'web_search', search_context_size: 'low', filters: { allowed_domains: ['a.example'] } }] }],
    ['format', { ...responses, text: { format: { type: 'json_schema', name: 'n', schema: parameters } } }],
    [
      'nulls',
      { ...responses, instructions: null, temperature: null, max_output_tokens: null, metadata: null, reasoning: null, store: null },
    ],
    ['number as input', { ...responses, input: 5 }],
    ['number as model', { ...responses, model: 5 }],
    ['text as temperature', { ...responses, temperature: 'hot' }],
    ['high temperature', { ...responses, temperature: 2.1 }],
    ['negative top_p', { ...responses, top_p: -0.1 }],
    ['few output tokens', { ...responses, max_output_tokens: 15 }],
    ['fraction of tokens', { ...responses, max_output_tokens: 20.5 }],
    ['unknown include', { ...responses, include: ['everything'] }],
    ['unknown effort', { ...responses, reasoning: { effort: 'huge' } }],
    ['unknown tier', { ...responses, service_tier: 'gold' }],
    ['unknown truncation', { ...responses, truncation: 'middle' }],
    ['object as tools', { ...responses, tools: {} }],
    ['tool without type', { ...responses, tools: [{ name: 'f' }] }],
    ['unknown choice', { ...responses, tool_choice: 'maybe' }],
    ['format without schema', { ...responses, text: { format: { type: 'json_schema', name: 'n' } } }],
    ['many logprobs', { ...responses, top_logprobs: 21 }],
    ['text as stream', { ...responses, stream: 'yes' }],
    ['unknown role', item({ role: 'tool', content: 'x' })],
    ['call without arguments', item({ type: 'function_call', call_id: 'c', name: 'f' })],
    ['reasoning without summary', item({ type: 'reasoning', id: 'rs_1' })],
    ['unknown part', item({ role: 'user', content: [{ type: 'text', text: 'x' }] })],
  ]);
});

const chat = { model: 'gpt-4o', messages: [question] };

test('judged-otherwise: chat requests get the same verdict', { skip }, () => {
  const validator = Compile(chatSchema);
  judgeAlike('chat', readSpec('openai').validator('CreateChatCompletionRequest'), (body) => validator.Check(body), [
    ['text', chat],
    [
      'options',
      {
        ...chat,
        temperature: 0.5,
        top_p: 1,
        max_completion_tokens: 5,
        stop: ['a'],
        n: 1,
        seed: 7,
        stream: true,
        stream_options: { include_usage: true },
      },
    ],
    ['function', { ...chat, tools: [{ type: 'function', function: { name: 'f', parameters } }], tool_choice: 'required' }],
    ['format', { ...chat, response_format: { type: 'json_schema', json_schema: { name: 'n', schema: parameters } } }],
    ['no messages', { model: 'gpt-4o' }],
    ['no model', { messages: [question] }],
    ['empty messages', { ...chat, messages: [] }],
    ['high temperature', { ...chat, temperature: 3 }],
    ['unknown format', { ...chat, response_format: { type: 'xml' } }],
    ['unknown choice', { ...chat, tool_choice: 'any' }],
    ['text as stream', { ...chat, stream: 'yes' }],
    ['many choices', { ...chat, n: 129 }],
  ]);
});

const messages = { model: 'claude-sonnet-5', max_tokens: 100, messages: [question] };

test('judged-otherwise: messages requests get the same verdict', { skip }, () => {
  const validator = Compile(messagesSchema);
  judgeAlike('messages', readSpec('anthropic').validator('BetaCreateMessageParams'), (body) => validator.Check(body), [
    ['text', messages],
    [
      'blocks',
      {
        ...messages,
        system: [{ type: 'text', text: 'x', cache_control: { type: 'ephemeral' } }],
        messages: [{ role: 'user', content: [{ type: 'text', text: 'x' }] }],
      },
    ],
    ['tool', { ...messages, tools: [{ name: 'f', input_schema: parameters }], tool_choice: { type: 'any' } }],
    ['thinking', { ...messages, max_tokens: 2000, thinking: { type: 'enabled', budget_tokens: 1024 } }],
    ['options', { ...messages, temperature: 0.5, top_k: 3, top_p: 0.5, stop_sequences: ['a'], metadata: { user_id: 'u' }, stream: false }],
    ['no max_tokens', { model: 'claude-sonnet-5', messages: [question] }],
    ['no messages', { model: 'claude-sonnet-5', max_tokens: 1 }],
    ['unknown member', { ...messages, foo: 1 }],
    ['high temperature', { ...messages, temperature: 1.5 }],
    ['text as max_tokens', { ...messages, max_tokens: 'many' }],
    ['unknown role', { ...messages, messages: [{ role: 'tool', content: 'x' }] }],
    ['unknown block', { ...messages, messages: [{ role: 'user', content: [{ type: 'picture' }] }] }],
    ['small budget', { ...messages, thinking: { type: 'enabled', budget_tokens: 5 } }],
    ['tool without schema', { ...messages, tools: [{ name: 'f' }] }],
  ]);
});

test('judged-otherwise: generate-content requests get the same verdict', { skip }, () => {
  const accepts = (body: JsonRecord): boolean => {
    try {
      decodeProtoJson(generateContentMessage, body);
      return true;
    } catch {
      // Only the verdict counts here; the messages have their own tests.
      return false;
    }
  };
  judgeAlike('generate-content', readSpec('gemini-v1beta').validator('GenerateContentRequest'), accepts, [
    ['text', { contents }],
    [
      'options',
      {
        contents,
        generationConfig: { temperature: 1, topP: 0.5, topK: 3, maxOutputTokens: 5, stopSequences: ['a'], responseMimeType: 'text/plain' },
      },
    ],
    [
      'function',
      {
        contents,
        tools: [{ functionDeclarations: [{ name: 'f', parameters: { type: 'OBJECT', properties: { a: { type: 'STRING' } } } }] }],
      },
    ],
    ['thinking', { contents, generationConfig: { thinkingConfig: { includeThoughts: true, thinkingLevel: 'LOW' } } }],
    ['safety', { contents, safetySettings: [{ category: 'HARM_CATEGORY_HARASSMENT', threshold: 'BLOCK_NONE' }] }],
    ['unknown member', { contents, foo: 1 }],
    ['unknown nested member', { contents, generationConfig: { foo: 1 } }],
    ['text as contents', { contents: 'x' }],
    ['text as temperature', { contents, generationConfig: { temperature: 'hot' } }],
    ['fraction of tokens', { contents, generationConfig: { maxOutputTokens: 1.5 } }],
    ['unknown category', { contents, safetySettings: [{ category: 'BAD' }] }],
    [
      'schema keyword',
      { contents, tools: [{ functionDeclarations: [{ name: 'f', parameters: { type: 'OBJECT', additionalProperties: false } }] }] },
    ],
    ['unknown tool', { contents, tools: [{ vendor_search: {} }] }],
  ]);
});

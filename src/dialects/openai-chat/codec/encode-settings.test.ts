import assert from 'node:assert/strict';
import { test } from 'node:test';
import { GatewayError } from '../../../inference/gateway-error.ts';
import type { InferenceRequest, Tool, ToolChoice } from '../../../inference/inference-request.ts';
import type { JsonObject } from '../../../platform/json/json-value.ts';
import { validateRequest } from '../validate-request.ts';
import { encode } from './testing/test-kit.ts';

type Differences = Parameters<typeof encode>[1];

/** The written members other than model and messages, and the notes. */
function settings(
  members: Partial<InferenceRequest>,
  differences?: Differences,
): { readonly body: JsonObject; readonly notes: readonly string[] } {
  const { body, notes } = encode(members, differences);
  validateRequest({ operation: 'generate', body, headers: {} }, 'compatible');
  const { model: _model, messages: _messages, ...rest } = body;
  return { body: rest, notes };
}

const schema = { type: 'object', properties: { a: { type: 'string' } } } as const;
const outputFormat = { kind: 'json-schema', schema } as const;
const lookup: Tool = { kind: 'function', name: 'lookup', description: 'd', parameters: schema, strict: true };
const other: Tool = { kind: 'function', name: 'other' };
const lookupWire = { type: 'function', function: { name: 'lookup', description: 'd', parameters: schema, strict: true } };
const otherWire = { type: 'function', function: { name: 'other', parameters: { type: 'object', properties: {} } } };

test('the output limit is in the field that the server reads, and at most the model’s own limit', () => {
  assert.deepEqual(settings({ outputTokensMax: 5 }).body, { max_tokens: 5 });
  assert.deepEqual(settings({ outputTokensMax: 5 }, { chat: { outputLimitField: 'max_completion_tokens' } }).body, {
    max_completion_tokens: 5,
  });
  assert.deepEqual(settings({ outputTokensMax: 128_000 }, { outputTokensMax: 16_384 }), {
    body: { max_tokens: 16_384 },
    notes: ['adapted max_completion_tokens'],
  });
  assert.deepEqual(settings({}, { outputTokensMax: 16_384 }).body, {});
});

test('a stream requests its usage if the server accepts the option', () => {
  assert.deepEqual(settings({ stream: true }).body, { stream: true, stream_options: { include_usage: true } });
  assert.deepEqual(settings({ stream: true }, { chat: { streamOptions: false } }).body, { stream: true });
});

test('tools and choices are written', () => {
  assert.deepEqual(settings({ tools: [lookup, other] }).body, { tools: [lookupWire, otherWire] });
  const choices: readonly [ToolChoice, unknown][] = [
    [{ kind: 'auto' }, 'auto'],
    [{ kind: 'none' }, 'none'],
    [{ kind: 'required' }, 'required'],
    [
      { kind: 'function', name: 'lookup' },
      { type: 'function', function: { name: 'lookup' } },
    ],
  ];
  for (const [toolChoice, expected] of choices) assert.deepEqual(settings({ tools: [lookup], toolChoice }).body.tool_choice, expected);
  assert.deepEqual(settings({ tools: [lookup, other], toolChoice: { kind: 'allowed', names: ['other'], required: true } }), {
    body: { tools: [otherWire], tool_choice: 'required' },
    notes: ['adapted tool_choice'],
  });
});

test('a choice without tools is not sent, because the vendor refuses it', () => {
  assert.deepEqual(settings({ toolChoice: { kind: 'none' }, parallelToolCalls: false }).body, {});
});

test('servers with fewer fields receive only those that they accept', () => {
  const forced = settings({ tools: [lookup], toolChoice: { kind: 'required' } }, { chat: { forcedToolChoice: false } });
  assert.deepEqual([forced.body.tool_choice, forced.notes], [undefined, ['dropped tool_choice']]);
  const single = settings({ tools: [lookup], parallelToolCalls: false }, { chat: { parallelToolCallsField: false } });
  assert.deepEqual([single.body.parallel_tool_calls, single.notes], [undefined, ['emulated parallel_tool_calls']]);
  assert.equal(settings({ tools: [lookup], parallelToolCalls: false }).body.parallel_tool_calls, false);
  assert.deepEqual(settings({ sampling: { topK: 3 } }), { body: {}, notes: ['dropped top_k'] });
  assert.deepEqual(settings({ sampling: { topK: 3 } }, { chat: { acceptsTopK: true } }), { body: { top_k: 3 }, notes: [] });
});

test('a web search is written with its options', () => {
  const search: Tool = { kind: 'web-search', contextSize: 'low', userLocation: { city: 'Bern' }, path: 'tools.0' };
  assert.deepEqual(settings({ tools: [search] }), {
    body: { web_search_options: { search_context_size: 'low', user_location: { type: 'approximate', approximate: { city: 'Bern' } } } },
    notes: [],
  });
  assert.deepEqual(settings({ tools: [{ kind: 'web-search', maxUses: 1, path: 'tools.0' }] }), {
    body: { web_search_options: {} },
    notes: ['dropped tools.0'],
  });
});

test('four stop sequences are sent, and the gateway handles the rest', () => {
  const stopSequences = ['a', 'b', '', 'c', 'd', 'e'];
  const written = encode({ stopSequences });
  assert.deepEqual([written.body.stop, written.cutAt, written.notes], [['a', 'b', 'c', 'd'], ['e'], ['emulated stop']]);
  const fixed = encode({ stopSequences: ['a'] }, { fixedSampling: true });
  assert.deepEqual([fixed.body.stop, fixed.cutAt], [undefined, ['a']]);
  assert.equal(encode({ stopSequences: ['a'] }).cutAt, undefined);
});

test('models with fixed sampling receive no sampling fields, and defaults are not noted as lost', () => {
  const sampling = { temperature: 0.2, topP: 1, presencePenalty: 0, frequencyPenalty: 1, seed: 4 };
  assert.deepEqual(settings({ sampling }, { fixedSampling: true }), {
    body: { seed: 4 },
    notes: ['dropped temperature', 'dropped frequency_penalty'],
  });
  assert.deepEqual(settings({ sampling }).body, { temperature: 0.2, top_p: 1, presence_penalty: 0, frequency_penalty: 1, seed: 4 });
});

test('reasoning is requested in the field that the server reads', () => {
  const effort = { mode: 'on', effort: 'high' } as const;
  const off = { mode: 'off' } as const;
  const budget = { mode: 'on', budgetTokens: 4000 } as const;
  const cases: readonly [InferenceRequest['reasoning'], Differences, JsonObject][] = [
    [effort, {}, { reasoning_effort: 'high' }],
    [off, {}, { reasoning_effort: 'none' }],
    [off, { efforts: ['low', 'high'] }, {}],
    [budget, { reasoning: 'budget' }, { reasoning_effort: 'medium' }],
    [undefined, {}, {}],
    [effort, { chat: { reasoningField: 'reasoning' } }, { reasoning: { effort: 'high' } }],
    [{ ...effort, visible: false }, { chat: { reasoningField: 'reasoning' } }, { reasoning: { effort: 'high', exclude: true } }],
    [off, { chat: { reasoningField: 'reasoning' } }, { reasoning: { enabled: false } }],
    [budget, { reasoning: 'budget', chat: { reasoningField: 'reasoning' } }, { reasoning: { max_tokens: 4000 } }],
    [off, { chat: { reasoningField: 'enable_thinking' } }, { chat_template_kwargs: { enable_thinking: false } }],
    [effort, { chat: { reasoningField: 'enable_thinking' } }, { chat_template_kwargs: { enable_thinking: true } }],
    [effort, { chat: { reasoningField: 'think' } }, { think: true }],
    [off, { chat: { reasoningField: 'thinking_type' } }, { thinking: { type: 'disabled' } }],
    [effort, { chat: { reasoningField: 'thinking_type' } }, { thinking: { type: 'enabled' } }],
    [undefined, { chat: { reasoningField: 'top_enable_thinking' } }, {}],
    [off, { chat: { reasoningField: 'top_enable_thinking' } }, { enable_thinking: false }],
    [budget, { reasoning: 'budget', chat: { reasoningField: 'top_enable_thinking' } }, { enable_thinking: true, thinking_budget: 4000 }],
  ];
  for (const [reasoning, differences, expected] of cases) {
    assert.deepEqual(settings(reasoning === undefined ? {} : { reasoning }, differences).body, expected);
  }
});

test('a model that thinks only in streams does not think in a whole reply, and the client learns it', () => {
  const differences: Differences = { reasoning: 'budget', chat: { reasoningField: 'top_enable_thinking', thinksInStreamsOnly: true } };
  const reasoning = { mode: 'on', budgetTokens: 4000 } as const;
  assert.deepEqual(settings({}, differences), { body: { enable_thinking: false }, notes: [] });
  assert.deepEqual(settings({ reasoning }, differences).body, { enable_thinking: false });
  assert.equal(settings({ reasoning }, differences).notes.length, 1);
  const streamed = settings({ reasoning, stream: true }, differences).body;
  assert.deepEqual([streamed.enable_thinking, streamed.thinking_budget], [true, 4000]);
});

test('a model that accepts a schema receives it', () => {
  assert.deepEqual(settings({ outputFormat }).body, {
    response_format: { type: 'json_schema', json_schema: { name: 'answer', schema } },
  });
  assert.deepEqual(settings({ outputFormat: { ...outputFormat, name: 'a b', description: 'd', strict: true } }).body.response_format, {
    type: 'json_schema',
    json_schema: { name: 'a_b_c8687a08', description: 'd', schema, strict: true },
  });
});

test('a model without schemas receives a forced function or a hint', () => {
  const forced = encode({ outputFormat }, { structuredOutput: false });
  assert.equal(forced.answerTool, 'answer');
  assert.deepEqual(forced.body.tool_choice, { type: 'function', function: { name: 'answer' } });
  assert.deepEqual(forced.notes, ['emulated response_format']);
  for (const hinted of [
    encode({ outputFormat }, { structuredOutput: false, chat: { forcedToolChoice: false } }),
    encode({ outputFormat, tools: [lookup] }, { structuredOutput: false }),
    encode({ outputFormat: { ...outputFormat, schema: { type: 'array' } } }, { structuredOutput: false }),
  ]) {
    assert.match(JSON.stringify(hinted.messages[0]), /JSON schema:\\n\{\\"type\\":/);
    assert.deepEqual([hinted.answerTool, hinted.notes, hinted.body.tool_choice], [undefined, ['emulated response_format'], undefined]);
  }
});

test('JSON mode adds a hint unless the conversation mentions JSON, because the vendor refuses it otherwise', () => {
  const hinted = encode({ outputFormat: { kind: 'json' } });
  assert.match(JSON.stringify(hinted.messages[0]), /JSON/);
  assert.deepEqual(hinted.body.response_format, { type: 'json_object' });
  const written = encode({ outputFormat: { kind: 'json' }, instructions: [{ kind: 'text', text: 'Say it in json.' }] });
  assert.deepEqual(written.messages[0], { role: 'system', content: 'Say it in json.' });
});

test('the end user, the service tier and the verbosity are written', () => {
  assert.deepEqual(settings({ endUser: 'u', serviceTier: 'flex', verbosity: 'low' }).body, {
    user: 'u',
    service_tier: 'flex',
    verbosity: 'low',
  });
  assert.deepEqual(settings({ serviceTier: 'auto', verbosity: 'medium' }).body, {});
});

test('fields of the other vendor are noted if they matter, and refused by strict translation', () => {
  const vendorFields = [
    { field: 'safetySettings', value: [1], weight: 'matters' },
    { field: 'metadata', value: {}, weight: 'harmless' },
  ] as const;
  assert.deepEqual(settings({ vendorFields }), { body: {}, notes: ['dropped safetySettings'] });
  assert.throws(
    () => encode({ vendorFields }, {}, true),
    (error) => error instanceof GatewayError && error.param === 'safetySettings',
  );
});

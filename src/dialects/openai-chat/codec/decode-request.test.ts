import assert from 'node:assert/strict';
import { test } from 'node:test';
import { GatewayError } from '../../../inference/gateway-error.ts';
import type { InferenceRequest } from '../../../inference/inference-request.ts';
import { wrapProof } from '../../../inference/proof.ts';
import type { JsonObject, JsonValue } from '../../../platform/json/json-value.ts';
import { validateRequest } from '../validate-request.ts';
import { decodeRequest } from './decode-request.ts';

const hello: JsonObject = { role: 'user', content: 'Hello' };

function decode(members: JsonObject): InferenceRequest {
  const request = { operation: 'generate', body: { model: 'm', messages: [hello], ...members }, headers: {} } as const;
  validateRequest(request, 'compatible');
  return decodeRequest(request);
}

/** Parts without their paths, which the first test checks. */
function partsOf(messages: readonly JsonObject[], at = 0): unknown {
  return decode({ messages }).turns[at]?.parts.map(({ path: _path, ...part }) =>
    part.kind === 'tool-result' ? { ...part, content: part.content.map(({ path: _inner, ...rest }) => rest) } : part,
  );
}

test('a conversation is read with leading system text, roles, names and paths', () => {
  const { instructions, turns, ...rest } = decode({
    messages: [
      { role: 'developer', content: 'Be brief.' },
      { role: 'system', content: [{ type: 'text', text: 'Be kind.' }] },
      { role: 'user', name: 'ann', content: [{ type: 'text', text: 'Hi' }] },
      { role: 'assistant', content: 'Hello', refusal: 'no' },
      { role: 'system', content: 'Now in French.' },
    ],
  });
  assert.deepEqual(instructions, [
    { kind: 'text', text: 'Be brief.', path: 'messages[0].content' },
    { kind: 'text', text: 'Be kind.', path: 'messages[1].content[0]' },
  ]);
  assert.deepEqual(turns, [
    { role: 'user', name: 'ann', namePath: 'messages[2].name', parts: [{ kind: 'text', text: 'Hi', path: 'messages[2].content[0]' }] },
    {
      role: 'assistant',
      parts: [
        { kind: 'text', text: 'Hello', path: 'messages[3].content' },
        { kind: 'refusal', text: 'no', path: 'messages[3].refusal' },
      ],
    },
    { role: 'system', parts: [{ kind: 'text', text: 'Now in French.', path: 'messages[4].content' }] },
  ]);
  assert.deepEqual(rest, { model: 'm', dialect: 'openai-chat', stream: false, tools: [], sampling: {}, vendorFields: [] });
});

test('consecutive results are one turn, and empty content is not a part', () => {
  const messages: JsonObject[] = [
    hello,
    {
      role: 'assistant',
      content: '',
      tool_calls: [
        { id: 'a', type: 'function', function: { name: 'f', arguments: '{"x":1}' } },
        { id: 'b', type: 'function', function: { name: 'g', arguments: '' } },
      ],
    },
    { role: 'tool', tool_call_id: 'a', content: 'one' },
    { role: 'tool', tool_call_id: 'b', content: [{ type: 'text', text: 'two' }] },
    { role: 'user', content: 'Go on' },
  ];
  assert.deepEqual(partsOf(messages, 1), [
    { kind: 'tool-call', id: 'a', name: 'f', arguments: '{"x":1}' },
    { kind: 'tool-call', id: 'b', name: 'g', arguments: '' },
  ]);
  assert.deepEqual(partsOf(messages, 2), [
    { kind: 'tool-result', callId: 'a', content: [{ kind: 'text', text: 'one' }], isError: false },
    { kind: 'tool-result', callId: 'b', content: [{ kind: 'text', text: 'two' }], isError: false },
  ]);
  assert.equal(decode({ messages }).turns.length, 4);
});

test('calls of the older functions are paired with results by name and order', () => {
  const call = (name: string): JsonObject => ({ role: 'assistant', content: null, function_call: { name, arguments: '{}' } });
  const result = (name: string, content: string): JsonObject => ({ role: 'function', name, content });
  const request = decode({
    messages: [hello, call('f'), result('f', 'one'), call('f'), result('f', 'two')],
    functions: [{ name: 'f', description: 'd', parameters: { type: 'object' } }],
    function_call: { name: 'f' },
  });
  const ids = request.turns.flatMap((turn) =>
    turn.parts.flatMap((part) => (part.kind === 'tool-call' ? [part.id] : part.kind === 'tool-result' ? [part.callId] : [])),
  );
  assert.deepEqual(ids, ['call_function_1', 'call_function_1', 'call_function_3', 'call_function_3']);
  assert.deepEqual(request.tools, [
    { kind: 'function', name: 'f', description: 'd', parameters: { type: 'object' }, path: 'functions[0]' },
  ]);
  assert.deepEqual(request.toolChoice, { kind: 'function', name: 'f' });
});

test('media is read in every form', () => {
  const media = (part: JsonObject): unknown => (partsOf([{ role: 'user', content: [part] }]) as readonly unknown[])[0];
  const pdf = { filename: 'a.pdf', file_data: 'data:application/pdf;base64,QUJD' };
  const cases: readonly [JsonObject, object][] = [
    [
      { type: 'image_url', image_url: { url: 'https://a.example/i.png', detail: 'low' } },
      { media: 'image', source: { kind: 'url', url: 'https://a.example/i.png' }, detail: 'low' },
    ],
    [
      { type: 'image_url', image_url: { url: 'data:image/PNG;base64,QUJD', detail: 'original' } },
      { media: 'image', source: { kind: 'inline', mediaType: 'image/png', data: 'QUJD' }, detail: 'high' },
    ],
    [
      { type: 'input_audio', input_audio: { data: 'QUJD', format: 'mp3' } },
      { media: 'audio', source: { kind: 'inline', mediaType: 'audio/mpeg', data: 'QUJD' } },
    ],
    [
      { type: 'file', file: pdf },
      { media: 'file', source: { kind: 'inline', mediaType: 'application/pdf', data: 'QUJD' }, filename: 'a.pdf' },
    ],
    [
      { type: 'file', file: { filename: 'a.csv', file_data: 'QUJD' } },
      { media: 'file', source: { kind: 'inline', mediaType: 'text/csv', data: 'QUJD' }, filename: 'a.csv' },
    ],
    [
      { type: 'file', file: { file_data: 'data:text/plain,a%20b' } },
      { media: 'file', source: { kind: 'text', text: 'a b' } },
    ],
    [
      { type: 'file', file: { file_data: 'https://a.example/a.pdf' } },
      { media: 'file', source: { kind: 'url', url: 'https://a.example/a.pdf' } },
    ],
    [
      { type: 'file', file: { file_id: 'file-1' } },
      { media: 'file', source: { kind: 'vendor-file', id: 'file-1' } },
    ],
    [
      { type: 'video_url', video_url: { url: 'https://a.example/v' } },
      { media: 'video', source: { kind: 'url', url: 'https://a.example/v' } },
    ],
  ];
  for (const [part, expected] of cases) assert.deepEqual(media(part), { kind: 'media', ...expected });
  assert.deepEqual(media({ type: 'hologram', x: 1 }), {
    kind: 'vendor',
    name: 'hologram',
    wire: { type: 'hologram', x: 1 },
    elsewhere: 'refuse',
  });
});

test('returned reasoning is read with its proof, under any name, and without foreign signatures', () => {
  const assistant = (members: JsonObject): unknown => partsOf([{ role: 'assistant', content: null, ...members }]);
  const proof = { origin: 'anthropic', blob: 'sig' };
  const hidden = { origin: 'anthropic', blob: 'enc', hidden: true };
  assert.deepEqual(
    assistant({
      reasoning_content: 'One.\n\nTwo.',
      reasoning_details: [
        { type: 'reasoning.text', text: 'One.', index: 0, id: 'rs_1' },
        { type: 'reasoning.text', text: 'Two.', signature: wrapProof(proof), index: 0, id: 'rs_1' },
        { type: 'reasoning.encrypted', data: wrapProof(hidden), index: 1 },
      ],
    }),
    [
      { kind: 'reasoning', text: ['One.', 'Two.'], proof, itemId: 'rs_1' },
      { kind: 'reasoning', text: [], proof: hidden },
    ],
  );
  assert.deepEqual(assistant({ reasoning_details: [{ type: 'reasoning.text', text: 'x', signature: 'native' }] }), [
    { kind: 'reasoning', text: ['x'] },
  ]);
  for (const name of ['reasoning_content', 'reasoning', 'thinking']) {
    assert.deepEqual(assistant({ [name]: 'hm' }), [{ kind: 'reasoning', text: ['hm'] }], name);
  }
});

test('signatures of calls and texts are read, Google’s own and wrapped ones', () => {
  const signed = (value: string): JsonObject => ({ extra_content: { google: { thought_signature: value } } });
  const call = (value: string): JsonObject => ({ id: 'a', type: 'function', function: { name: 'f', arguments: '{}' }, ...signed(value) });
  const proof = { origin: 'anthropic', blob: 'x' };
  assert.deepEqual(partsOf([{ role: 'assistant', content: 'Hi', ...signed('t'), tool_calls: [call('c'), call(wrapProof(proof))] }]), [
    { kind: 'text', text: 'Hi', proof: { origin: 'gemini', blob: 't' } },
    { kind: 'tool-call', id: 'a', name: 'f', arguments: '{}', proof: { origin: 'gemini', blob: 'c' } },
    { kind: 'tool-call', id: 'a', name: 'f', arguments: '{}', proof },
  ]);
});

test('tools, web search and choices are read', () => {
  const custom: JsonObject = { type: 'custom', custom: { name: 'c' } };
  const { tools } = decode({
    tools: [{ type: 'function', function: { name: 'f', strict: true, parameters: null } }, custom],
    web_search_options: {
      search_context_size: 'low',
      user_location: { type: 'approximate', approximate: { city: 'Bern', country: 'CH' } },
    },
  });
  assert.deepEqual(tools, [
    { kind: 'function', name: 'f', strict: true, path: 'tools[0]' },
    { kind: 'vendor', name: 'custom', wire: custom, path: 'tools[1]' },
    { kind: 'web-search', contextSize: 'low', userLocation: { city: 'Bern', country: 'CH' }, path: 'web_search_options' },
  ]);
  const allowed: JsonObject = {
    type: 'allowed_tools',
    allowed_tools: { mode: 'required', tools: [{ type: 'function', function: { name: 'f' } }] },
  };
  const choices: readonly [JsonValue, object | undefined][] = [
    ['auto', { kind: 'auto' }],
    ['required', { kind: 'required' }],
    ['none', { kind: 'none' }],
    [null, undefined],
    [
      { type: 'function', function: { name: 'f' } },
      { kind: 'function', name: 'f' },
    ],
    [allowed, { kind: 'allowed', names: ['f'], required: true }],
  ];
  for (const [choice, expected] of choices) assert.deepEqual(decode({ tool_choice: choice }).toolChoice, expected);
});

test('limits, sampling, format and all other named settings are read', () => {
  const schema = { type: 'object' };
  const request = decode({
    stream: true,
    max_tokens: 5,
    max_completion_tokens: 9,
    stop: 'END',
    temperature: 0,
    top_p: 0.5,
    top_k: 3,
    seed: 1,
    presence_penalty: 1,
    frequency_penalty: -1,
    parallel_tool_calls: false,
    user: 'u',
    service_tier: 'flex',
    verbosity: 'low',
    response_format: { type: 'json_schema', json_schema: { name: 'n', schema, strict: true, description: 'd' } },
  });
  const { model: _model, turns: _turns, instructions: _instructions, tools: _tools, ...rest } = request;
  assert.deepEqual(rest, {
    dialect: 'openai-chat',
    stream: true,
    outputTokensMax: 9,
    stopSequences: ['END'],
    sampling: { temperature: 0, topP: 0.5, topK: 3, seed: 1, presencePenalty: 1, frequencyPenalty: -1 },
    parallelToolCalls: false,
    endUser: 'u',
    serviceTier: 'flex',
    verbosity: 'low',
    outputFormat: { kind: 'json-schema', name: 'n', description: 'd', schema, strict: true },
    vendorFields: [],
  });
  assert.deepEqual(decode({ response_format: { type: 'json_object' } }).outputFormat, { kind: 'json', isObject: true });
  assert.deepEqual(decode({ response_format: { type: 'json_object', schema } }).outputFormat, { kind: 'json-schema', schema });
  assert.equal(decode({ response_format: { type: 'text' } }).outputFormat, undefined);
});

test('reasoning is read in every form of the request', () => {
  const cases: readonly [JsonObject, object | undefined][] = [
    [{ reasoning_effort: 'high' }, { mode: 'on', effort: 'high' }],
    [{ reasoning_effort: 'none' }, { mode: 'off', effort: 'none' }],
    [{ reasoning: { effort: 'low', exclude: true } }, { mode: 'on', effort: 'low', visible: false }],
    [{ reasoning: { max_tokens: 2000 } }, { mode: 'on', budgetTokens: 2000 }],
    [{ reasoning: { enabled: false } }, { mode: 'off' }],
    [{ reasoning: { enabled: true } }, { mode: 'on' }],
    [{ thinking: { type: 'enabled', budget_tokens: 1024 } }, { mode: 'on', budgetTokens: 1024 }],
    [{ thinking: { type: 'disabled' } }, { mode: 'off' }],
    [{ think: 'low' }, { mode: 'on', effort: 'low' }],
    [{ think: false }, { mode: 'off' }],
    [
      { enable_thinking: true, thinking_budget: 512 },
      { mode: 'on', budgetTokens: 512 },
    ],
    [{ chat_template_kwargs: { enable_thinking: false } }, { mode: 'off' }],
    [{ include_reasoning: true }, { mode: 'auto', visible: true }],
    [{}, undefined],
  ];
  for (const [members, expected] of cases) {
    const { reasoning, vendorFields } = decode(members);
    const [field] = Object.keys(members);
    const path = field === undefined || field === 'reasoning_effort' ? {} : { path: field };
    assert.deepEqual(reasoning, expected && { ...path, ...expected }, JSON.stringify(members));
    assert.ok(vendorFields.every(({ weight }) => weight === 'harmless'));
  }
});

test('fields without a neutral name keep their weight, and fields without effect are omitted', () => {
  const weights = (members: JsonObject): unknown => decode(members).vendorFields.map(({ field, weight }) => `${field} ${weight}`);
  assert.deepEqual(weights({ store: true, metadata: { a: '1' }, prompt_cache_key: 'k', safety_identifier: 's', service_tier: 'scale' }), [
    'store hint',
    'metadata hint',
    'prompt_cache_key hint',
    'safety_identifier hint',
    'service_tier matters',
  ]);
  assert.deepEqual(weights({ logit_bias: { '1': 2 }, logprobs: true, top_logprobs: 2, min_p: 0.1, guided_json: {} }), [
    'logit_bias matters',
    'logprobs matters',
    'top_logprobs matters',
    'min_p matters',
  ]);
  assert.deepEqual(weights({ response_format: { type: 'grammar', grammar: 'x' }, reasoning_effort: 'ludicrous' }), [
    'reasoning_effort matters',
    'response_format matters',
  ]);
  assert.deepEqual(weights({ logprobs: false, logit_bias: {}, modalities: ['text'], store: null, n: 1 }), []);
});

test('fields that no other vendor supports are refused by name', () => {
  const cases: readonly [JsonObject, string][] = [
    [{ n: 2 }, 'n'],
    [{ modalities: ['text', 'audio'], audio: { voice: 'alloy', format: 'wav' } }, 'modalities'],
    [{ messages: [{ role: 'assistant', audio: { id: 'audio_1' } }, hello] }, 'messages[0].audio'],
  ];
  for (const [members, param] of cases) {
    assert.throws(
      () => decode(members),
      (error) =>
        error instanceof GatewayError &&
        error.code === 'untranslatable_field' &&
        error.param === param &&
        error.message.startsWith(`${param}: `),
    );
  }
  assert.deepEqual(partsOf([{ role: 'assistant', audio: { id: 'audio_1', transcript: 'Hi' } }]), [{ kind: 'text', text: 'Hi' }]);
});

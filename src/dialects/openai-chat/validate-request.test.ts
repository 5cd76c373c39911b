import assert from 'node:assert/strict';
import { test } from 'node:test';
import { GatewayError } from '../../inference/gateway-error.ts';
import type { JsonObject } from '../../platform/json/json-value.ts';
import type { ValidationMode } from '../dialect-id.ts';
import { requestSchema, validateRequest } from './validate-request.ts';

function outcome(body: object, mode: ValidationMode = 'compatible'): string {
  try {
    validateRequest({ operation: 'generate', body: body as JsonObject, headers: {} }, mode);
    return 'ok';
  } catch (error) {
    assert.ok(error instanceof GatewayError);
    assert.equal(error.status, 400);
    return `${String(error.details?.openai_code)} ${error.param}: ${error.message}`;
  }
}

const base = { model: 'm', messages: [{ role: 'user', content: 'hi' }] };
const message = (fields: object) => ({ messages: [{ role: 'user', content: 'hi', ...fields }] });
const parts = (...content: unknown[]) => ({ messages: [{ role: 'user', content }] });
const tool = (fields: object) => ({ tools: [{ type: 'function', function: { name: 'f', ...fields } }] });
const schema = (fields: object) => ({ response_format: { type: 'json_schema', json_schema: { name: 's', ...fields } } });
const call = { id: 'c', type: 'function', function: { name: 'f', arguments: '{}' } };
const long = (length: number) => 'x'.repeat(length);

const accepted: readonly [string, object][] = [
  ['roles', { messages: ['system', 'developer', 'user', 'assistant'].map((role) => ({ role, content: 'x', name: 'n' })) }],
  ['empty content', message({ content: '' })],
  [
    'tool turn',
    {
      messages: [
        { role: 'assistant', content: null, tool_calls: [call] },
        { role: 'tool', tool_call_id: 'c', content: 'x' },
      ],
    },
  ],
  ['custom tool call', message({ role: 'assistant', tool_calls: [{ id: 'c', type: 'custom', custom: { name: 'f', input: 'x' } }] })],
  ['old function turn', { messages: [{ role: 'function', name: 'f', content: null }] }],
  [
    'parts',
    parts(
      { type: 'text', text: '' },
      { type: 'image_url', image_url: { url: 'data:image/png;base64,AA==', detail: 'low' } },
      { type: 'input_audio', input_audio: { data: 'AA==', format: 'mp3' } },
      { type: 'file', file: { file_id: 'f' } },
    ),
  ],
  ['assistant parts', { messages: [{ role: 'assistant', content: [{ type: 'refusal', refusal: 'no' }] }] }],
  ['reasoning of other servers', message({ role: 'assistant', reasoning_content: 'x' })],
  ['bounds', { temperature: 2, top_p: 0, presence_penalty: -2, frequency_penalty: 2, n: 128, top_logprobs: 20, max_tokens: 1 }],
  ['nulls', { temperature: null, stop: null, tools: null, stream: null, stream_options: null, n: null, response_format: null }],
  ['stop text', { stop: 'x' }],
  ['stop list', { stop: ['a', 'b', 'c', 'd'] }],
  ['stream options', { stream: true, stream_options: { include_usage: true, include_obfuscation: false } }],
  ['logit bias', { logit_bias: { '50256': -100 } }],
  ['tools', { ...tool({ description: 'd', parameters: {}, strict: null }), tool_choice: 'required', parallel_tool_calls: false }],
  ['named choice', { tool_choice: { type: 'function', function: { name: 'f' } } }],
  ['allowed tools', { tool_choice: { type: 'allowed_tools', allowed_tools: { mode: 'auto', tools: [] } } }],
  ['old functions', { functions: [{ name: 'f' }], function_call: { name: 'f' } }],
  ['json schema', schema({ schema: {}, strict: true })],
  ['fields of model servers', { top_k: 40, min_p: 0.1, chat_template_kwargs: { enable_thinking: false } }],
];

const refused: readonly [object, string][] = [
  [
    { model: '' },
    "empty_string model: Invalid 'model': empty string. Expected a string with minimum length 1, but got an empty string instead.",
  ],
  [{ model: 5 }, "invalid_type model: Invalid type for 'model': expected a string, but got an integer instead."],
  [
    { messages: [] },
    "empty_array messages: Invalid 'messages': empty array. Expected an array with minimum length 1, but got an empty array instead.",
  ],
  [{ messages: 'hi' }, "invalid_type messages: Invalid type for 'messages': expected an array of objects, but got a string instead."],
  [{ messages: [{ content: 'x' }] }, "missing_required_parameter messages[0].role: Missing required parameter: 'messages[0].role'."],
  [
    message({ role: 'robot' }),
    "invalid_value messages[0].role: Invalid value for 'messages[0].role': 'robot'. Supported values are: 'developer', 'system', 'user', 'assistant', 'tool', and 'function'.",
  ],
  [
    message({ content: 5 }),
    "invalid_type messages[0].content: Invalid type for 'messages[0].content': expected one of a string or array of objects, but got an integer instead.",
  ],
  [
    message({ content: null }),
    "invalid_type messages[0].content: Invalid type for 'messages[0].content': expected one of a string or array of objects, but got null instead.",
  ],
  [{ messages: [{ role: 'user' }] }, "missing_required_parameter messages[0].content: Missing required parameter: 'messages[0].content'."],
  [
    parts({ text: 'x' }),
    "missing_required_parameter messages[0].content[0].type: Missing required parameter: 'messages[0].content[0].type'.",
  ],
  [
    parts({ type: 'text' }),
    "missing_required_parameter messages[0].content[0].text: Missing required parameter: 'messages[0].content[0].text'.",
  ],
  [
    { messages: [{ role: 'tool', content: 'x' }] },
    "missing_required_parameter messages[0].tool_call_id: Missing required parameter: 'messages[0].tool_call_id'.",
  ],
  [
    { temperature: 3 },
    "decimal_above_max_value temperature: Invalid 'temperature': decimal above maximum value. Expected a value <= 2, but got 3 instead.",
  ],
  [
    { temperature: -1 },
    "decimal_below_min_value temperature: Invalid 'temperature': decimal below minimum value. Expected a value >= 0, but got -1 instead.",
  ],
  [{ temperature: 'hot' }, "invalid_type temperature: Invalid type for 'temperature': expected a decimal, but got a string instead."],
  [
    { top_p: 1.5 },
    "decimal_above_max_value top_p: Invalid 'top_p': decimal above maximum value. Expected a value <= 1, but got 1.5 instead.",
  ],
  [
    { presence_penalty: -3 },
    "decimal_below_min_value presence_penalty: Invalid 'presence_penalty': decimal below minimum value. Expected a value >= -2, but got -3 instead.",
  ],
  [{ n: 0 }, "integer_below_min_value n: Invalid 'n': integer below minimum value. Expected a value >= 1, but got 0 instead."],
  [{ n: 129 }, "integer_above_max_value n: Invalid 'n': integer above maximum value. Expected a value <= 128, but got 129 instead."],
  [{ n: 1.5 }, "invalid_type n: Invalid type for 'n': expected an integer, but got a decimal instead."],
  [
    { max_tokens: -1 },
    "integer_below_min_value max_tokens: Invalid 'max_tokens': integer below minimum value. Expected a value >= 1, but got -1 instead.",
  ],
  [
    { max_completion_tokens: 0 },
    "integer_below_min_value max_completion_tokens: Invalid 'max_completion_tokens': integer below minimum value. Expected a value >= 1, but got 0 instead.",
  ],
  [
    { top_logprobs: 21 },
    "integer_above_max_value top_logprobs: Invalid 'top_logprobs': integer above maximum value. Expected a value <= 20, but got 21 instead.",
  ],
  [{ stop: 5 }, "invalid_type stop: Invalid type for 'stop': expected one of a string or array of strings, but got an integer instead."],
  [{ stream: 'yes' }, "invalid_type stream: Invalid type for 'stream': expected a boolean, but got a string instead."],
  [
    { stream_options: { include_usage: 1 } },
    "invalid_type stream_options.include_usage: Invalid type for 'stream_options.include_usage': expected a boolean, but got an integer instead.",
  ],
  [{ tools: [{ type: 'function' }] }, "missing_required_parameter tools[0].function: Missing required parameter: 'tools[0].function'."],
  [
    { tool_choice: 'some' },
    "invalid_value tool_choice: Invalid value for 'tool_choice': 'some'. Supported values are: 'none', 'auto', and 'required'.",
  ],
  [
    { tool_choice: { type: 'function' } },
    "missing_required_parameter tool_choice.function: Missing required parameter: 'tool_choice.function'.",
  ],
  [
    { response_format: { type: 'json_schema' } },
    "missing_required_parameter response_format.json_schema: Missing required parameter: 'response_format.json_schema'.",
  ],
  [
    { logit_bias: { '1': 101 } },
    "decimal_above_max_value logit_bias.1: Invalid 'logit_bias.1': decimal above maximum value. Expected a value <= 100, but got 101 instead.",
  ],
];

/** Accepted by default because model servers accept it; refused by the vendor's own reference. */
const widened: readonly [object, string][] = [
  // Forms of Mistral's and Perplexity's clients.
  [
    parts({ type: 'image_url', image_url: 'https://example.com' }),
    "invalid_type messages[0].content[0].image_url: Invalid type for 'messages[0].content[0].image_url': expected an object, but got a string instead.",
  ],
  [
    message({ role: 'assistant', tool_calls: [{ ...call, function: { name: 'f', arguments: {} } }] }),
    "invalid_type messages[0].tool_calls[0].function.arguments: Invalid type for 'messages[0].tool_calls[0].function.arguments': expected a string, but got an object instead.",
  ],
  [
    { response_format: { type: 'json_schema', json_schema: { schema: {} } } },
    "missing_required_parameter response_format.json_schema.name: Missing required parameter: 'response_format.json_schema.name'.",
  ],
  [
    { stop: ['a', 'b', 'c', 'd', 'e'] },
    "array_above_max_length stop: Invalid 'stop': array too long. Expected an array with maximum length 4, but got an array with length 5 instead.",
  ],
  [
    tool({ name: 'server.tool' }),
    "invalid_value tools[0].function.name: Invalid 'tools[0].function.name': string does not match pattern. Expected a string that matches the pattern '^[a-zA-Z0-9_-]{1,64}$', but got 'server.tool' instead.",
  ],
  [
    { tools: [{ type: 'web_search' }] },
    "invalid_value tools[0].type: Invalid value for 'tools[0].type': 'web_search'. Supported values are: 'function' and 'custom'.",
  ],
  [
    parts({ type: 'video_url', video_url: { url: 'x' } }),
    "invalid_value messages[0].content[0].type: Invalid value for 'messages[0].content[0].type': 'video_url'. Supported values are: 'text', 'image_url', 'input_audio', and 'file'.",
  ],
  [
    { reasoning_effort: 'ultra' },
    "invalid_value reasoning_effort: Invalid value for 'reasoning_effort': 'ultra'. Supported values are: 'none', 'minimal', 'low', 'medium', 'high', 'xhigh', and 'max'.",
  ],
  [
    { response_format: { type: 'grammar' } },
    "invalid_value response_format.type: Invalid value for 'response_format.type': 'grammar'. Supported values are: 'text', 'json_object', and 'json_schema'.",
  ],
];

for (const [name, fields] of accepted) {
  test(`${name} is accepted in both modes`, () => {
    for (const mode of ['compatible', 'documented'] as const) assert.equal(outcome({ ...base, ...fields }, mode), 'ok', mode);
  });
}

for (const [fields, expected] of refused) {
  test(`${JSON.stringify(fields).slice(0, 100)} is refused in both modes`, () => {
    for (const mode of ['compatible', 'documented'] as const) assert.equal(outcome({ ...base, ...fields }, mode), expected, mode);
  });
}

for (const [fields, expected] of widened) {
  test(`${JSON.stringify(fields).slice(0, 100)} is refused in documented mode only`, () => {
    assert.equal(outcome({ ...base, ...fields }), 'ok');
    assert.equal(outcome({ ...base, ...fields }, 'documented'), expected);
  });
}

test('a request requires a model and messages', () => {
  assert.equal(outcome({ messages: base.messages }), "missing_required_parameter model: Missing required parameter: 'model'.");
  assert.equal(outcome({ model: 'm' }), "missing_required_parameter messages: Missing required parameter: 'messages'.");
});

test('a tool name has 1 to 128 characters by default', () => {
  assert.equal(outcome({ ...base, ...tool({ name: long(128) }) }), 'ok');
  assert.match(
    outcome({ ...base, ...tool({ name: long(129) }) }),
    /^string_above_max_length tools\[0\]\.function\.name: .+ but got a string with length 129 instead\.$/,
  );
  assert.match(outcome({ ...base, ...tool({ name: '' }) }), /^empty_string /);
});

test('the schema is plain JSON for the API document', () => {
  const plain = JSON.parse(JSON.stringify(requestSchema('generate', 'documented'))) as { required: string[] };
  assert.deepEqual(plain.required, ['model', 'messages']);
});

import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { GatewayError } from '../../inference/gateway-error.ts';
import type { JsonObject, JsonValue } from '../../platform/json/json-value.ts';
import type { ValidationMode } from '../dialect-id.ts';
import { validateRequest } from './validate-request.ts';

const modes = ['compatible', 'documented'] as const;
const base: JsonObject = { model: 'm', input: 'hi' };

function refusal(body: JsonObject, mode: ValidationMode): GatewayError | undefined {
  try {
    validateRequest({ operation: 'generate', body, headers: {} }, mode);
    return undefined;
  } catch (error) {
    assert.ok(error instanceof GatewayError);
    assert.equal(error.status, 400);
    return error;
  }
}

type Fields = Record<string, JsonValue>;
type Refused = readonly [fields: Fields, param: string, code: string, message?: string];

const item = (fields: Fields): Fields => ({ input: [fields] });
const part = (fields: Fields): Fields => item({ role: 'user', content: [fields] });
const tool = (fields: Fields): Fields => ({ tools: [fields] });
const fileSearch = (fields: Fields): Fields => tool({ type: 'file_search', vector_store_ids: ['vs_1'], ...fields });
const webSearch = (fields: Fields): Fields => tool({ type: 'web_search_preview', ...fields });
const userLocation = (fields: Fields): Fields => webSearch({ user_location: { type: 'approximate', ...fields } });
const format = (fields: Fields): Fields => ({ text: { format: fields } });
const jsonSchema = (fields: Fields): Fields => format({ type: 'json_schema', name: 'n', schema: {}, ...fields });
const weather = { type: 'function', name: 'f', parameters: { type: 'object' }, strict: true };
const pairs = (count: number): Fields => Object.fromEntries(Array.from({ length: count }, (_, index) => [`k${index}`, 'v']));

/** Accepted in both modes: every field and form of the contract, at its bounds. */
const accepted: readonly Fields[] = [
  {},
  { instructions: 'x', max_output_tokens: 1, parallel_tool_calls: false, previous_response_id: 'resp_1', store: false, stream: true },
  { include: ['file_search_call.results', 'message.input_image.image_url'] },
  { include: ['computer_call_output.output.image_url', 'reasoning.encrypted_content'] },
  { include: null, instructions: null, max_output_tokens: null, parallel_tool_calls: null, previous_response_id: null, reasoning: null },
  { service_tier: null, store: null, stream: null, temperature: null, top_p: null, truncation: null },
  { metadata: pairs(16) },
  { metadata: { ['k'.repeat(64)]: 'v'.repeat(512) } },
  // Lengths count characters, not UTF-16 units.
  { metadata: { ['🌊'.repeat(64)]: '🌊'.repeat(512) } },
  ...['low', 'medium', 'high'].map((effort) => ({ reasoning: { effort } })),
  ...['auto', 'concise', 'detailed'].map((summary) => ({ reasoning: { summary, generate_summary: summary } })),
  ...['auto', 'default', 'flex'].map((tier) => ({ service_tier: tier })),
  ...['disabled', 'auto'].map((truncation) => ({ truncation })),
  { temperature: 0, top_p: 0, user: 'u' },
  { temperature: 2, top_p: 1 },
  format({ type: 'text' }),
  { input: 'Answer in JSON.', ...format({ type: 'json_object' }) },
  { instructions: 'Answer in json.', ...format({ type: 'json_object' }) },
  { previous_response_id: 'resp_1', ...format({ type: 'json_object' }) },
  jsonSchema({ name: 'A-z_09'.padEnd(64, 'x'), schema: { type: 'object' }, description: 'd', strict: true }),
  ...['none', 'auto', 'required'].map((choice) => ({ tool_choice: choice })),
  ...['file_search', 'web_search_preview', 'computer_use_preview'].map((type) => ({ tool_choice: { type } })),
  { tool_choice: { type: 'function', name: 'f' } },
  tool({ ...weather, description: 'd' }),
  fileSearch({ max_num_results: 1, ranking_options: { ranker: 'auto', score_threshold: 0 } }),
  fileSearch({ max_num_results: 50, ranking_options: { score_threshold: 1 } }),
  ...['eq', 'ne', 'gt', 'gte', 'lt', 'lte'].map((type) => fileSearch({ filters: { key: 'year', type, value: 2026 } })),
  fileSearch({
    filters: {
      type: 'or',
      filters: [
        { key: 'a', type: 'eq', value: true },
        { type: 'and', filters: [{ key: 'b', type: 'ne', value: 'x' }] },
      ],
    },
  }),
  webSearch({ search_context_size: 'low', domains: ['example.org'] }),
  tool({ type: 'web_search_preview_2025_03_11', search_context_size: 'high' }),
  userLocation({ city: 'Zürich', country: 'CH', region: 'ZH', timezone: 'Europe/Zurich' }),
  userLocation({ timezone: 'UTC' }),
  tool({ type: 'computer_use_preview', display_width: 1024, display_height: 768, environment: 'browser' }),
  ...['user', 'assistant', 'system', 'developer'].map((role) => item({ role, content: 'x' })),
  item({ type: 'message', role: 'user', content: [] }),
  item({ role: 'assistant', content: [{ type: 'output_text', text: 'x', annotations: [] }] }),
  item({ role: 'assistant', content: [{ type: 'refusal', refusal: 'no' }] }),
  part({ type: 'input_text', text: '' }),
  ...['high', 'low', 'auto'].map((detail) => part({ type: 'input_image', detail, image_url: 'https://example.org/a.png' })),
  part({ type: 'input_image', image_url: 'data:image/png;base64,iVBO', file_id: 'file_1' }),
  part({ type: 'input_file', file_data: 'data:application/pdf;base64,JVBE', filename: 'a.pdf' }),
  part({ type: 'input_file', file_id: 'file_1' }),
  item({ type: 'input_text', text: 'x' }),
  ...['in_progress', 'completed', 'incomplete'].map((status) =>
    item({ type: 'function_call_output', call_id: 'call_1', output: '{}', id: 'fc_1', status }),
  ),
  item({
    type: 'computer_call_output',
    call_id: 'call_1',
    output: { type: 'computer_screenshot', image_url: 'data:image/png;base64,iVBO' },
    acknowledged_safety_checks: [{ id: 'cu_1' }],
  }),
  item({ type: 'item_reference', id: 'msg_1' }),
  item({ id: 'msg_1' }),
  item({ type: 'function_call', arguments: '{}', call_id: 'call_1', name: 'f' }),
  item({ type: 'file_search_call', id: 'fs_1', queries: ['q'], status: 'searching', results: null }),
  item({ type: 'web_search_call', id: 'ws_1', status: 'completed' }),
  item({ type: 'computer_call', action: { type: 'wait' }, call_id: 'c', id: 'cu_1', pending_safety_checks: [], status: 'completed' }),
  item({ type: 'reasoning', id: 'rs_1', summary: [{ type: 'summary_text', text: 't' }], encrypted_content: null }),
];

/** Refused in both modes. */
const refused: readonly Refused[] = [
  [
    { temperature: 2.5 },
    'temperature',
    'decimal_above_max_value',
    "Invalid 'temperature': decimal above maximum value. Expected a value <= 2, but got 2.5 instead.",
  ],
  [
    { temperature: -1 },
    'temperature',
    'decimal_below_min_value',
    "Invalid 'temperature': decimal below minimum value. Expected a value >= 0, but got -1 instead.",
  ],
  [
    { temperature: '1' },
    'temperature',
    'invalid_type',
    "Invalid type for 'temperature': expected one of a decimal or null, but got a string instead.",
  ],
  [{ top_p: 1.1 }, 'top_p', 'decimal_above_max_value'],
  [
    { model: '' },
    'model',
    'empty_string',
    "Invalid 'model': empty string. Expected a string with minimum length 1, but got an empty string instead.",
  ],
  [{ model: 5 }, 'model', 'invalid_type', "Invalid type for 'model': expected a string, but got an integer instead."],
  [{ input: 5 }, 'input', 'invalid_type'],
  [{ input: ['x'] }, 'input[0]', 'invalid_type', "Invalid type for 'input[0]': expected an object, but got a string instead."],
  [{ include: ['everything'] }, 'include[0]', 'invalid_value'],
  [
    { max_output_tokens: 0 },
    'max_output_tokens',
    'integer_below_min_value',
    "Invalid 'max_output_tokens': integer below minimum value. Expected a value >= 1, but got 0 instead.",
  ],
  [{ max_output_tokens: 1.5 }, 'max_output_tokens', 'invalid_type'],
  [
    { metadata: pairs(17) },
    'metadata',
    'object_above_max_properties',
    "Invalid 'metadata': too many properties. Expected an object with maximum 16 properties, but got an object with 17 properties instead.",
  ],
  [{ metadata: { ['k'.repeat(65)]: 'v' } }, 'metadata', 'string_above_max_length'],
  [
    { metadata: { a: 'v'.repeat(513) } },
    'metadata.a',
    'string_above_max_length',
    "Invalid 'metadata.a': string too long. Expected a string with maximum length 512, but got a string with length 513 instead.",
  ],
  [{ metadata: { a: 1 } }, 'metadata.a', 'invalid_type', "Invalid type for 'metadata.a': expected a string, but got an integer instead."],
  [{ parallel_tool_calls: 'yes' }, 'parallel_tool_calls', 'invalid_type'],
  [{ previous_response_id: 1 }, 'previous_response_id', 'invalid_type'],
  [{ reasoning: { effort: 'extreme' } }, 'reasoning.effort', 'invalid_value'],
  [{ reasoning: { summary: 'long' } }, 'reasoning.summary', 'invalid_value'],
  [{ service_tier: 'gold' }, 'service_tier', 'invalid_value'],
  [{ store: 1 }, 'store', 'invalid_type'],
  [{ stream: 'true' }, 'stream', 'invalid_type', "Invalid type for 'stream': expected one of a boolean or null, but got a string instead."],
  [
    { truncation: 'middle' },
    'truncation',
    'invalid_value',
    "Invalid value: 'middle'. Supported values are: 'disabled' and 'auto'. Parameter: 'truncation'.",
  ],
  [{ user: 5 }, 'user', 'invalid_type'],
  [{ text: 'json' }, 'text', 'invalid_type'],
  [
    format({ type: 'yaml' }),
    'text.format.type',
    'invalid_value',
    "Invalid value: 'yaml'. Supported values are: 'text', 'json_schema', and 'json_object'. Parameter: 'text.format.type'.",
  ],
  [
    format({ type: 'json_object' }),
    'input',
    'invalid_value',
    "Response input messages must contain the word 'json' in some form to use 'text.format' of type 'json_object'.",
  ],
  [
    format({ type: 'json_schema', schema: {} }),
    'text.format.name',
    'missing_required_parameter',
    "Missing required parameter: 'text.format.name'.",
  ],
  [format({ type: 'json_schema', name: 'n' }), 'text.format.schema', 'missing_required_parameter'],
  [jsonSchema({ name: 'a b' }), 'text.format.name', 'invalid_value'],
  [jsonSchema({ name: 'n'.repeat(65) }), 'text.format.name', 'string_above_max_length'],
  [jsonSchema({ name: '' }), 'text.format.name', 'empty_string'],
  [jsonSchema({ schema: 'x' }), 'text.format.schema', 'invalid_type'],
  [jsonSchema({ strict: 'x' }), 'text.format.strict', 'invalid_type'],
  // The nesting of chat completions.
  [format({ type: 'json_schema', json_schema: { name: 'n', schema: {} } }), 'text.format.name', 'missing_required_parameter'],
  [
    { tool_choice: 'any' },
    'tool_choice',
    'invalid_value',
    "Invalid value: 'any'. Supported values are: 'none', 'auto', and 'required'. Parameter: 'tool_choice'.",
  ],
  [{ tool_choice: { type: 'function' } }, 'tool_choice.name', 'missing_required_parameter'],
  [{ tool_choice: {} }, 'tool_choice.type', 'missing_required_parameter'],
  [{ tools: {} }, 'tools', 'invalid_type'],
  [tool({}), 'tools[0].type', 'missing_required_parameter', "Missing required parameter: 'tools[0].type'."],
  [tool({ type: 'function', parameters: {}, strict: true }), 'tools[0].name', 'missing_required_parameter'],
  [tool({ type: 'function', name: 'f', strict: true }), 'tools[0].parameters', 'missing_required_parameter'],
  [tool({ ...weather, strict: 'yes' }), 'tools[0].strict', 'invalid_type'],
  [tool({ type: 'file_search' }), 'tools[0].vector_store_ids', 'missing_required_parameter'],
  [fileSearch({ max_num_results: 0 }), 'tools[0].max_num_results', 'integer_below_min_value'],
  [
    fileSearch({ max_num_results: 51 }),
    'tools[0].max_num_results',
    'integer_above_max_value',
    "Invalid 'tools[0].max_num_results': integer above maximum value. Expected a value <= 50, but got 51 instead.",
  ],
  [fileSearch({ ranking_options: { score_threshold: 1.01 } }), 'tools[0].ranking_options.score_threshold', 'decimal_above_max_value'],
  [fileSearch({ ranking_options: { score_threshold: -0.1 } }), 'tools[0].ranking_options.score_threshold', 'decimal_below_min_value'],
  [
    fileSearch({ filters: { type: 'and', filters: [{ key: 'a', type: 'like', value: 1 }] } }),
    'tools[0].filters.filters[0].type',
    'invalid_value',
  ],
  [fileSearch({ filters: { type: 'eq', value: 1 } }), 'tools[0].filters.key', 'missing_required_parameter'],
  [webSearch({ search_context_size: 'huge' }), 'tools[0].search_context_size', 'invalid_value'],
  [webSearch({ domains: 'example.org' }), 'tools[0].domains', 'invalid_type'],
  [
    userLocation({ country: 'USA' }),
    'tools[0].user_location.country',
    'invalid_value',
    "Invalid 'tools[0].user_location.country': string does not match pattern. Expected a two-letter ISO country code such as US, but got 'USA' instead.",
  ],
  [userLocation({ timezone: 'half past nine' }), 'tools[0].user_location.timezone', 'invalid_value'],
  [webSearch({ user_location: { type: 'exact' } }), 'tools[0].user_location.type', 'invalid_value'],
  [tool({ type: 'computer_use_preview', display_width: 1, environment: 'x' }), 'tools[0].display_height', 'missing_required_parameter'],
  [tool({ type: 'computer_use_preview', display_width: 1, display_height: 1 }), 'tools[0].environment', 'missing_required_parameter'],
  [
    item({ role: 'tool', content: 'x' }),
    'input[0].role',
    'invalid_value',
    "Invalid value: 'tool'. Supported values are: 'user', 'assistant', 'system', and 'developer'. Parameter: 'input[0].role'.",
  ],
  [item({ content: 'x' }), 'input[0].role', 'missing_required_parameter'],
  [item({ role: 'user' }), 'input[0].content', 'missing_required_parameter', "Missing required parameter: 'input[0].content'."],
  [
    item({ role: 'user', content: 5 }),
    'input[0].content',
    'invalid_type',
    "Invalid type for 'input[0].content': expected one of a string or an array, but got an integer instead.",
  ],
  [item({ role: 'user', content: 'x', status: 'done' }), 'input[0].status', 'invalid_value'],
  [part({ type: 'input_text' }), 'input[0].content[0].text', 'missing_required_parameter'],
  [part({ type: 'input_image', detail: 'ultra' }), 'input[0].content[0].detail', 'invalid_value'],
  [part({ type: 'input_image', image_url: { url: 'https://example.org' } }), 'input[0].content[0].image_url', 'invalid_type'],
  [part({ type: 'input_image', image_url: 'ftp://example.org/a.png' }), 'input[0].content[0].image_url', 'invalid_value'],
  [part({ type: 'input_file', file_id: 5 }), 'input[0].content[0].file_id', 'invalid_type'],
  [part({ text: 'x' }), 'input[0].content[0].type', 'missing_required_parameter'],
  [item({ type: 'function_call_output', output: '{}' }), 'input[0].call_id', 'missing_required_parameter'],
  [item({ type: 'function_call_output', call_id: 'c' }), 'input[0].output', 'missing_required_parameter'],
  [item({ type: 'function_call_output', call_id: 'c', output: {} }), 'input[0].output', 'invalid_type'],
  [item({ type: 'computer_call_output', call_id: 'c', output: 'x' }), 'input[0].output', 'invalid_type'],
  [item({ type: 'item_reference' }), 'input[0].id', 'missing_required_parameter'],
  [item({ type: 'function_call', call_id: 'c', name: 'f' }), 'input[0].arguments', 'missing_required_parameter'],
  [item({ type: 'function_call', call_id: 'c', name: 'f', arguments: {} }), 'input[0].arguments', 'invalid_type'],
];

/** Accepted in compatible mode only: the vendor accepts it and contract B does not. */
const compatibleOnly: readonly Refused[] = [
  [{ prompt_cache_key: 'k' }, 'prompt_cache_key', 'unknown_parameter', "Unknown parameter: 'prompt_cache_key'."],
  [{ client_metadata: { a: 1 } }, 'client_metadata', 'unknown_parameter'],
  ...['none', 'minimal', 'xhigh', 'max'].map((effort): Refused => [
    { reasoning: { effort } },
    'reasoning.effort',
    'invalid_value',
    `Invalid value: '${effort}'. Supported values are: 'low', 'medium', and 'high'. Parameter: 'reasoning.effort'.`,
  ]),
  ...['priority', 'scale', 'fast'].map((tier): Refused => [{ service_tier: tier }, 'service_tier', 'invalid_value']),
  [{ include: ['web_search_call.action.sources'] }, 'include[0]', 'invalid_value'],
  [{ metadata: null }, 'metadata', 'invalid_type'],
  [{ tools: null }, 'tools', 'invalid_type'],
  [{ text: { verbosity: 'low' } }, 'text.verbosity', 'unknown_parameter'],
  [{ tool_choice: { type: 'allowed_tools', mode: 'auto', tools: [] } }, 'tool_choice.type', 'invalid_value'],
  [{ tool_choice: { type: 'image_generation' } }, 'tool_choice.type', 'invalid_value'],
  [tool({ type: 'web_search', external_web_access: true }), 'tools[0].type', 'invalid_value'],
  [tool({ type: 'namespace', name: 'n', tools: [] }), 'tools[0].type', 'invalid_value'],
  [tool({ type: 'function', name: 'f', parameters: null, strict: false }), 'tools[0].parameters', 'invalid_type'],
  [tool({ type: 'function', name: 'f', parameters: {} }), 'tools[0].strict', 'missing_required_parameter'],
  [fileSearch({ filters: { key: 'a', type: 'in', value: [1, 'b'] } }), 'tools[0].filters.type', 'invalid_value'],
  [item({ type: 'custom_tool_call', call_id: 'c', name: 'n', input: 'x' }), 'input[0].type', 'invalid_value'],
  [item({ type: 'function_call_output', call_id: 'c', output: [{ type: 'input_text', text: 'x' }] }), 'input[0].output', 'invalid_type'],
  [item({ type: 'reasoning', summary: [], encrypted_content: 'x' }), 'input[0].id', 'missing_required_parameter'],
  [item({ role: 'user', content: 'x', phase: 'commentary' }), 'input[0].phase', 'unknown_parameter'],
  [part({ type: 'input_audio', input_audio: { data: 'UklG', format: 'wav' } }), 'input[0].content[0].type', 'invalid_value'],
  [part({ type: 'input_image', image_url: null, detail: null, file_id: 'file_1' }), 'input[0].content[0].detail', 'invalid_type'],
  [
    item({ role: 'assistant', content: [{ type: 'output_text', text: 'x' }] }),
    'input[0].content[0].annotations',
    'missing_required_parameter',
  ],
];

test('fields of the contract are accepted in both modes', () => {
  for (const mode of modes) {
    for (const fields of accepted)
      assert.equal(refusal({ ...base, ...fields }, mode)?.message, undefined, `${mode} ${JSON.stringify(fields)}`);
  }
});

test('violations of the contract are refused in both modes with the name of the field', () => {
  for (const mode of modes) {
    for (const [fields, param, code, message] of refused) {
      const error = refusal({ ...base, ...fields }, mode);
      const label = `${mode} ${JSON.stringify(fields)}`;
      assert.ok(error !== undefined, label);
      assert.deepEqual([error.param, error.details?.openai_code], [param, code], `${label}: ${error.message}`);
      // The same message also lists values of compatible mode, and null if the vendor accepts it.
      if (message !== undefined && mode === 'documented' && !message.includes('or null')) assert.equal(error.message, message, label);
    }
  }
});

test('messages of compatible mode match exactly', () => {
  for (const [fields, , , message] of refused) {
    if (message !== undefined && !message.includes('Supported'))
      assert.equal(refusal({ ...base, ...fields }, 'compatible')?.message, message);
  }
});

test('fields of the vendor alone pass in compatible mode and are refused in documented mode', () => {
  for (const [fields, param, code, message] of compatibleOnly) {
    const label = JSON.stringify(fields);
    assert.equal(refusal({ ...base, ...fields }, 'compatible')?.message, undefined, label);
    const error = refusal({ ...base, ...fields }, 'documented');
    assert.deepEqual([error?.param, error?.details?.openai_code], [param, code], `${label}: ${error?.message}`);
    if (message !== undefined) assert.equal(error?.message, message);
  }
});

test('model and input are required', () => {
  for (const mode of modes) {
    assert.equal(refusal({ input: 'x' }, mode)?.message, "Missing required parameter: 'model'.");
    assert.equal(refusal({ input: 'x' }, mode)?.code, 'missing_required_field');
    assert.equal(refusal({ model: 'm' }, mode)?.message, "Missing required parameter: 'input'.");
  }
});

test('input may be absent if the vendor has it, and two histories are refused', () => {
  for (const fields of [{ previous_response_id: 'resp_1' }, { conversation: 'conv_1' }, { prompt: { id: 'pmpt_1' } }]) {
    assert.equal(refusal({ model: 'm', ...fields }, 'compatible'), undefined);
    assert.equal(refusal({ model: 'm', ...fields, input: null }, 'compatible'), undefined);
    assert.notEqual(refusal({ model: 'm', ...fields }, 'documented'), undefined);
  }
  const error = refusal({ ...base, previous_response_id: 'resp_1', conversation: 'conv_1' }, 'compatible');
  assert.match(error?.message ?? '', /Mutually exclusive parameters: 'previous_response_id' and 'conversation'/);
});

test('a token count accepts the same body', () => {
  validateRequest({ operation: 'count-tokens', body: base, headers: {} }, 'compatible');
  assert.throws(() => validateRequest({ operation: 'count-tokens', body: { input: 'x' }, headers: {} }, 'compatible'), /'model'/);
});

test('any body is accepted, or refused with the name of a field', () => {
  const names = [
    'model',
    'input',
    'include',
    'metadata',
    'reasoning',
    'text',
    'tool_choice',
    'tools',
    'temperature',
    'stream',
    'conversation',
  ];
  const value = fc.jsonValue({ maxDepth: 4 }) as fc.Arbitrary<JsonValue>;
  fc.assert(
    fc.property(fc.dictionary(fc.constantFrom(...names), value), fc.constantFrom(...modes), (fields, mode) => {
      const error = refusal({ ...base, ...fields }, mode);
      assert.ok(error === undefined || (error.param !== undefined && error.message !== 'The request body does not fit the interface.'));
    }),
    { numRuns: 300 },
  );
});

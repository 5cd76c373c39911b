import assert from 'node:assert/strict';
import { test } from 'node:test';
import { GatewayError } from '../../inference/gateway-error.ts';
import type { JsonObject } from '../../platform/json/json-value.ts';
import type { Operation, ValidationMode } from '../dialect-id.ts';
import { requestSchema, validateRequest } from './validate-request.ts';
import { threadMs } from '../../platform/thread-ms.ts';

type Headers = Readonly<Record<string, string | undefined>>;
const version = { 'anthropic-version': '2023-06-01' };

function outcome(body: object, mode: ValidationMode, headers: Headers = version, operation: Operation = 'generate'): string {
  try {
    validateRequest({ operation, body: body as JsonObject, headers }, mode);
    return 'ok';
  } catch (error) {
    assert.ok(error instanceof GatewayError);
    assert.equal(error.status, 400);
    assert.ok(error.message.startsWith(`${error.param}: `), error.message);
    return `${error.code} ${error.message}`;
  }
}

const base = { model: 'm', max_tokens: 2000, messages: [{ role: 'user', content: 'hi' }] };
const turn = (...content: unknown[]) => ({ messages: [{ role: 'user', content }] });
const without = (field: keyof typeof base) => Object.fromEntries(Object.entries(base).filter(([name]) => name !== field));
const long = (length: number) => 'x'.repeat(length);
const cached = { cache_control: { type: 'ephemeral' } };
const image = { type: 'base64', media_type: 'image/png', data: 'iVBORw0KGgo=' };
const tool = (fields: object) => ({ tools: [{ name: 't', input_schema: { type: 'object' }, ...fields }] });
const computer = { type: 'computer_20241022', name: 'computer', display_width_px: 1024, display_height_px: 768 };

/** Accepted in both modes: the limits of the contract. */
const accepted: readonly [string, object][] = [
  ['model of 1 character', { model: 'x' }],
  ['model of 256 characters', { model: long(256) }],
  ['max_tokens 2', { max_tokens: 2 }],
  ['consecutive turns of one role', { messages: [...base.messages, ...base.messages] }],
  ['a prefilled reply', { messages: [...base.messages, { role: 'assistant', content: 'Once' }] }],
  [
    'what a reply held, as it was',
    turn(
      { type: 'thinking', thinking: '', signature: 'x' },
      { type: 'redacted_thinking', data: 'y' },
      { type: 'text', text: 'x', citations: [] },
      { type: 'tool_use', id: 'a', name: 'f', input: {}, caller: { type: 'direct' } },
    ),
  ],
  ['system text', { system: 'Be brief.' }],
  ['user_id of 256 characters', { metadata: { user_id: long(256) } }],
  ['metadata without user_id', { metadata: {} }],
  ['stop sequences', { stop_sequences: ['a', 'b'] }],
  ['stream', { stream: true }],
  ['temperature 0', { temperature: 0 }],
  ['temperature 1', { temperature: 1 }],
  ['top_k 1', { top_k: 1 }],
  ['top_p inside', { top_p: 0.5 }],
  ['thinking off', { thinking: { type: 'disabled' } }],
  ['thinking budget 1024', { thinking: { type: 'enabled', budget_tokens: 1024 } }],
  ['thinking budget one below max_tokens', { thinking: { type: 'enabled', budget_tokens: 1999 } }],
  ['tool_choice auto', { tool_choice: { type: 'auto', disable_parallel_tool_use: true } }],
  ['tool_choice any', { tool_choice: { type: 'any' } }],
  ['tool_choice tool', { tool_choice: { type: 'tool', name: 't' } }],
  ['a tool of 64 characters with everything', tool({ type: 'custom', name: long(64), description: 'd', ...cached })],
  ['computer', { tools: [{ ...computer, display_number: 1, ...cached }] }],
  ['bash', { tools: [{ type: 'bash_20241022', name: 'bash', ...cached }] }],
  ['text editor', { tools: [{ type: 'text_editor_20241022', name: 'str_replace_editor' }] }],
  ['text of 1 character', turn({ type: 'text', text: 'x', ...cached })],
  ['image', turn({ type: 'image', source: image, ...cached })],
  ...['image/jpeg', 'image/gif', 'image/webp'].map((media_type): [string, object] => [
    media_type,
    turn({ type: 'image', source: { ...image, media_type } }),
  ]),
  ['tool use', turn({ type: 'tool_use', id: 'a', name: 'b', input: {}, ...cached })],
  ['tool result text', turn({ type: 'tool_result', tool_use_id: 'a', content: '', is_error: true, ...cached })],
  [
    'tool result blocks',
    turn({
      type: 'tool_result',
      tool_use_id: 'a',
      content: [
        { type: 'text', text: 'x' },
        { type: 'image', source: image },
      ],
    }),
  ],
  ['document', turn({ type: 'document', source: { anything: 1 }, ...cached })],
];

/** Refused in both modes, with the whole message. */
const refused: readonly [object, string][] = [
  [{ model: '' }, 'invalid_value model: must have at least 1 character, but got 0'],
  [{ model: long(257) }, 'invalid_value model: must have at most 256 characters, but got 257'],
  [{ model: 5 }, 'invalid_value model: must be a string, but got an integer'],
  [{ max_tokens: -1 }, ''],
  [{ max_tokens: 1.5 }, 'invalid_value max_tokens: must be an integer, but got a number'],
  [{ max_tokens: '5' }, 'invalid_value max_tokens: must be an integer, but got a string'],
  [{ max_tokens: null }, 'invalid_value max_tokens: must be an integer, but got null'],
  [{ messages: [] }, 'invalid_value messages: must have at least 1 item, but got 0'],
  [{ messages: 'hi' }, 'invalid_value messages: must be an array, but got a string'],
  [{ messages: ['hi'] }, 'invalid_value messages.0: must be an object, but got a string'],
  [{ messages: [{ content: 'hi' }] }, 'missing_required_field messages.0.role: Field required'],
  [{ messages: [{ role: 'user' }] }, 'missing_required_field messages.0.content: Field required'],
  [{ messages: [{ role: 'robot', content: 'x' }] }, ''],
  [{ messages: [{ role: 'user', content: 5 }] }, 'invalid_value messages.0.content: must be a string or an array, but got an integer'],
  [{ messages: [{ role: 'user', content: '' }] }, 'invalid_value messages.0.content: must have at least 1 character, but got 0'],
  [{ system: 5 }, ''],
  [{ metadata: 'me' }, 'invalid_value metadata: must be an object, but got a string'],
  [{ metadata: { user_id: 5 } }, 'invalid_value metadata.user_id: must be a string, but got an integer'],
  [{ metadata: { user_id: long(513) } }, ''],
  [{ stop_sequences: 'a' }, 'invalid_value stop_sequences: must be an array, but got a string'],
  [{ stop_sequences: ['a', 5] }, 'invalid_value stop_sequences.1: must be a string, but got an integer'],
  [{ stream: 'yes' }, 'invalid_value stream: must be a boolean, but got a string'],
  [{ temperature: -0.1 }, 'invalid_value temperature: must be at least 0, but got -0.1'],
  [{ temperature: 1.01 }, 'invalid_value temperature: must be at most 1, but got 1.01'],
  [{ top_k: 0 }, 'invalid_value top_k: must be greater than 0, but got 0'],
  [{ top_k: 1.5 }, 'invalid_value top_k: must be an integer, but got a number'],
  [{ top_p: -0.1 }, ''],
  [{ top_p: 1.1 }, ''],
  [{ thinking: true }, 'invalid_value thinking: must be an object, but got a boolean'],
  [{ thinking: {} }, 'missing_required_field thinking.type: Field required'],
  [{ thinking: { type: 'enabled' } }, 'missing_required_field thinking.budget_tokens: Field required'],
  [{ thinking: { type: 'enabled', budget_tokens: 1023 } }, 'invalid_value thinking.budget_tokens: must be at least 1024, but got 1023'],
  [
    { thinking: { type: 'enabled', budget_tokens: 2000 } },
    'invalid_value thinking.budget_tokens: must be less than max_tokens (2000), but got 2000',
  ],
  [{ tool_choice: 'auto' }, 'invalid_value tool_choice: must be an object, but got a string'],
  [{ tool_choice: { type: 'some' } }, ''],
  [{ tool_choice: { type: 'tool' } }, 'missing_required_field tool_choice.name: Field required'],
  [
    { tool_choice: { type: 'any', disable_parallel_tool_use: 'no' } },
    'invalid_value tool_choice.disable_parallel_tool_use: must be a boolean, but got a string',
  ],
  [{ tools: {} }, 'invalid_value tools: must be an array, but got an object'],
  [{ tools: [{ name: 't' }] }, 'missing_required_field tools.0.input_schema: Field required'],
  [{ tools: [{ input_schema: {} }] }, 'missing_required_field tools.0.name: Field required'],
  [tool({ name: '' }), 'invalid_value tools.0.name: must have at least 1 character, but got 0'],
  [tool({ name: long(129) }), ''],
  [tool({ description: 5 }), 'invalid_value tools.0.description: must be a string, but got an integer'],
  [tool({ input_schema: '{}' }), 'invalid_value tools.0.input_schema: must be an object, but got a string'],
  [tool({ cache_control: { type: 'eternal' } }), "invalid_value tools.0.cache_control.type: must be 'ephemeral', but got 'eternal'"],
  [{ tools: [{ ...computer, name: 'screen' }] }, "invalid_value tools.0.name: must be 'computer', but got 'screen'"],
  [{ tools: [{ ...computer, display_width_px: '1024' }] }, 'invalid_value tools.0.display_width_px: must be an integer, but got a string'],
  [{ tools: [{ ...computer, display_number: 0.5 }] }, 'invalid_value tools.0.display_number: must be an integer, but got a number'],
  [
    { tools: [{ type: 'computer_20241022', name: 'computer', display_width_px: 1 }] },
    'missing_required_field tools.0.display_height_px: Field required',
  ],
  [{ tools: [{ type: 'bash_20241022', name: 'sh' }] }, "invalid_value tools.0.name: must be 'bash', but got 'sh'"],
  [{ tools: [{ type: 'bash_20241022' }] }, 'missing_required_field tools.0.name: Field required'],
  [{ tools: [{ type: 'text_editor_20241022', name: 'edit' }] }, "invalid_value tools.0.name: must be 'str_replace_editor', but got 'edit'"],
  [turn({ text: 'x' }), 'missing_required_field messages.0.content.0.type: Field required'],
  [turn({ type: 'text' }), 'missing_required_field messages.0.content.0.text: Field required'],
  [turn({ type: 'text', text: '' }), 'invalid_value messages.0.content.0.text: must have at least 1 character, but got 0'],
  [
    turn({ type: 'text', text: 'x', cache_control: 'yes' }),
    'invalid_value messages.0.content.0.cache_control: must be an object, but got a string',
  ],
  [turn({ type: 'image' }), 'missing_required_field messages.0.content.0.source: Field required'],
  [
    turn({ type: 'image', source: { ...image, media_type: 'image/bmp' } }),
    "invalid_value messages.0.content.0.source.media_type: must be one of 'image/jpeg', 'image/png', 'image/gif', 'image/webp', but got 'image/bmp'",
  ],
  [
    turn({ type: 'image', source: { ...image, data: 'data:image/png;base64,AAAA' } }),
    "invalid_value messages.0.content.0.source.data: must be base64 without a data: prefix, but got 'data:image/png;base64,AAAA'",
  ],
  [
    turn({ type: 'image', source: { type: 'base64', media_type: 'image/png' } }),
    'missing_required_field messages.0.content.0.source.data: Field required',
  ],
  [turn({ type: 'tool_use', name: 'b', input: {} }), 'missing_required_field messages.0.content.0.id: Field required'],
  [
    turn({ type: 'tool_use', id: '', name: 'b', input: {} }),
    'invalid_value messages.0.content.0.id: must have at least 1 character, but got 0',
  ],
  [
    turn({ type: 'tool_use', id: 'a', name: '', input: {} }),
    'invalid_value messages.0.content.0.name: must have at least 1 character, but got 0',
  ],
  [turn({ type: 'tool_use', id: 'a', name: 'b' }), 'missing_required_field messages.0.content.0.input: Field required'],
  [
    turn({ type: 'tool_use', id: 'a', name: 'b', input: '{}' }),
    'invalid_value messages.0.content.0.input: must be an object, but got a string',
  ],
  [turn({ type: 'tool_result', content: 'x' }), 'missing_required_field messages.0.content.0.tool_use_id: Field required'],
  [
    turn({ type: 'tool_result', tool_use_id: 'a', content: 5 }),
    'invalid_value messages.0.content.0.content: must be a string or an array, but got an integer',
  ],
  [
    turn({ type: 'tool_result', tool_use_id: 'a', content: [{ type: 'text', text: 5 }] }),
    'invalid_value messages.0.content.0.content.0.text: must be a string, but got an integer',
  ],
  [
    turn({ type: 'tool_result', tool_use_id: 'a', content: 'x', is_error: 'no' }),
    'invalid_value messages.0.content.0.is_error: must be a boolean, but got a string',
  ],
  [turn({ type: 'document' }), 'missing_required_field messages.0.content.0.source: Field required'],
  [turn({ type: 'document', source: 'x' }), 'invalid_value messages.0.content.0.source: must be an object, but got a string'],
];

/** Accepted by the vendor but not in the contract: accepted by default, refused in `documented` mode. */
const widened: readonly [object, string][] = [
  [{ max_tokens: 1 }, 'invalid_value max_tokens: must be greater than 1, but got 1'],
  [{ max_tokens: 0 }, 'invalid_value max_tokens: must be greater than 1, but got 0'],
  [{ top_p: 0 }, 'invalid_value top_p: must be greater than 0, but got 0'],
  [{ top_p: 1 }, 'invalid_value top_p: must be less than 1, but got 1'],
  [
    { messages: [...base.messages, { role: 'system', content: 'x' }] },
    "invalid_value messages.1.role: must be one of 'user', 'assistant', but got 'system'",
  ],
  [
    { messages: [...base.messages, { role: 'assistant', content: '' }] },
    'invalid_value messages.1.content: must have at least 1 character, but got 0',
  ],
  [{ system: [{ type: 'text', text: 'x', ...cached }] }, 'invalid_value system: must be a string, but got an array'],
  [{ metadata: { user_id: long(512) } }, 'invalid_value metadata.user_id: must have at most 256 characters, but got 512'],
  [{ metadata: { user_id: null } }, 'invalid_value metadata.user_id: must be a string, but got null'],
  [{ stop_sequences: null }, 'invalid_value stop_sequences: must be an array, but got null'],
  [
    { thinking: { type: 'adaptive', display: 'omitted' } },
    "invalid_value thinking.type: must be one of 'enabled', 'disabled', but got 'adaptive'",
  ],
  [
    { thinking: { type: 'enabled', budget_tokens: 1024, display: 'summarized' } },
    'unknown_field thinking.display: Extra inputs are not permitted',
  ],
  [{ tool_choice: { type: 'none' } }, "invalid_value tool_choice.type: must be one of 'auto', 'any', 'tool', but got 'none'"],
  [tool({ type: null }), 'invalid_value tools.0.type: must be a string, but got null'],
  [tool({ name: long(128) }), 'invalid_value tools.0.name: must have at most 64 characters, but got 128'],
  [tool({ defer_loading: true }), 'unknown_field tools.0.defer_loading: Extra inputs are not permitted'],
  [
    { tools: [{ type: 'web_search_20250305', name: 'web_search', max_uses: 2 }] },
    "invalid_value tools.0.type: must be one of 'custom', 'computer_20241022', 'bash_20241022', 'text_editor_20241022', but got 'web_search_20250305'",
  ],
  [
    turn({ type: 'server_tool_use', id: 'srvtoolu_1', name: 'web_search', input: {} }),
    "invalid_value messages.0.content.0.type: must be one of 'text', 'image', 'tool_use', 'tool_result', 'document', 'thinking', 'redacted_thinking', but got 'server_tool_use'",
  ],
  [turn({ type: 'thinking', thinking: '' }), 'missing_required_field messages.0.content.0.signature: Field required'],
  [
    turn({ type: 'text', text: 'x', cache_control: { type: 'ephemeral', ttl: '1h' } }),
    'unknown_field messages.0.content.0.cache_control.ttl: Extra inputs are not permitted',
  ],
  [
    turn({ type: 'image', source: { type: 'url', url: 'https://example.com/a.png' } }),
    "invalid_value messages.0.content.0.source.type: must be 'base64', but got 'url'",
  ],
  [turn({ type: 'tool_result', tool_use_id: 'a' }), 'missing_required_field messages.0.content.0.content: Field required'],
  [
    turn({ type: 'tool_result', tool_use_id: 'a', content: [{ type: 'document', source: {} }] }),
    "invalid_value messages.0.content.0.content.0.type: must be one of 'text', 'image', but got 'document'",
  ],
  [
    turn({ type: 'document', source: { type: 'file', file_id: 'f' }, title: 'T' }),
    'unknown_field messages.0.content.0.title: Extra inputs are not permitted',
  ],
  [{ thread: { type: 'create' } }, 'unknown_field thread: Extra inputs are not permitted'],
  [{ context_management: {} }, 'unknown_field context_management: Extra inputs are not permitted'],
];

for (const [name, fields] of accepted) {
  test(`both modes accept: ${name}`, () => {
    for (const mode of ['compatible', 'documented'] as const) assert.equal(outcome({ ...base, ...fields }, mode), 'ok', mode);
  });
}

for (const [fields, message] of refused) {
  test(`both modes refuse: ${JSON.stringify(fields).slice(0, 100)}`, () => {
    for (const mode of ['compatible', 'documented'] as const) {
      const result = outcome({ ...base, ...fields }, mode);
      if (message === '') assert.match(result, /^invalid_value .+: must .+, but got /, mode);
      else assert.equal(result, message, mode);
    }
  });
}

for (const [fields, message] of widened) {
  test(`only documented mode refuses: ${JSON.stringify(fields).slice(0, 100)}`, () => {
    assert.equal(outcome({ ...base, ...fields }, 'compatible'), 'ok');
    assert.equal(outcome({ ...base, ...fields }, 'documented'), message);
  });
}

test('missing required fields are refused', () => {
  assert.equal(outcome(without('model'), 'compatible'), 'missing_required_field model: Field required');
  assert.equal(outcome(without('max_tokens'), 'compatible'), 'missing_required_field max_tokens: Field required');
  assert.equal(outcome(without('messages'), 'documented'), 'missing_required_field messages: Field required');
});

test('compatible mode has the vendor’s limits', () => {
  const result = (fields: object) => outcome({ ...base, ...fields }, 'compatible');
  assert.equal(result({ max_tokens: -1 }), 'invalid_value max_tokens: must be at least 0, but got -1');
  assert.equal(result({ top_p: 1.1 }), 'invalid_value top_p: must be at most 1, but got 1.1');
  assert.equal(
    result({ metadata: { user_id: long(513) } }),
    'invalid_value metadata.user_id: must have at most 512 characters, but got 513',
  );
  assert.equal(result({ system: [{ type: 'image' }] }), "invalid_value system.0.type: must be 'text', but got 'image'");
  assert.equal(result({ system: [{ type: 'text', text: '' }] }), 'invalid_value system.0.text: must have at least 1 character, but got 0');
  assert.equal(
    result(turn({ type: 'text', text: 'x', cache_control: { type: 'ephemeral', ttl: '2h' } })),
    "invalid_value messages.0.content.0.cache_control.ttl: must be one of '5m', '1h', but got '2h'",
  );
  assert.equal(
    result({ messages: [{ role: 'robot', content: 'x' }] }),
    "invalid_value messages.0.role: must be one of 'user', 'assistant', 'system', but got 'robot'",
  );
});

test('an empty turn is refused except as a prefill', () => {
  const messages = [{ role: 'assistant', content: '' }, ...base.messages];
  assert.equal(outcome({ ...base, messages }, 'compatible'), 'invalid_value messages.0.content: must have at least 1 character, but got 0');
});

test('the version header is required in one of its two spellings, as a date', () => {
  assert.equal(
    outcome(base, 'compatible', {}),
    'missing_required_header anthropic-version: header is required (vendor-version is also accepted)',
  );
  assert.match(outcome(base, 'compatible', { 'vendor-version': ' ' }), /^missing_required_header/);
  for (const name of ['anthropic-version', 'vendor-version']) {
    for (const date of ['2023-06-01', '2026-10-21']) assert.equal(outcome(base, 'documented', { [name]: date }), 'ok');
    for (const bad of ['1', '2023-13-01', '2023-06-32', '2023-06-01, 2023-06-01', 'latest']) {
      assert.equal(
        outcome(base, 'compatible', { [name]: bad }),
        `invalid_value ${name}: must be a date of the form YYYY-MM-DD, but got '${bad}'`,
      );
    }
  }
});

test('both spellings of the version header must have the same version', () => {
  const both = (second: string) => outcome(base, 'compatible', { ...version, 'vendor-version': second });
  assert.equal(both('2023-06-01'), 'ok');
  assert.equal(
    both('2024-01-01'),
    "invalid_value vendor-version: must be the version in anthropic-version ('2023-06-01') if both are sent, but got '2024-01-01'",
  );
});

test('betas are accepted by default; documented mode accepts those of the contract', () => {
  const beta = (value: string) => ({ ...version, 'vendor-beta': value });
  assert.equal(outcome(base, 'compatible', beta('brand-new-2026-11-01')), 'ok');
  assert.equal(outcome(base, 'documented', beta('computer-use-2024-10-22, prompt-caching-2024-07-31')), 'ok');
  assert.match(
    outcome(base, 'documented', beta('computer-use-2024-10-22,brand-new-2026-11-01')),
    /^invalid_value vendor-beta: must be one of .+, but got 'brand-new-2026-11-01'$/,
  );
});

test('a token count has the same body without max_tokens', () => {
  const count = (body: object, mode: ValidationMode) => outcome(body, mode, version, 'count-tokens');
  assert.equal(count(without('max_tokens'), 'compatible'), 'ok');
  assert.equal(count(without('max_tokens'), 'documented'), 'ok');
  assert.equal(count(without('model'), 'compatible'), 'missing_required_field model: Field required');
  assert.equal(count({ ...base, temperature: 2 }, 'compatible'), 'invalid_value temperature: must be at most 1, but got 2');
  assert.equal(count(base, 'documented'), 'unknown_field max_tokens: Extra inputs are not permitted');
  assert.equal(count({ ...without('max_tokens'), thinking: { type: 'enabled', budget_tokens: 4096 } }, 'compatible'), 'ok');
});

test('a request of an agent program is accepted: betas, adaptive thinking, system turns, deferred tools', () => {
  const body = {
    model: 'claude-opus-5-5',
    max_tokens: 64000,
    stream: true,
    system: [{ type: 'text', text: 'You are an agent.', cache_control: { type: 'ephemeral', ttl: '1h' } }],
    thinking: { type: 'adaptive', display: 'updates' },
    context_management: { edits: [] },
    output_config: { effort: 'high' },
    safeguards: {},
    tools: [{ name: 'Read', description: 'r', input_schema: { type: 'object' }, defer_loading: true, eager_input_streaming: true }],
    messages: [
      { role: 'user', content: [{ type: 'text', text: 'go', cache_control: { type: 'ephemeral' } }] },
      {
        role: 'assistant',
        content: [
          { type: 'thinking', thinking: '', signature: 'x' },
          { type: 'tool_use', id: 't', name: 'Read', input: {}, caller: { type: 'direct' } },
        ],
      },
      { role: 'user', content: [{ type: 'tool_result', tool_use_id: 't', content: [{ type: 'tool_reference', tool_name: 'Read' }] }] },
      { role: 'system', content: 'A reminder.' },
    ],
  };
  assert.equal(outcome(body, 'compatible', { ...version, 'anthropic-beta': 'claude-code-20250219,interleaved-thinking-2025-05-14' }), 'ok');
});

test('a body made to be slow is refused quickly', () => {
  const content = Array.from({ length: 20_000 }, () => ({ type: 'tool_result', tool_use_id: 'a', content: [{ type: 'text', text: 5 }] }));
  const started = threadMs();
  assert.match(outcome({ ...base, messages: [{ role: 'user', content }] }, 'compatible'), /^invalid_value messages\.0\.content\.0/);
  assert.ok(threadMs() - started < 1000);
});

test('the schema is plain JSON for the API document', () => {
  for (const mode of ['compatible', 'documented'] as const) {
    const schema = JSON.parse(JSON.stringify(requestSchema('generate', mode))) as { required: string[] };
    assert.deepEqual(schema.required, ['model', 'max_tokens', 'messages']);
    assert.deepEqual(Object.keys(requestSchema('count-tokens', mode)), Object.keys(requestSchema('generate', mode)));
  }
});

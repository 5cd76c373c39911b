import assert from 'node:assert/strict';
import { test } from 'node:test';

import { assistant, text, user } from '../../../inference/testing/fake-turns.ts';
import type { MediaPart, Part, Turn } from '../../../inference/inference-request.ts';
import type { JsonObject } from '../../../platform/json/json-value.ts';
import { createFakeRequest } from '../../testing/fake-translation.ts';
import { codec } from './codec.ts';
import { createFit, decode, encode } from './testing/test-kit.ts';

const call = (id: string, args = '{}'): Part => ({ kind: 'tool-call', id, name: 'f', arguments: args, path: `call ${id}` });
const result = (callId: string, text = 'ok', isError = false): Part => ({
  kind: 'tool-result',
  callId,
  content: text === '' ? [] : [{ kind: 'text', text }],
  isError,
});
const tools = [{ kind: 'function', name: 'f' }] as const;

const messagesOf = (...turns: readonly Turn[]): unknown => encode({ turns, tools }).body.messages;

test('parallel results are in one user turn, in the order of the calls, before text (MoonshotAI/kosong#45, mlflow/mlflow#24296)', () => {
  assert.deepEqual(
    messagesOf(
      user(text('Hi')),
      assistant(text('I look.'), call('a'), call('b')),
      user(result('b')),
      user(text('And?'), result('a', '', true)),
    ),
    [
      { role: 'user', content: 'Hi' },
      {
        role: 'assistant',
        content: [
          { type: 'text', text: 'I look.' },
          { type: 'tool_use', id: 'a', name: 'f', input: {} },
          { type: 'tool_use', id: 'b', name: 'f', input: {} },
        ],
      },
      {
        role: 'user',
        content: [
          { type: 'tool_result', tool_use_id: 'a', content: '', is_error: true },
          { type: 'tool_result', tool_use_id: 'b', content: 'ok' },
          { type: 'text', text: 'And?' },
        ],
      },
    ],
  );
});

test('input is an object and never a string (hass-agent-llm#42)', () => {
  const { messages } = encode({ turns: [user(text('Hi')), assistant(call('a', '{"x":"y"}')), user(result('a'))], tools }).body;
  assert.match(JSON.stringify(messages), /"input":\{"x":"y"\}/);
  const broken = createFakeRequest({ turns: [user(text('Hi')), assistant(call('a', '{"x"')), user(result('a'))], tools });
  assert.throws(() => codec.encodeRequest(broken, createFit()), { code: 'untranslatable_field', param: 'call a' });
});

test('a call without a result gets one that says so, and a note', () => {
  const { body, notes } = encode({ turns: [user(text('Hi')), assistant(call('a')), user(text('Never mind.'))], tools });
  assert.match(JSON.stringify(body.messages), /"tool_result","tool_use_id":"a","content":"The tool call was not executed."/);
  assert.deepEqual(notes, ['adapted call a']);
});

test('ids that the vendor refuses are replaced in call and result; repeated ids become different', () => {
  const { messages } = encode({
    turns: [
      user(text('Hi')),
      assistant(call('functions.f:0')),
      user(result('functions.f:0')),
      assistant(call('call_0')),
      user(result('call_0', 'one')),
      assistant(call('call_0')),
      user(result('call_0', 'two')),
    ],
    tools,
  }).body;
  const ids = [...JSON.stringify(messages).matchAll(/"(?:id|tool_use_id)":"([^"]*)"/g)].map((match) => match[1] ?? '');
  assert.equal(ids[0], ids[1]);
  for (const id of ids) assert.match(id, /^[a-zA-Z0-9_-]+$/);
  assert.deepEqual(ids.slice(2), ['call_0', 'call_0', 'call_0_2', 'call_0_2']);
});

test('empty and blank texts are left out, with turns that contain nothing else (anthropics/claude-code#50082, vercel/eve#2753)', () => {
  assert.deepEqual(messagesOf(user(text('Hi')), assistant(text(' \n'), text('')), user(text(''), text('There?'))), [
    {
      role: 'user',
      content: [
        { type: 'text', text: 'Hi' },
        { type: 'text', text: 'There?' },
      ],
    },
  ]);
});

test('a conversation that begins with the assistant, or contains system text, is put in order', () => {
  const { body, notes } = encode({
    turns: [assistant(text('Welcome.')), { role: 'system', parts: [text('Be kind.')] }, user(text('Hi'))],
  });
  assert.deepEqual(body.messages, [
    { role: 'user', content: '.' },
    { role: 'assistant', content: 'Welcome.' },
    {
      role: 'user',
      content: [
        { type: 'text', text: '<system>Be kind.</system>' },
        { type: 'text', text: 'Hi' },
      ],
    },
  ]);
  assert.deepEqual(notes, ['adapted messages']);
});

test('instructions become one text, and blank ones are left out', () => {
  const { body } = encode({
    instructions: [
      { kind: 'text', text: 'One.' },
      { kind: 'text', text: ' ' },
      { kind: 'text', text: 'Two.' },
    ],
  });
  assert.equal(body.system, 'One.\n\nTwo.');
  assert.ok(!('system' in encode({}).body));
});

test('native reasoning is sent byte for byte; foreign and unproven reasoning is not sent (BerriAI/litellm#26916)', () => {
  const { body, notes } = encode({
    turns: [
      user(text('Hi')),
      assistant(
        { kind: 'reasoning', text: ['Hm'], proof: { origin: 'anthropic', blob: 'S==' } },
        { kind: 'reasoning', text: [], proof: { origin: 'anthropic', blob: 'R', hidden: true } },
        { kind: 'reasoning', text: ['secret'], proof: { origin: 'openai', blob: 'O' } },
        { kind: 'reasoning', text: ['secret'] },
        text('So.'),
      ),
      user(text('Go on.')),
    ],
  });
  assert.deepEqual((body.messages as JsonObject[])[1]?.content, [
    { type: 'thinking', thinking: 'Hm', signature: 'S==' },
    { type: 'redacted_thinking', data: 'R' },
    { type: 'text', text: 'So.' },
  ]);
  assert.deepEqual(notes, ['adapted messages']);
});

const media = (kind: MediaPart['media'], source: MediaPart['source'], more: Partial<MediaPart> = {}): MediaPart => ({
  kind: 'media',
  media: kind,
  source,
  path: 'here',
  ...more,
});
const inline = (mediaType: string, data = 'AAAA'): MediaPart['source'] => ({ kind: 'inline', mediaType, data });

for (const [name, part, block] of [
  ['an image', media('image', inline('image/png')), { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'AAAA' } }],
  [
    'an image by a loose name of its type',
    media('image', inline('image/JPG')),
    { type: 'image', source: { type: 'base64', media_type: 'image/jpeg', data: 'AAAA' } },
  ],
  [
    'an image by address',
    media('image', { kind: 'url', url: 'https://a.example/' }),
    { type: 'image', source: { type: 'url', url: 'https://a.example/' } },
  ],
  [
    'a PDF',
    media('file', inline('application/pdf'), { filename: 'a.pdf', context: 'C' }),
    { type: 'document', source: { type: 'base64', media_type: 'application/pdf', data: 'AAAA' }, title: 'a.pdf', context: 'C' },
  ],
  [
    'a text file',
    media('file', inline('text/csv; charset=utf-8', Buffer.from('ä,b').toString('base64')), { title: 'T' }),
    { type: 'document', source: { type: 'text', media_type: 'text/plain', data: 'ä,b' }, title: 'T' },
  ],
  [
    'a document given as text',
    media('file', { kind: 'text', text: 'words' }),
    { type: 'document', source: { type: 'text', media_type: 'text/plain', data: 'words' } },
  ],
] as const) {
  test(`media: ${name}`, () => {
    assert.deepEqual(messagesOf(user(part)), [{ role: 'user', content: [block] }]);
  });
}

for (const [name, part] of [
  ['sound', media('audio', inline('audio/wav'))],
  ['film', media('video', inline('video/mp4'))],
  ['an image of a type the vendor does not know', media('image', inline('image/tiff'))],
  ['a document of a type the vendor does not know', media('file', inline('application/msword'))],
  ['a file at another vendor', media('file', { kind: 'vendor-file', id: 'file-1' })],
] as const) {
  test(`media: ${name} is refused with its path`, () => {
    const request = createFakeRequest({ turns: [user(part)] });
    assert.throws(() => codec.encodeRequest(request, createFit()), { code: 'untranslatable_field', param: 'here' });
  });
}

test('images in results stay there, or follow the result if the model accepts only text', () => {
  const withImage: Part = {
    kind: 'tool-result',
    callId: 'a',
    content: [{ kind: 'text', text: 'seen' }, media('image', inline('image/png'))],
    isError: false,
  };
  const turns = [user(text('Hi')), assistant(call('a')), user(withImage)];
  const image = { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'AAAA' } };
  assert.deepEqual((encode({ turns, tools }).body.messages as JsonObject[])[2]?.content, [
    { type: 'tool_result', tool_use_id: 'a', content: [{ type: 'text', text: 'seen' }, image] },
  ]);
  const moved = encode({ turns, tools }, { imagesInToolResults: false });
  assert.deepEqual((moved.body.messages as JsonObject[])[2]?.content, [
    {
      type: 'tool_result',
      tool_use_id: 'a',
      content: [
        { type: 'text', text: 'seen' },
        { type: 'text', text: 'The image that the call a returned follows its result.' },
      ],
    },
    { type: 'text', text: 'Returned by the call a:' },
    image,
  ]);
  assert.deepEqual(moved.notes, ['adapted here']);
});

test('records of other vendors’ tools, and parts of other dialects, are left out with a note or refused', () => {
  const record: Part = { kind: 'server-tool', tool: 'web-search', id: 'ws', input: ['q'], wire: [{ type: 'web_search_call' }], path: 'p1' };
  const vendor = (elsewhere: 'drop' | 'refuse'): Part => ({ kind: 'vendor', name: 'x', wire: {}, elsewhere, path: 'p2' });
  const made = media('image', inline('image/png'));
  assert.deepEqual(encode({ turns: [user(text('Hi')), assistant(record, vendor('drop'), made, text('x')), user(text('?'))] }).notes, [
    'dropped p1',
    'dropped p2',
    'dropped here',
  ]);
  assert.throws(() => encode({ turns: [user(vendor('refuse'))] }), { code: 'untranslatable_field', param: 'p2' });
});

test('code that ran elsewhere becomes text', () => {
  const run: Part = {
    kind: 'server-tool',
    tool: 'code-execution',
    id: 'c',
    input: ['print(1)'],
    results: [{ text: '1' }],
    wire: [],
    path: 'p1',
  };
  const { body, notes } = encode({ turns: [user(text('Hi')), assistant(text('B'), run, text('C')), user(text('?'))] });
  assert.match(JSON.stringify(body.messages), /"B".*Code that was run.*print\(1\).*Its output.*"C"/);
  assert.deepEqual(notes, ['adapted p1']);
});

test('a prefilled reply is sent if the model continues it, and requested in text otherwise', () => {
  const turns = [user(text('Hi')), assistant(text('Well, \n'))];
  const prefilled = encode({ turns });
  assert.deepEqual((prefilled.body.messages as JsonObject[])[1], { role: 'assistant', content: 'Well,' });
  assert.deepEqual(prefilled.notes, []);
  for (const encoded of [encode({ turns }, { prefill: false }), encode({ turns, reasoning: { mode: 'on', budgetTokens: 2000 } })]) {
    assert.deepEqual((encoded.body.messages as JsonObject[])[2], {
      role: 'user',
      content: 'Continue from where your last message ends.',
    });
    assert.deepEqual(encoded.notes, ['adapted messages']);
  }
});

test('content of this dialect is the same after decoding and encoding', () => {
  const body: JsonObject = {
    model: 'claude-upstream',
    max_tokens: 9000,
    system: 'Be brief.',
    messages: [
      {
        role: 'user',
        content: [
          { type: 'text', text: 'Look.' },
          { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'AAAA' } },
          { type: 'document', source: { type: 'text', media_type: 'text/plain', data: 'words' }, title: 'T', context: 'C' },
        ],
      },
      {
        role: 'assistant',
        content: [
          { type: 'thinking', thinking: 'Hm', signature: 'S' },
          { type: 'server_tool_use', id: 'srvtoolu_1', name: 'web_search', input: { query: 'q' } },
          { type: 'web_search_tool_result', tool_use_id: 'srvtoolu_1', content: [] },
          { type: 'tool_use', id: 't1', name: 'f', input: { a: [1, null] } },
        ],
      },
      { role: 'user', content: [{ type: 'tool_result', tool_use_id: 't1', content: 'no', is_error: true }] },
    ],
    tools: [
      { name: 'f', description: 'd', input_schema: { type: 'object', properties: { a: {} } } },
      { type: 'web_search_20250305', name: 'web_search', max_uses: 3, blocked_domains: ['b.example'] },
      { type: 'code_execution_20250825', name: 'code_execution' },
    ],
    tool_choice: { type: 'auto', disable_parallel_tool_use: true },
    thinking: { type: 'enabled', budget_tokens: 4096 },
    output_config: { format: { type: 'json_schema', schema: { type: 'object', additionalProperties: false } } },
    stop_sequences: ['END'],
    metadata: { user_id: 'u1' },
    service_tier: 'standard_only',
    stream: true,
  };
  const fit = createFit();
  assert.deepEqual(codec.encodeRequest(decode(body), fit).body, body);
  assert.deepEqual(fit.notes.list(), []);
});

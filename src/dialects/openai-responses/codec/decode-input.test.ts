import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { wrapProof } from '../../../inference/proof.ts';
import { textOf } from '../../../platform/json/json-readers.ts';
import type { JsonObject, JsonValue } from '../../../platform/json/json-value.ts';
import { writeCallProof } from './call-proofs.ts';
import { decode, withoutPaths } from './testing/test-kit.ts';

const turnsOf = (input: JsonValue): unknown => withoutPaths(decode({ input }).turns);

const text = (value: string): JsonObject => ({ kind: 'text', text: value });
const image = (source: JsonObject, more: JsonObject = {}): JsonObject => ({ kind: 'media', media: 'image', source, ...more });
const file = (source: JsonObject, more: JsonObject = {}): JsonObject => ({ kind: 'media', media: 'file', source, ...more });
const user = (...parts: JsonObject[]): JsonObject => ({ role: 'user', parts });
const assistant = (...parts: JsonObject[]): JsonObject => ({ role: 'assistant', parts });
const userItem = (...content: JsonObject[]): JsonValue => [{ role: 'user', content }];

const customCall = { type: 'custom_tool_call', call_id: 'call_1', name: 'apply', input: 'a "b"', id: 'ctc_1' };
const customOutput = { type: 'custom_tool_call_output', call_id: 'call_1', output: 'ok' };

const read: readonly (readonly [name: string, input: JsonValue, turns: readonly JsonObject[]])[] = [
  ['a text', 'Hi', [user(text('Hi'))]],
  ['a message without a type', [{ role: 'user', content: 'Hi' }], [user(text('Hi'))]],
  ['a part without a message', [{ type: 'input_text', text: 'Hi' }], [user(text('Hi'))]],
  [
    'separate user messages',
    [
      { role: 'user', content: 'a' },
      { role: 'user', content: 'b' },
    ],
    [user(text('a')), user(text('b'))],
  ],
  [
    'a data URL',
    userItem({ type: 'input_image', image_url: 'data:image/PNG;base64,iVBO', detail: 'original' }),
    [user(image({ kind: 'inline', mediaType: 'image/png', data: 'iVBO' }, { detail: 'high' }))],
  ],
  [
    'a data URL that is not base64',
    userItem({ type: 'input_image', image_url: 'data:image/svg+xml,%3Csvg/%3E' }),
    [user(image({ kind: 'inline', mediaType: 'image/svg+xml', data: Buffer.from('<svg/>').toString('base64') }))],
  ],
  [
    'an address and a file at the vendor',
    userItem({ type: 'input_image', image_url: 'https://example.org/a.png' }, { type: 'input_image', file_id: 'file_1' }),
    [user(image({ kind: 'url', url: 'https://example.org/a.png' }), image({ kind: 'vendor-file', id: 'file_1' }))],
  ],
  [
    'files: a data URL, bare base64, plain text, an address',
    userItem(
      { type: 'input_file', file_data: 'data:application/pdf;base64,JVBE', filename: 'a.pdf' },
      { type: 'input_file', file_data: 'JVBE' },
      { type: 'input_file', file_data: Buffer.from('word').toString('base64'), filename: 'a.txt' },
      { type: 'input_file', file_url: 'https://example.org/a.pdf' },
    ),
    [
      user(
        file({ kind: 'inline', mediaType: 'application/pdf', data: 'JVBE' }, { filename: 'a.pdf' }),
        file({ kind: 'inline', mediaType: 'application/pdf', data: 'JVBE' }),
        file({ kind: 'text', text: 'word' }, { filename: 'a.txt' }),
        file({ kind: 'url', url: 'https://example.org/a.pdf' }),
      ),
    ],
  ],
  [
    'sound',
    userItem({ type: 'input_audio', input_audio: { data: 'AAAA', format: 'mp3' } }),
    [user({ kind: 'media', media: 'audio', source: { kind: 'inline', mediaType: 'audio/mpeg', data: 'AAAA' } })],
  ],
  [
    'the items of one reply and the results of its calls',
    [
      { role: 'user', content: 'Weather?' },
      { id: 'rs_1', type: 'reasoning', summary: [{ type: 'summary_text', text: 'Hm.' }], encrypted_content: 'gAAA' },
      {
        id: 'msg_1',
        type: 'message',
        role: 'assistant',
        status: 'completed',
        content: [{ type: 'output_text', text: 'Let me look.', annotations: [] }],
      },
      { id: 'fc_1', type: 'function_call', call_id: 'call_1', name: 'w', arguments: '{"city":"Bern"}', status: 'completed' },
      { id: 'fc_2', type: 'function_call', call_id: 'call_2', name: 'w', arguments: '', status: 'completed' },
      { type: 'function_call_output', call_id: 'call_1', output: '{"c":9}' },
      {
        type: 'function_call_output',
        call_id: 'call_2',
        output: [
          { type: 'input_text', text: 'Map:' },
          { type: 'input_image', image_url: 'data:image/png;base64,iVBO' },
        ],
      },
      { role: 'user', content: 'And?' },
    ],
    [
      user(text('Weather?')),
      assistant(
        { kind: 'reasoning', text: ['Hm.'], proof: { origin: 'openai', blob: 'gAAA' }, itemId: 'rs_1' },
        text('Let me look.'),
        { kind: 'tool-call', id: 'call_1', name: 'w', arguments: '{"city":"Bern"}' },
        { kind: 'tool-call', id: 'call_2', name: 'w', arguments: '' },
      ),
      user(
        { kind: 'tool-result', callId: 'call_1', content: [text('{"c":9}')], isError: false },
        {
          kind: 'tool-result',
          callId: 'call_2',
          content: [text('Map:'), image({ kind: 'inline', mediaType: 'image/png', data: 'iVBO' })],
          isError: false,
        },
      ),
      user(text('And?')),
    ],
  ],
  [
    'wrapped proofs, proofs of calls, and damaged proofs',
    [
      { id: 'rs_gw_1', type: 'reasoning', summary: [], encrypted_content: wrapProof({ origin: 'anthropic', blob: 'sig', hidden: true }) },
      { type: 'function_call', call_id: 'call_1', name: 'w', arguments: '{}' },
      { id: 'rs_gw_2', type: 'reasoning', summary: [], encrypted_content: writeCallProof({ origin: 'gemini', blob: 'AbC=' }, 'call_1') },
      { id: 'rs_gw_3', type: 'reasoning', summary: [], encrypted_content: 'gw1.damaged' },
      { id: 'rs_4', type: 'reasoning', summary: [] },
    ],
    [
      assistant(
        { kind: 'reasoning', text: [], proof: { origin: 'anthropic', blob: 'sig', hidden: true }, itemId: 'rs_gw_1' },
        { kind: 'tool-call', id: 'call_1', name: 'w', arguments: '{}', proof: { origin: 'gemini', blob: 'AbC=' } },
      ),
    ],
  ],
  [
    'reasoning of open-weight servers',
    [{ type: 'reasoning', id: 'rs_1', summary: [], content: [{ type: 'reasoning_text', text: 'Hm.' }], encrypted_content: null }],
    [assistant({ kind: 'reasoning', text: ['Hm.'], itemId: 'rs_1' })],
  ],
  [
    'a refusal and a text with a citation',
    [
      { role: 'assistant', content: [{ type: 'refusal', refusal: 'No.' }] },
      {
        role: 'assistant',
        content: [
          {
            type: 'output_text',
            text: 'Wet.',
            annotations: [{ type: 'url_citation', start_index: 0, end_index: 4, title: 'T', url: 'https://example.org' }],
          },
        ],
      },
    ],
    [
      assistant(
        { kind: 'refusal', text: 'No.' },
        { ...text('Wet.'), citations: [{ start: 0, end: 4, title: 'T', source: { kind: 'url', url: 'https://example.org' } }] },
      ),
    ],
  ],
  [
    'calls of custom tools and of namespaces',
    [customCall, { type: 'function_call', call_id: 'call_2', name: 'js', namespace: 'mcp__node', arguments: '{}' }, customOutput],
    [
      assistant(
        { kind: 'tool-call', id: 'call_1', name: 'apply', arguments: '{"input":"a \\"b\\""}', wire: customCall },
        { kind: 'tool-call', id: 'call_2', name: 'mcp__node__js', arguments: '{}' },
      ),
      user({ kind: 'tool-result', callId: 'call_1', content: [text('ok')], isError: false, wire: customOutput }),
    ],
  ],
  [
    'a generated image',
    [{ type: 'image_generation_call', id: 'ig_1', status: 'completed', result: 'iVBO', output_format: 'webp' }],
    [assistant(image({ kind: 'inline', mediaType: 'image/webp', data: 'iVBO' }))],
  ],
];

describe('input', () => {
  for (const [name, input, turns] of read) {
    test(name, () => assert.deepEqual(turnsOf(input), turns));
  }

  test('leading system text follows the instructions, and later system text is a turn', () => {
    const request = decode({
      instructions: 'A',
      input: [
        { role: 'developer', content: 'B' },
        { role: 'system', content: [{ type: 'input_text', text: 'C' }] },
        { role: 'user', content: 'Hi' },
        { role: 'developer', content: 'D' },
      ],
    });
    assert.deepEqual(
      request.instructions.map((part) => part.text),
      ['A', 'B', 'C'],
    );
    assert.deepEqual(withoutPaths(request.turns), [user(text('Hi')), { role: 'system', parts: [text('D')] }]);
  });

  test('a web search of an earlier reply keeps its item', () => {
    const item = {
      type: 'web_search_call',
      id: 'ws_1',
      status: 'completed',
      action: { type: 'search', query: 'q', queries: ['q', 'r'], sources: [{ type: 'url', url: 'https://example.org' }] },
    };
    assert.deepEqual(turnsOf([item]), [
      assistant({
        kind: 'server-tool',
        tool: 'web-search',
        id: 'ws_1',
        input: ['q', 'r'],
        results: [{ url: 'https://example.org' }],
        wire: [item],
      }),
    ]);
  });

  test('an opened page is not a search', () => {
    const item = { type: 'web_search_call', id: 'ws_1', status: 'completed', action: { type: 'open_page', url: 'https://example.org' } };
    assert.deepEqual(turnsOf([item]), [
      assistant({ kind: 'server-tool', tool: 'url-context', id: 'ws_1', input: ['https://example.org'], wire: [item] }),
    ]);
  });

  test('a remote call keeps its item, which is replayed or noted as lost', () => {
    const call = { type: 'mcp_call', id: 'mcp_1', server_label: 's', name: 'n', arguments: '{}', output: 'x' };
    assert.deepEqual(turnsOf([call]), [
      assistant({ kind: 'server-tool', tool: 'other', id: 'mcp_1', input: ['n', '{}'], results: [{ text: 'x' }], wire: [call] }),
    ]);
  });

  test('an image that was never generated may be omitted', () => {
    const wire = { type: 'image_generation_call', id: 'ig_1', status: 'completed', result: null };
    assert.deepEqual(turnsOf([wire]), [assistant({ kind: 'vendor', name: 'image_generation_call', wire, elsewhere: 'drop' })]);
  });

  const vendorItems: readonly JsonObject[] = [
    { type: 'mcp_approval_request', id: 'mcpr_1', server_label: 's', name: 'n', arguments: '{}' },
    { type: 'compaction', id: 'cmp_1', encrypted_content: 'x' },
    { type: 'local_shell_call', id: 'l', call_id: 'c', action: {} },
  ];
  for (const wire of vendorItems) {
    test(`a ${textOf(wire.type) ?? ''} is refused by other dialects`, () => {
      assert.deepEqual(turnsOf([wire]), [assistant({ kind: 'vendor', name: textOf(wire.type), wire, elsewhere: 'refuse' })]);
    });
  }

  test('parts know their paths', () => {
    const request = decode({
      input: [
        {
          role: 'user',
          content: [
            { type: 'input_text', text: 'a' },
            { type: 'input_text', text: 'b' },
          ],
        },
      ],
    });
    assert.deepEqual(
      request.turns[0]?.parts.map((part) => part.path),
      ['input[0].content[0]', 'input[0].content[1]'],
    );
  });
});

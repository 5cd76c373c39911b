import assert from 'node:assert/strict';
import { describe, test } from 'node:test';

import { foldEvents } from '../../../inference/fold-events.ts';
import type { BlockStart, InferenceEvent } from '../../../inference/inference-event.ts';
import type { BuiltInToolKind, ServerToolPart } from '../../../inference/inference-request.ts';
import { membersOf, objectsOf } from '../../../platform/json/json-readers.ts';
import type { JsonObject } from '../../../platform/json/json-value.ts';
import { decodeReply } from './decode-reply.ts';
import { encodeReply } from './encode-reply.ts';
import { createEventEncoder } from './event-encoder.ts';
import { createReading, createWriting, dataOf, decode, decodeStream, encodeStream, readWithSdk } from './testing/test-kit.ts';

type Tool = { readonly tool: BuiltInToolKind; readonly input: readonly string[] };

const began = ({ tool, input }: Tool): BlockStart => ({ kind: 'server-tool', tool, id: 't1', input });
const did = ({ tool, input }: Tool, more: Partial<ServerToolPart> = {}): ServerToolPart => ({
  kind: 'server-tool',
  tool,
  id: 't1',
  input,
  wire: [],
  ...more,
});
const outcome = (part: ServerToolPart): InferenceEvent => ({ type: 'tool-outcome', index: 0, part });

function reply(tool: Tool, inner: readonly InferenceEvent[]): readonly InferenceEvent[] {
  return [
    { type: 'started' },
    { type: 'block-started', index: 0, block: began(tool) },
    ...inner,
    { type: 'block-ended', index: 0 },
    { type: 'block-started', index: 1, block: { kind: 'text' } },
    { type: 'delta', index: 1, text: 'Low.' },
    { type: 'block-ended', index: 1 },
    { type: 'finished', stopReason: 'end' },
  ];
}

const withoutWire = (part: object | undefined): unknown => ({ ...part, wire: [] });

/** The tools and their results. All of it must return when the history is replayed. */
const cases: readonly (readonly [name: string, tool: Tool, more: Partial<ServerToolPart>])[] = [
  [
    'a web search',
    { tool: 'web-search', input: ['weirs'] },
    { results: [{ url: 'https://example.org', title: 'Weirs', text: 'A weir is low. 🌊', score: 0.5, date: '2025-01-02' }] },
  ],
  [
    'a page that was read',
    { tool: 'url-context', input: ['https://example.org'] },
    { results: [{ url: 'https://example.org', title: 'Weirs', text: 'A weir.', date: '2025-01-02T00:00:00Z' }] },
  ],
  ['code', { tool: 'code-execution', input: ['print(1)'] }, { results: [{ text: '1\n' }] }],
  ['code that failed', { tool: 'code-execution', input: ['1/0'] }, { results: [{ text: 'ZeroDivisionError' }], failed: true }],
  ['code that took too long', { tool: 'code-execution', input: ['while 1: 0'] }, { results: [], failed: true, failure: 'timed-out' }],
  ['a search too many', { tool: 'web-search', input: ['weirs'] }, { results: [], failed: true, failure: 'limit-reached' }],
  [
    'a page that cannot be read',
    { tool: 'url-context', input: ['https://example.org'] },
    { results: [], failed: true, failure: 'unavailable' },
  ],
];

describe('a tool at work', () => {
  for (const [name, tool, more] of cases) {
    const part = did(tool, more);
    const id = 'srvtoolu_gw1_t1';
    test(`${name} is the same in the stream, in the whole reply and in the history`, () => {
      const streamed = foldEvents(decodeStream(encodeStream(reply(tool, [outcome(part)]))));
      assert.deepEqual(withoutWire(streamed.parts[0]), { ...part, id });
      const whole = encodeReply({ parts: [part], stopReason: 'end' }, createWriting());
      assert.deepEqual(withoutWire(decodeReply(whole, createReading()).parts[0]), { ...part, id });
      const history = [
        { role: 'user', content: 'Hi' },
        { role: 'assistant', content: objectsOf(whole.content) },
        { role: 'user', content: 'On.' },
      ];
      const { path: _path, ...replayed } = decode({ messages: history }).turns[1]?.parts[0] ?? { path: '' };
      assert.deepEqual(withoutWire(replayed), { ...part, id });
    });

    test(`${name}: stream and whole reply are equal, and the vendor's SDK reads them`, async () => {
      const { content, usage } = encodeReply({ parts: [part, { kind: 'text', text: 'Low.' }], stopReason: 'end' }, createWriting());
      const read = await readWithSdk(encodeStream(reply(tool, [outcome(part)])));
      assert.deepEqual(read.content, content);
      assert.deepEqual(membersOf(read.usage).server_tool_use, membersOf(usage).server_tool_use);
    });
  }

  test('the use of a tool is written before its result is known', () => {
    const encoder = createEventEncoder(createWriting());
    encoder.write({ type: 'started' });
    const sent = dataOf(encoder.write({ type: 'block-started', index: 0, block: began({ tool: 'web-search', input: ['weirs'] }) }));
    assert.deepEqual(
      sent.map(({ type }) => type),
      ['message_start', 'content_block_start', 'content_block_delta', 'content_block_stop'],
    );
    assert.deepEqual(sent[2]?.delta, { type: 'input_json_delta', partial_json: '{"query":"weirs"}' });
  });

  test('code that arrives in pieces is one input', () => {
    const pieces = ['print', '(1)'].map((text): InferenceEvent => ({ type: 'delta', index: 0, text }));
    const part = did({ tool: 'code-execution', input: ['print(1)'] }, { results: [{ text: '1' }] });
    const read = foldEvents(decodeStream(encodeStream(reply({ tool: 'code-execution', input: [] }, [...pieces, outcome(part)]))));
    assert.deepEqual(withoutWire(read.parts[0]), { ...part, id: 'srvtoolu_gw1_t1' });
  });

  test('an interrupted tool has failed, and its use still has a result', () => {
    const events = dataOf(encodeStream(reply({ tool: 'web-search', input: ['weirs'] }, [])));
    const blocks = events.flatMap(({ content_block: block }) => (block === undefined ? [] : [block as JsonObject]));
    assert.deepEqual(
      blocks.map(({ type }) => type),
      ['server_tool_use', 'web_search_tool_result', 'text'],
    );
    assert.deepEqual(blocks[1]?.content, { type: 'web_search_tool_result_error', error_code: 'unavailable' });
  });

  test('every page is a use of its own, and is counted', () => {
    const pages: Tool = { tool: 'url-context', input: ['https://a.org', 'https://b.org'] };
    const part = did(pages, {
      results: [
        { url: 'https://a.org', text: 'A' },
        { url: 'https://b.org', text: 'B' },
      ],
    });
    const events = dataOf(encodeStream(reply(pages, [outcome(part)])));
    const uses = events.flatMap(({ content_block: block }) =>
      (block as JsonObject | undefined)?.type === 'server_tool_use' ? [block as JsonObject] : [],
    );
    assert.deepEqual(
      uses.map(({ id }) => id),
      ['srvtoolu_gw1_t1', 'srvtoolu_gw1_t1_2'],
    );
    const end = events.find(({ type }) => type === 'message_delta');
    assert.deepEqual(membersOf(end?.usage).server_tool_use, { web_search_requests: 0, web_fetch_requests: 2 });
  });

  test('failed uses are not counted', () => {
    const pages: Tool = { tool: 'url-context', input: ['https://a.org', 'https://b.org'] };
    const half = did(pages, {
      results: [
        { url: 'https://a.org', text: 'A' },
        { url: 'https://b.org', unreadable: true },
      ],
    });
    const lost = did({ tool: 'web-search', input: ['q'] }, { failed: true, failure: 'unavailable' });
    const { usage } = encodeReply({ parts: [half, lost], stopReason: 'end' }, createWriting());
    assert.deepEqual(membersOf(usage).server_tool_use, { web_search_requests: 0, web_fetch_requests: 1 });
  });
});

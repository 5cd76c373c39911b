import assert from 'node:assert/strict';
import { describe, test } from 'node:test';

import type { BlockStart, InferenceEvent } from '../../../inference/inference-event.ts';
import type { BuiltInToolKind, ServerToolPart } from '../../../inference/inference-request.ts';
import { membersOf, objectsOf, textOf } from '../../../platform/json/json-readers.ts';
import type { JsonObject } from '../../../platform/json/json-value.ts';
import { codec } from './codec.ts';
import { decodeServerTool } from './decode-server-tool.ts';
import { createWriting, readFrameEvents } from './testing/test-kit.ts';

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

/** The events of a reply with these events of a tool, and the stored output. */
function run(inner: readonly InferenceEvent[], request: JsonObject = {}) {
  const encoder = codec.createEventEncoder(createWriting(request), 'sse');
  const all: readonly InferenceEvent[] = [{ type: 'started' }, ...inner, { type: 'finished', stopReason: 'end' }];
  const events = readFrameEvents(all.map((event) => encoder.write(event)).join(''));
  return { events: events.slice(2), stored: objectsOf(encoder.kept?.().output) };
}

const names = (events: readonly JsonObject[]): readonly string[] => events.map(({ type }) => (textOf(type) ?? '').replace('response.', ''));

const block = (tool: Tool, inner: readonly InferenceEvent[]): readonly InferenceEvent[] => [
  { type: 'block-started', index: 0, block: began(tool) },
  ...inner,
  { type: 'block-ended', index: 0 },
];
const outcome = (part: ServerToolPart): InferenceEvent => ({ type: 'tool-outcome', index: 0, part });

describe('image generation', () => {
  const drawing: Tool = { tool: 'image-generation', input: ['a kite'] };
  const image = { mediaType: 'image/png', data: 'iVBO', settings: { size: '1024x1024', quality: 'low' } };

  test('unfinished images are events of their own, and the item ends with the image', () => {
    const partial = { type: 'partial-image', index: 0, number: 1, image } as const;
    const part = did(drawing, { results: [{ image, text: 'a red kite' }] });
    const { events, stored } = run(block(drawing, [partial, outcome(part)]));
    assert.deepEqual(names(events), [
      'output_item.added',
      'image_generation_call.in_progress',
      'image_generation_call.generating',
      'image_generation_call.partial_image',
      'image_generation_call.completed',
      'output_item.done',
      'completed',
    ]);
    assert.deepEqual(events[0]?.item, { id: 'ig_gw_2', type: 'image_generation_call', status: 'in_progress', result: null });
    const { sequence_number: _number, ...shown } = events[3] ?? {};
    assert.deepEqual(shown, {
      type: 'response.image_generation_call.partial_image',
      item_id: 'ig_gw_2',
      output_index: 0,
      partial_image_index: 1,
      partial_image_b64: 'iVBO',
      size: '1024x1024',
      quality: 'low',
      output_format: 'png',
    });
    const settings = { size: '1024x1024', quality: 'low', output_format: 'png', revised_prompt: 'a red kite' };
    assert.deepEqual(stored, [{ id: 'ig_gw_2', type: 'image_generation_call', status: 'completed', ...settings, result: 'iVBO' }]);
  });

  for (const [what, inner] of [
    ['fails', [outcome(did(drawing, { failed: true }))]],
    ['is interrupted', []],
  ] as const)
    test(`an image that ${what} is a failed item without a result`, () => {
      const { events, stored } = run(block(drawing, inner));
      assert.ok(!names(events).includes('image_generation_call.completed'));
      assert.deepEqual(stored, [{ id: 'ig_gw_2', type: 'image_generation_call', status: 'failed', result: null }]);
    });
});

describe('a running tool', () => {
  const search: Tool = { tool: 'web-search', input: ['weirs', 'dams'] };
  const page = { url: 'https://example.org', title: 'Weirs', text: 'A weir is low.' };

  test('opens its item at the start of a web search, and ends it with the findings', () => {
    const part = did(search, { results: [page] });
    const { events, stored } = run(block(search, [outcome(part)]), { include: ['web_search_call.action.sources'] });
    assert.deepEqual(names(events), [
      'output_item.added',
      'web_search_call.in_progress',
      'web_search_call.searching',
      'web_search_call.completed',
      'output_item.done',
      'completed',
    ]);
    const [added, , , , done] = events;
    assert.deepEqual(added?.item, { id: 'ws_gw_2', type: 'web_search_call', status: 'in_progress' });
    const sources = [{ type: 'url', url: 'https://example.org' }];
    const action = { type: 'search', query: 'weirs', queries: ['weirs', 'dams'], sources };
    assert.deepEqual(done?.item, { id: 'ws_gw_2', type: 'web_search_call', status: 'completed', action });
    assert.ok(events.slice(1, 4).every((event) => event.item_id === 'ws_gw_2' && event.output_index === 0));
    // The stored copy has everything, and is read back.
    const [item = {}] = stored;
    assert.deepEqual(decodeServerTool(item), { ...part, id: 'ws_gw_2', wire: [item] });
  });

  test('sends its beginning before its end is known', () => {
    const encoder = codec.createEventEncoder(createWriting(), 'sse');
    encoder.write({ type: 'started' });
    assert.deepEqual(names(readFrameEvents(encoder.write({ type: 'block-started', index: 0, block: began(search) }))), [
      'output_item.added',
      'web_search_call.in_progress',
      'web_search_call.searching',
    ]);
  });

  test('shows results of a file search only on request, and stores them', () => {
    const files: Tool = { tool: 'file-search', input: ['plan'] };
    const finding = { fileId: 'file_1', storeId: 'vs_1', title: 'a.md', text: 'The plan.', score: 0.5, attributes: { year: 2025 } };
    const wire = {
      file_id: 'file_1',
      vector_store_id: 'vs_1',
      filename: 'a.md',
      text: 'The plan.',
      score: 0.5,
      attributes: { year: 2025 },
    };
    const inner = block(files, [outcome(did(files, { results: [finding] }))]);
    const silent = run(inner);
    const last = silent.events.at(-2)?.item as JsonObject;
    assert.deepEqual([last.queries, last.results, last.status], [['plan'], null, 'completed']);
    assert.deepEqual(silent.stored[0]?.results, [wire]);
    assert.deepEqual(membersOf(run(inner, { include: ['file_search_call.results'] }).events.at(-2)?.item).results, [wire]);
    assert.deepEqual(decodeServerTool(silent.stored[0] ?? {})?.results, [finding]);
  });

  test('sends code in deltas and runs it when it is complete', () => {
    const code: Tool = { tool: 'code-execution', input: [] };
    const part = did({ ...code, input: ['print(1)'] }, { results: [{ text: '1' }] });
    const pieces = ['print', '(1)'].map((text): InferenceEvent => ({ type: 'delta', index: 0, text }));
    const { events, stored } = run(block(code, [...pieces, outcome(part)]));
    assert.deepEqual(names(events), [
      'output_item.added',
      'code_interpreter_call.in_progress',
      'code_interpreter_call_code.delta',
      'code_interpreter_call_code.delta',
      'code_interpreter_call_code.done',
      'code_interpreter_call.interpreting',
      'code_interpreter_call.completed',
      'output_item.done',
      'completed',
    ]);
    assert.equal(events[4]?.code, 'print(1)');
    assert.deepEqual([stored[0]?.code, stored[0]?.outputs], ['print(1)', [{ type: 'logs', logs: '1' }]]);
  });

  test('runs code at once if it is known from the start', () => {
    const code: Tool = { tool: 'code-execution', input: ['print(1)'] };
    const { events } = run(block(code, [outcome(did(code))]));
    assert.deepEqual(names(events).slice(2, 6), [
      'code_interpreter_call_code.delta',
      'code_interpreter_call_code.done',
      'code_interpreter_call.interpreting',
      'code_interpreter_call.completed',
    ]);
  });

  test('has an item for each opened page', () => {
    const pages: Tool = { tool: 'url-context', input: ['https://a.org', 'https://b.org'] };
    const results = [
      { url: 'https://a.org', text: 'A' },
      { url: 'https://b.org', unreadable: true },
    ];
    const { stored } = run(block(pages, [outcome(did(pages, { results }))]));
    assert.deepEqual(
      stored.map(({ action, status }) => [action, status]),
      [
        [{ type: 'open_page', url: 'https://a.org' }, 'completed'],
        [{ type: 'open_page', url: 'https://b.org' }, 'failed'],
      ],
    );
  });

  for (const [tool, status] of [
    ['web-search', 'failed'],
    ['file-search', 'incomplete'],
    ['code-execution', 'incomplete'],
  ] as const) {
    test(`marks an interrupted ${tool} as ${status}, and a failed one as failed`, () => {
      const start: Tool = { tool, input: ['x'] };
      const interrupted = run(block(start, []));
      assert.equal(membersOf(interrupted.events.at(-2)?.item).status, status);
      assert.ok(!names(interrupted.events).some((name) => name.endsWith('call.completed')));
      const failed = run(block(start, [outcome(did(start, { failed: true }))]));
      assert.equal(membersOf(failed.events.at(-2)?.item).status, 'failed');
    });
  }

  test('names an item by the same id and index in every event, and numbers the events', () => {
    const { events } = run([
      { type: 'block-started', index: 0, block: { kind: 'text' } },
      { type: 'delta', index: 0, text: 'I look.' },
      { type: 'block-ended', index: 0 },
      { type: 'block-started', index: 1, block: began(search) },
      { type: 'tool-outcome', index: 1, part: did(search, { results: [page] }) },
      { type: 'block-ended', index: 1 },
      { type: 'block-started', index: 2, block: { kind: 'text' } },
      { type: 'delta', index: 2, text: 'Low.' },
      { type: 'block-ended', index: 2 },
    ]);
    assert.deepEqual(
      events.map((event) => event.sequence_number),
      events.map((_, index) => index + 2),
    );
    const ids = new Map<unknown, Set<unknown>>();
    for (const event of events) {
      const id = event.item_id ?? (event.item as JsonObject | undefined)?.id;
      if (id !== undefined) ids.set(event.output_index, (ids.get(event.output_index) ?? new Set()).add(id));
    }
    assert.deepEqual(
      [...ids.values()].map(({ size }) => size),
      [1, 1, 1],
    );
  });
});

test('the reply has the id that the gateway chose', () => {
  const encoder = codec.createEventEncoder({ ...createWriting(), replyId: 'resp_chosen' }, 'sse');
  const [created] = readFrameEvents(encoder.write({ type: 'started', replyId: 'up_1' }));
  assert.equal(membersOf(created?.response).id, 'resp_chosen');
});

test('proofs that were not requested are stored, with or without an item', () => {
  const proof = { origin: 'openai', blob: 'sealed' };
  const { events, stored } = run([
    { type: 'block-started', index: 0, block: { kind: 'reasoning' } },
    { type: 'proof', index: 0, proof },
    { type: 'block-ended', index: 0 },
    { type: 'block-started', index: 1, block: { kind: 'reasoning' } },
    { type: 'delta', index: 1, text: 'Hm.' },
    { type: 'proof', index: 1, proof },
    { type: 'block-ended', index: 1 },
  ]);
  assert.ok(!JSON.stringify(events).includes('sealed'));
  assert.deepEqual(
    stored.map((item) => item.encrypted_content),
    ['sealed', 'sealed'],
  );
});

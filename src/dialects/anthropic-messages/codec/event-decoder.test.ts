import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';

import { assertEventGrammar } from '../../../inference/assert-event-grammar.ts';
import { foldEvents } from '../../../inference/fold-events.ts';
import type { InferenceReply } from '../../../inference/inference-reply.ts';
import { textOf } from '../../../platform/json/json-readers.ts';
import type { JsonObject } from '../../../platform/json/json-value.ts';
import { openFixtures } from '../../testing/fixture-suite.ts';
import { codec } from './codec.ts';
import { createReading, decodeStream } from './testing/test-kit.ts';

const fixtures = openFixtures(join(import.meta.dirname, '../fixtures'));

const broken = ['cut-before-end', 'error-mid-stream', 'error-then-stop'];

for (const name of fixtures.casesOf('.stream.sse')) {
  test(`stream ${name} gives the same valid events for any chunk size`, () => {
    const body = fixtures.readBytes(`${name}.stream.sse`);
    const whole = decodeStream(body);
    const isBroken = broken.includes(name);
    if (isBroken) assert.ok(!whole.some(({ type }) => type === 'finished'));
    else assertEventGrammar(whole, { isWhole: true });
    for (let chunkBytes = 1; chunkBytes < 40; chunkBytes += 1) assert.deepEqual(decodeStream(body, chunkBytes), whole);
  });
}

/** The content that a stream and a whole reply have in common. */
function comparable({ parts, usageReport, ...reply }: InferenceReply): object {
  return { ...reply, parts, usage: usageReport?.usage };
}

for (const name of fixtures.casesOf('.stream.sse').filter((stream) => fixtures.files.includes(`${stream}.reply.json`))) {
  test(`stream ${name} has the content of the whole reply`, () => {
    const whole = codec.decodeReply(fixtures.readJson(`${name}.reply.json`), createReading());
    assert.deepEqual(comparable(foldEvents(decodeStream(fixtures.readBytes(`${name}.stream.sse`)))), comparable(whole));
  });
}

const frame = (data: JsonObject): string => `event: ${textOf(data.type) ?? ''}\ndata: ${JSON.stringify(data)}\n\n`;
const streamOf = (...events: readonly JsonObject[]): string => events.map(frame).join('');
const replyOf = (...events: readonly JsonObject[]): InferenceReply => {
  const decoded = decodeStream(streamOf(...events));
  assertEventGrammar(decoded, { isWhole: true });
  return foldEvents(decoded);
};

const start = { type: 'message_start', message: { id: 'msg_1', model: 'm', usage: { input_tokens: 3, output_tokens: 1 } } };
const stop = { type: 'message_stop' };
const ending = (reason: string, more: JsonObject = {}): JsonObject => ({ type: 'message_delta', delta: { stop_reason: reason, ...more } });
const begin = (index: number, block: JsonObject): JsonObject => ({ type: 'content_block_start', index, content_block: block });
const more = (index: number, delta: JsonObject): JsonObject => ({ type: 'content_block_delta', index, delta });
const end = (index: number): JsonObject => ({ type: 'content_block_stop', index });

test('a web search becomes one part, and citations stay with their text', () => {
  const reply = foldEvents(decodeStream(fixtures.readBytes('web-search-citations.stream.sse')));
  assert.deepEqual(
    reply.parts.map(({ kind }) => kind),
    ['text', 'server-tool', 'text', 'text'],
  );
  const [, search, cited] = reply.parts;
  assert.ok(search?.kind === 'server-tool');
  assert.deepEqual(
    { ...search, wire: search.wire.map(({ type }) => type) },
    {
      kind: 'server-tool',
      tool: 'web-search',
      id: 'srvtoolu_01Search',
      input: ['valley weir built'],
      results: [{ url: 'https://example.com/weirs', title: 'Weirs of the valley', date: 'April 30, 2025' }],
      wire: ['server_tool_use', 'web_search_tool_result'],
    },
  );
  assert.deepEqual(cited, {
    kind: 'text',
    text: 'It was built in 1873',
    citations: [
      {
        citedText: 'The weir was built in 1873.',
        title: 'Weirs of the valley',
        source: { kind: 'url', url: 'https://example.com/weirs' },
      },
    ],
  });
});

test('thinking, its signature and redacted thinking are read', () => {
  const { parts } = foldEvents(decodeStream(fixtures.readBytes('thinking-signature.stream.sse')));
  assert.deepEqual(parts.slice(0, 2), [
    {
      kind: 'reasoning',
      text: ['The bell rings twice; twice two is four.'],
      proof: { origin: 'anthropic', blob: 'EqQBCkgIBhABGAIiQFdlaXJTaWduYXR1cmU=' },
    },
    { kind: 'reasoning', text: [], proof: { origin: 'anthropic', blob: 'EmwKAhgBEgyOPAQUE=', hidden: true } },
  ]);
});

test('thinking without text keeps its signature (openai/openai-agents-python#4155)', () => {
  const reply = replyOf(
    start,
    begin(0, { type: 'thinking', thinking: '' }),
    more(0, { type: 'signature_delta', signature: 'S' }),
    end(0),
    ending('end_turn'),
    stop,
  );
  assert.deepEqual(reply.parts, [{ kind: 'reasoning', text: [], proof: { origin: 'anthropic', blob: 'S' } }]);
});

test('a signature in every delta becomes one proof, the last', () => {
  const reply = replyOf(
    start,
    begin(0, { type: 'thinking', thinking: 'a', signature: '' }),
    more(0, { type: 'signature_delta', signature: 'S1' }),
    more(0, { type: 'signature_delta', signature: 'S2' }),
    end(0),
    ending('end_turn'),
    stop,
  );
  assert.deepEqual(reply.parts, [{ kind: 'reasoning', text: ['a'], proof: { origin: 'anthropic', blob: 'S2' } }]);
});

test('a call may have its arguments only at its start (BerriAI/litellm#25321)', () => {
  const reply = replyOf(start, begin(0, { type: 'tool_use', id: 't1', name: 'f', input: { a: 1 } }), end(0), ending('tool_use'), stop);
  assert.deepEqual(reply.parts, [{ kind: 'tool-call', id: 't1', name: 'f', arguments: '{"a":1}' }]);
});

test('a call may have no arguments or no id', () => {
  const reply = replyOf(
    start,
    begin(0, { type: 'tool_use', id: 't1', name: 'now', input: {} }),
    more(0, { type: 'input_json_delta', partial_json: '' }),
    end(0),
    begin(1, { type: 'tool_use', name: 'now', input: {} }),
    end(1),
    ending('end_turn'),
    stop,
  );
  assert.deepEqual(reply.parts, [
    { kind: 'tool-call', id: 't1', name: 'now', arguments: '{}' },
    { kind: 'tool-call', id: 'toolu_1', name: 'now', arguments: '{}' },
  ]);
  assert.equal(reply.stopReason, 'tool-calls', 'end_turn with calls is a call for tools');
});

test('interleaved calls of an imitating server stay separate (sgl-project/sglang#39782, BerriAI/litellm#15315)', () => {
  const reply = replyOf(
    start,
    begin(0, { type: 'tool_use', id: 't1', name: 'f' }),
    begin(1, { type: 'tool_use', id: 't2', name: 'g' }),
    more(0, { type: 'input_json_delta', partial_json: '{"a":' }),
    more(1, { type: 'input_json_delta', partial_json: '{"b":' }),
    more(0, { type: 'input_json_delta', partial_json: '1}' }),
    more(1, { type: 'input_json_delta', partial_json: '2}' }),
    end(0),
    end(1),
    ending('tool_use'),
    stop,
  );
  assert.deepEqual(
    reply.parts.map((part) => part.kind === 'tool-call' && part.arguments),
    ['{"a":1}', '{"b":2}'],
  );
});

test('blocks that never begin, never end, or change their kind are handled', () => {
  const reply = replyOf(
    more(0, { type: 'thinking_delta', thinking: 'hm' }),
    more(0, { type: 'text_delta', text: 'one' }),
    more(1, { type: 'text_delta', text: 'two' }),
    more(2, { type: 'input_json_delta', partial_json: '{}' }),
    end(7),
    stop,
  );
  assert.deepEqual(reply.parts, [
    { kind: 'reasoning', text: ['hm'] },
    { kind: 'text', text: 'one' },
    { kind: 'text', text: 'two' },
  ]);
  assert.equal(reply.stopReason, 'end');
});

test('a paused turn ends with the use of its tool', () => {
  const use = { type: 'server_tool_use', id: 'srvtoolu_1', name: 'web_search', input: {} };
  const reply = replyOf(
    start,
    begin(0, use),
    more(0, { type: 'input_json_delta', partial_json: '{"query":"q"}' }),
    end(0),
    ending('pause_turn'),
    stop,
  );
  assert.equal(reply.stopReason, 'pause');
  assert.deepEqual(reply.parts, [
    { kind: 'server-tool', tool: 'web-search', id: 'srvtoolu_1', input: ['q'], wire: [{ ...use, input: { query: 'q' } }] },
  ]);
});

for (const [reason, stopReason] of [
  ['end_turn', 'end'],
  ['max_tokens', 'output-limit'],
  ['stop_sequence', 'stop-sequence'],
  ['tool_use', 'tool-calls'],
  ['refusal', 'refusal'],
  ['pause_turn', 'pause'],
  ['model_context_window_exceeded', 'context-limit'],
  ['something_new', 'end'],
] as const) {
  test(`stop reason ${reason} is read`, () => {
    const reply = replyOf(start, ending(reason, reason === 'stop_sequence' ? { stop_sequence: 'END' } : {}), stop);
    assert.equal(reply.stopReason, stopReason);
    assert.equal(reply.stopSequence, reason === 'stop_sequence' ? 'END' : undefined);
  });
}

test('the explanation of a refusal is read', () => {
  const { stopReason, stopDetail } = foldEvents(decodeStream(fixtures.readBytes('refusal.stream.sse')));
  assert.deepEqual([stopReason, stopDetail], ['refusal', 'The request was declined.']);
});

test('usage is merged over the stream and never added (BerriAI/litellm#9812)', () => {
  const usages = decodeStream(
    streamOf(
      { type: 'message_start', message: { usage: { input_tokens: 10, cache_read_input_tokens: 5, output_tokens: 1 } } },
      {
        type: 'message_delta',
        delta: { stop_reason: 'end_turn' },
        usage: { input_tokens: 10, cache_read_input_tokens: 0, output_tokens: 9 },
      },
      stop,
    ),
  ).flatMap((event) => (event.type === 'usage' ? [event.usageReport.usage] : []));
  assert.deepEqual(usages, [
    { inputTokens: 10, cacheReadTokens: 5, outputTokens: 1 },
    { inputTokens: 10, cacheReadTokens: 5, outputTokens: 9 },
  ]);
});

test('no input makes the decoder throw', () => {
  for (const data of [
    'null',
    '[]',
    '1',
    '{',
    '{"type":1}',
    '{"type":"content_block_delta"}',
    '{"type":"message_start","message":[]}',
    '[DONE]',
  ]) {
    decodeStream(`data: ${data}\n\n`);
  }
});

import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';

import { foldEvents } from '../../../inference/fold-events.ts';
import type { InferenceEvent } from '../../../inference/inference-event.ts';
import type { InferenceReply, ReplyPart } from '../../../inference/inference-reply.ts';
import { unwrapProof } from '../../../inference/proof.ts';
import { replayReply } from '../../../inference/replay-reply.ts';
import { isJsonObject, type JsonObject } from '../../../platform/json/json-value.ts';
import { openFixtures } from '../../testing/fixture-suite.ts';
import { codec } from './codec.ts';
import { readSignature } from './proof-fields.ts';
import { createReading, createWriting, dataOf, decodeStream, encodeStream, readWithSdk } from './testing/test-kit.ts';

const usageReport = {
  usage: { inputTokens: 100, cacheReadTokens: 20, cacheWrite5mTokens: 7, outputTokens: 30, reasoningTokens: 5, webSearches: 1 },
  raw: {},
  trustworthy: true,
};

const reply = (parts: readonly ReplyPart[], more: Partial<InferenceReply> = {}): InferenceReply => ({
  replyId: 'chatcmpl-1',
  servedModel: 'gpt-served',
  parts,
  stopReason: 'end',
  usageReport,
  ...more,
});

const searched: ReplyPart = {
  kind: 'server-tool',
  tool: 'web-search',
  id: 'ws_1',
  input: ['weir'],
  results: [{ url: 'https://a.example/', title: 'A' }, { text: 'no page' }],
  wire: [{ type: 'web_search_call' }],
};

const cited: ReplyPart = {
  kind: 'text',
  text: 'Built in 1873.',
  citations: [{ start: 0, end: 14, title: 'A', source: { kind: 'url', url: 'https://a.example/' } }],
};

const cases: Readonly<Record<string, InferenceReply>> = {
  text: reply([{ kind: 'text', text: 'Hello' }]),
  nothing: reply([]),
  'an empty text block': reply([{ kind: 'text', text: '' }]),
  'text, then parallel calls': reply(
    [
      { kind: 'text', text: 'I look.' },
      { kind: 'tool-call', id: 'call_1', name: 'f', arguments: '{"a":1}' },
      { kind: 'tool-call', id: 'functions.g:0', name: 'g', arguments: '' },
    ],
    { stopReason: 'tool-calls' },
  ),
  'text after a call is a new block': reply([
    { kind: 'tool-call', id: 'call_1', name: 'f', arguments: '{}' },
    { kind: 'text', text: 'Wait.' },
  ]),
  'reasoning without a proof': reply([
    { kind: 'reasoning', text: ['One.', 'Two.'] },
    { kind: 'text', text: 'x' },
  ]),
  'foreign reasoning with a proof': reply([{ kind: 'reasoning', text: ['Hm'], proof: { origin: 'openai', blob: 'B' } }]),
  'hidden reasoning': reply([{ kind: 'reasoning', text: [], proof: { origin: 'openai', blob: 'B', hidden: true } }]),
  'native reasoning': reply([{ kind: 'reasoning', text: [], proof: { origin: 'anthropic', blob: 'B' } }]),
  'reasoning of nothing': reply([
    { kind: 'reasoning', text: [] },
    { kind: 'text', text: 'x' },
  ]),
  'a web search and citations': reply([searched, cited]),
  'a search that failed': reply([{ ...searched, failed: true }]),
  'code that ran': reply([
    { kind: 'server-tool', tool: 'code-execution', id: 'ci_1', input: ['print(1)'], results: [{ text: '1' }], wire: [] },
  ]),
  'a refusal': reply([{ kind: 'refusal', text: 'No.' }], { stopDetail: 'policy' }),
  'a filter': reply([], { stopReason: 'refusal' }),
  'a stop sequence': reply([{ kind: 'text', text: 'x' }], { stopReason: 'stop-sequence', stopSequence: 'END' }),
  'the output limit': reply([{ kind: 'text', text: 'x' }], { stopReason: 'output-limit' }),
  'media, which it has no block for': reply([
    { kind: 'media', media: 'image', source: { kind: 'inline', mediaType: 'image/png', data: 'AAAA' } },
  ]),
};

for (const [name, value] of Object.entries(cases)) {
  test(`${name}: the SDK reads the stream as the whole reply`, async () => {
    const whole = codec.encodeReply(value, createWriting());
    const message = await readWithSdk(encodeStream(replayReply(value)));
    const { parsed_output: _parsed, ...streamed } = message;
    assert.deepEqual(withoutParsed(streamed), whole);
  });
  test(`${name}: the decoder reads the encoder’s stream`, () => {
    const read = foldEvents(decodeStream(encodeStream(replayReply(value))));
    const whole = codec.decodeReply(codec.encodeReply(value, createWriting()), createReading());
    assert.deepEqual({ ...read, usageReport: read.usageReport?.usage }, { ...whole, usageReport: whole.usageReport?.usage });
  });
}

/** The SDK adds a member to text blocks. */
function withoutParsed({ content, ...message }: JsonObject): JsonObject {
  const blocks = Array.isArray(content) ? content.filter(isJsonObject) : [];
  return { ...message, content: blocks.map(({ parsed_output: _parsed, ...block }) => block) };
}

const events = (...middle: readonly InferenceEvent[]): readonly InferenceEvent[] => [
  { type: 'started' },
  ...middle,
  { type: 'finished', stopReason: 'end' },
];

test('usage is an estimate at the beginning and exact at the end, in both places (vercel/ai#17326)', () => {
  const data = dataOf(encodeStream(replayReply(reply([{ kind: 'text', text: 'x' }]))));
  const [first] = data;
  const last = data.find(({ type }) => type === 'message_delta');
  assert.ok(isJsonObject(first?.message));
  assert.deepEqual(first.message.usage, {
    input_tokens: 77,
    cache_creation_input_tokens: 0,
    cache_read_input_tokens: 0,
    output_tokens: 0,
  });
  assert.deepEqual(last?.usage, {
    input_tokens: 100,
    cache_creation_input_tokens: 7,
    cache_read_input_tokens: 20,
    output_tokens: 30,
    output_tokens_details: { thinking_tokens: 5 },
    server_tool_use: { web_search_requests: 1, web_fetch_requests: 0 },
  });
  assert.deepEqual(last?.delta, { stop_reason: 'end_turn', stop_sequence: null, usage: { input_tokens: 100, output_tokens: 30 } });
});

test('early counts of an upstream are in the first event', () => {
  const [first] = dataOf(encodeStream(events({ type: 'usage', usageReport })));
  assert.ok(isJsonObject(first?.message) && isJsonObject(first.message.usage));
  assert.equal(first.message.usage.input_tokens, 100);
});

test('if an upstream never reports usage, the estimate remains', async () => {
  const message = await readWithSdk(encodeStream(events()));
  assert.ok(isJsonObject(message.usage));
  assert.equal(message.usage.input_tokens, 77);
  assert.equal(message.usage.output_tokens, 0);
});

test('every event has its name line, and the stream ends with message_stop and no [DONE]', () => {
  const stream = encodeStream(replayReply(reply([{ kind: 'text', text: 'a\nb' }])));
  for (const piece of stream.split('\n\n').slice(0, -1)) assert.match(piece, /^event: (\w+)\ndata: \{"type":"\1".*\}$/);
  assert.match(stream, /event: message_stop\ndata: \{"type":"message_stop"\}\n\n$/);
});

test('nothing is written before content comes', () => {
  const encoder = codec.createEventEncoder(createWriting(), 'sse');
  assert.equal(encoder.write({ type: 'started' }), '');
  assert.equal(encoder.write({ type: 'usage', usageReport }), '');
  assert.equal(encoder.position().framesSent, 0);
  assert.match(encoder.write({ type: 'block-started', index: 0, block: { kind: 'text' } }), /^event: message_start\n/);
});

test('reasoning always has a signature, so that clients keep it; the mark for none is not a proof', () => {
  const data = dataOf(encodeStream(replayReply(reply([{ kind: 'reasoning', text: ['Hm'] }]))));
  const deltas = data.flatMap(({ delta }) => (isJsonObject(delta) ? [delta] : []));
  assert.deepEqual(
    deltas.map(({ type }) => type),
    ['thinking_delta', 'signature_delta', undefined],
  );
  assert.equal(readSignature(deltas[1]?.signature), undefined);
});

test('a foreign proof is wrapped, a native one is unchanged', () => {
  const signatureOf = (value: InferenceReply | undefined): unknown => {
    const { content } = codec.encodeReply(value ?? reply([]), createWriting());
    return Array.isArray(content) && isJsonObject(content[0]) ? content[0].signature : undefined;
  };
  assert.deepEqual(unwrapProof(String(signatureOf(cases['foreign reasoning with a proof']))), { origin: 'openai', blob: 'B' });
  assert.equal(signatureOf(cases['native reasoning']), 'B');
});

test('the proof of a call precedes the call if it is known, and follows it otherwise (BerriAI/litellm#16893)', () => {
  const call: InferenceEvent = { type: 'block-started', index: 0, block: { kind: 'tool-call', id: 'call_1', name: 'f' } };
  const proof: InferenceEvent = { type: 'proof', index: 0, proof: { origin: 'gemini', blob: 'G' } };
  const delta: InferenceEvent = { type: 'delta', index: 0, text: '{}' };
  const ended: InferenceEvent = { type: 'block-ended', index: 0 };
  const kindsOf = (stream: string): unknown[] =>
    dataOf(stream).flatMap(({ content_block: block }) => (isJsonObject(block) ? [block.type] : []));
  const before = encodeStream(events(call, proof, delta, ended));
  const after = encodeStream(events(call, delta, proof, ended));
  assert.deepEqual(kindsOf(before), ['thinking', 'tool_use']);
  assert.deepEqual(kindsOf(after), ['tool_use', 'thinking']);
});

test('a message id of another vendor is replaced, the vendor’s own is kept', () => {
  assert.equal(codec.encodeReply(reply([]), createWriting()).id, 'msg_1');
  assert.equal(codec.encodeReply(reply([], { replyId: 'msg_abc' }), createWriting()).id, 'msg_abc');
});

test('arguments that are not JSON are stored as text', () => {
  const { content } = codec.encodeReply(reply([{ kind: 'tool-call', id: 'c', name: 'f', arguments: '{"a":' }]), createWriting());
  assert.deepEqual(content, [{ type: 'tool_use', id: 'c', name: 'f', input: { _raw: '{"a":' } }]);
});

const fixtures = openFixtures(join(import.meta.dirname, '../fixtures'));

for (const name of fixtures.casesOf('.stream.sse')) {
  test(`stream ${name} is the same after reading, writing and reading again`, () => {
    const first = decodeStream(fixtures.readBytes(`${name}.stream.sse`));
    const second = decodeStream(encodeStream(first));
    const comparable = (list: readonly InferenceEvent[]): unknown => {
      const { usageReport: report, ...rest } = foldEvents(list);
      return { ...rest, output: report?.usage.outputTokens ?? 0 };
    };
    if (first.length > 0) assert.deepEqual(comparable(second), comparable(first));
  });
}

test('a client that did not request thinking gets none: the first block is the answer', () => {
  const proof = { origin: 'other', blob: 'b' };
  const value = reply([
    { kind: 'reasoning', text: ['hm'], proof },
    { kind: 'text', text: 'Hello' },
    { kind: 'tool-call', id: 'c', name: 'f', arguments: '{}', proof },
  ]);
  for (const request of [{}, { thinking: { type: 'disabled' } }]) {
    const content = codec.encodeReply(value, createWriting(request)).content as readonly { readonly type: string }[];
    assert.deepEqual(
      content.map((block) => block.type),
      ['text', 'tool_use'],
    );
    const folded = foldEvents(decodeStream(encodeStream(replayReply(value), createWriting(request))));
    assert.deepEqual(
      folded.parts.map((part) => part.kind),
      ['text', 'tool-call'],
    );
  }
});

import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import OpenAI from 'openai';
import type { ChatCompletionStream } from 'openai/lib/ChatCompletionStream';
import { foldEvents } from '../../../inference/fold-events.ts';
import type { InferenceEvent } from '../../../inference/inference-event.ts';
import type { InferenceReply, ReplyPart, StopReason } from '../../../inference/inference-reply.ts';
import { replayReply } from '../../../inference/replay-reply.ts';
import { isJsonObject, type JsonObject } from '../../../platform/json/json-value.ts';
import { readFrames } from '../../testing/fake-translation.ts';
import { decodeReply } from './decode-reply.ts';
import { encodeReply } from './encode-reply.ts';
import { createEventDecoder } from './event-decoder.ts';
import { createEventEncoder } from './event-encoder.ts';
import { createReading, createWriting, origin } from './testing/test-kit.ts';

const wantsUsage = { stream: true, stream_options: { include_usage: true } };

function streamOf(reply: InferenceReply, request: JsonObject = wantsUsage): string {
  const encoder = createEventEncoder(createWriting(request));
  return replayReply(reply)
    .map((event) => encoder.write(event))
    .join('');
}

const chunksOf = (stream: string): readonly JsonObject[] =>
  stream
    .split('\n\n')
    .filter((frame) => frame.startsWith('data: {'))
    .map((frame) => JSON.parse(frame.slice('data: '.length)) as JsonObject);

const choicesOf = (stream: string): readonly unknown[] =>
  chunksOf(stream).flatMap((chunk) => (Array.isArray(chunk.choices) ? (chunk.choices as readonly JsonObject[]) : []));

const deltasOf = (stream: string): readonly unknown[] =>
  choicesOf(stream).map((choice) => (isJsonObject(choice) ? choice.delta : undefined));

const replyOf = (parts: readonly ReplyPart[], stopReason: StopReason = 'end'): InferenceReply => ({ parts, stopReason });

const messageOf = (reply: InferenceReply, request: JsonObject = {}): JsonObject => {
  const [choice] = encodeReply(reply, createWriting(request)).choices as unknown as readonly [{ message: JsonObject }];
  return choice.message;
};

const usageReport = { usage: { inputTokens: 7, outputTokens: 2 }, raw: {}, trustworthy: true };
const calls: readonly ReplyPart[] = [
  { kind: 'tool-call', id: 'a', name: 'f', arguments: '{"a":1}' },
  { kind: 'tool-call', id: 'b', name: 'g', arguments: '' },
];

test('a stream has exactly these chunks', () => {
  const stream = streamOf({ ...replyOf([{ kind: 'text', text: 'Hi' }]), replyId: 'r1', servedModel: 'm-2', usageReport });
  const head = '"id":"r1","object":"chat.completion.chunk","created":1790000000,"model":"m-2"';
  assert.equal(
    stream,
    [
      `data: {${head},"choices":[{"index":0,"delta":{"role":"assistant","content":"","refusal":null},"logprobs":null,"finish_reason":null}],"usage":null}`,
      `data: {${head},"choices":[{"index":0,"delta":{"content":"Hi"},"logprobs":null,"finish_reason":null}],"usage":null}`,
      `data: {${head},"choices":[{"index":0,"delta":{},"logprobs":null,"finish_reason":"stop"}],"usage":null}`,
      `data: {${head},"choices":[],"usage":{"prompt_tokens":7,"completion_tokens":2,"total_tokens":9}}`,
      'data: [DONE]',
      '',
    ].join('\n\n'),
  );
});

test('a usage chunk is sent only if the client requested it and the usage is known', () => {
  const reply = { ...replyOf([{ kind: 'text', text: 'Hi' }]), usageReport };
  assert.ok(!streamOf(reply, { stream: true }).includes('"usage"'));
  assert.ok(!streamOf(replyOf([{ kind: 'text', text: 'Hi' }])).includes('"choices":[],'));
});

test('nothing is written before there is content, and an empty reply still has its role', () => {
  const encoder = createEventEncoder(createWriting());
  assert.equal(encoder.write({ type: 'started', replyId: 'r1' }), '');
  assert.equal(encoder.write({ type: 'usage', usageReport }), '');
  assert.equal(encoder.position().framesSent, 0);
  const end = encoder.write({ type: 'finished', stopReason: 'refusal' });
  assert.deepEqual(choicesOf(end), [
    { index: 0, delta: { role: 'assistant', content: '', refusal: null }, logprobs: null, finish_reason: null },
    { index: 0, delta: {}, logprobs: null, finish_reason: 'content_filter' },
  ]);
  assert.equal(encoder.position().framesSent, 3);
});

test('a call has its id and name in the first delta only, an index, and arguments that are JSON', () => {
  assert.deepEqual(deltasOf(streamOf(replyOf(calls, 'tool-calls'))), [
    { role: 'assistant', content: null, refusal: null },
    { tool_calls: [{ index: 0, id: 'a', type: 'function', function: { name: 'f', arguments: '' } }] },
    { tool_calls: [{ index: 0, function: { arguments: '{"a":1}' } }] },
    { tool_calls: [{ index: 1, id: 'b', type: 'function', function: { name: 'g', arguments: '' } }] },
    { tool_calls: [{ index: 1, function: { arguments: '{}' } }] },
    {},
  ]);
  assert.deepEqual(messageOf(replyOf(calls, 'tool-calls')), {
    role: 'assistant',
    content: null,
    refusal: null,
    tool_calls: [
      { id: 'a', type: 'function', function: { name: 'f', arguments: '{"a":1}' } },
      { id: 'b', type: 'function', function: { name: 'g', arguments: '{}' } },
    ],
  });
});

test('clients of the older functions receive one function_call', () => {
  const request = { functions: [{ name: 'f' }] };
  const writing = createWriting(request);
  const reply = encodeReply(replyOf(calls, 'tool-calls'), writing);
  assert.deepEqual(reply.choices, [
    {
      index: 0,
      message: { role: 'assistant', content: null, refusal: null, function_call: { name: 'f', arguments: '{"a":1}' } },
      logprobs: null,
      finish_reason: 'function_call',
    },
  ]);
  assert.deepEqual(
    writing.notes.list().map(({ kind, field }) => [kind, field]),
    [['dropped', 'tools']],
  );
  assert.deepEqual(deltasOf(streamOf(replyOf(calls, 'tool-calls'), request)), [
    { role: 'assistant', content: null, refusal: null },
    { function_call: { name: 'f', arguments: '' } },
    { function_call: { arguments: '{"a":1}' } },
    {},
  ]);
});

test('every stop reason is written as a finish reason', () => {
  const text: ReplyPart = { kind: 'text', text: 'x' };
  const cases: readonly [InferenceReply, string][] = [
    [replyOf([text]), 'stop'],
    [replyOf([text], 'stop-sequence'), 'stop'],
    [replyOf([text], 'output-limit'), 'length'],
    [replyOf([text], 'context-limit'), 'length'],
    [replyOf([text], 'pause'), 'stop'],
    [replyOf([text], 'failed'), 'error'],
    [replyOf([], 'refusal'), 'content_filter'],
    [replyOf([{ kind: 'refusal', text: 'no' }], 'refusal'), 'stop'],
    [replyOf(calls, 'tool-calls'), 'tool_calls'],
    [replyOf(calls, 'end'), 'tool_calls'],
    [replyOf(calls, 'output-limit'), 'length'],
  ];
  for (const [reply, reason] of cases) {
    const [choice] = encodeReply(reply, createWriting()).choices as unknown as readonly [{ finish_reason: string }];
    assert.equal(choice.finish_reason, reason, reply.stopReason);
    assert.ok(streamOf(reply).includes(`"finish_reason":"${reason}"`));
  }
});

test('reasoning is written as text, with one proof at the end', () => {
  const parts: readonly ReplyPart[] = [
    { kind: 'reasoning', text: ['One.', 'Two.'], proof: { origin: 'openai', blob: 'b1' }, itemId: 'rs_1' },
    { kind: 'reasoning', text: [], proof: { origin: 'anthropic', blob: 'b2', hidden: true } },
    { kind: 'reasoning', text: ['Three.'] },
    { kind: 'text', text: 'Hi' },
  ];
  const message = messageOf(replyOf(parts));
  assert.equal(message.reasoning_content, 'One.\n\nTwo.\n\nThree.');
  assert.equal(message.content, 'Hi');
  const wrapped = (proof: unknown[]): string => `gw1.${Buffer.from(JSON.stringify(proof)).toString('base64url')}`;
  assert.deepEqual(message.reasoning_details, [
    { type: 'reasoning.text', text: 'One.', id: 'rs_1', index: 0 },
    { type: 'reasoning.text', text: 'Two.', signature: wrapped(['openai', 'b1']), id: 'rs_1', index: 0 },
    { type: 'reasoning.encrypted', data: wrapped(['anthropic', 'b2', 1]), index: 1 },
  ]);
});

test('the proof of a call is in Google’s field, wrapped', () => {
  const proof = { origin: 'gemini', blob: 'c2ln' };
  const reply = replyOf([{ kind: 'tool-call', id: 'a', name: 'f', arguments: '{}', proof }], 'tool-calls');
  assert.match(JSON.stringify(messageOf(reply)), /"extra_content":\{"google":\{"thought_signature":"gw1\./);
  // @ai-sdk/openai-compatible 1 ends a stream in which an entry of tool_calls has no function.
  const entries = deltasOf(streamOf(reply)).flatMap((delta) =>
    isJsonObject(delta) && Array.isArray(delta.tool_calls) ? delta.tool_calls : [],
  );
  assert.equal(entries.length, 3);
  for (const entry of entries) assert.ok(isJsonObject(entry) && isJsonObject(entry.function));
});

test('citations count characters of the wholeReply content, a citation without offsets covers its block, and documents are omitted', () => {
  const source = { kind: 'url', url: 'https://a.example' } as const;
  const message = messageOf(
    replyOf([
      { kind: 'text', text: '🌊 one. ' },
      {
        kind: 'text',
        text: 'Two.',
        citations: [{ title: 'A', source }, { start: 0, end: 3, source }, { source: { kind: 'document', index: 0 } }],
      },
    ]),
  );
  assert.deepEqual(message.annotations, [
    { type: 'url_citation', url_citation: { start_index: 7, end_index: 11, title: 'A', url: source.url } },
    { type: 'url_citation', url_citation: { start_index: 7, end_index: 10, title: '', url: source.url } },
  ]);
});

test('a source that is cited twice at one position is written once, and a citation of a file is noted as lost', () => {
  const citation = { start: 0, end: 4, source: { kind: 'url', url: 'https://a.example/' } } as const;
  const file = { start: 0, end: 4, source: { kind: 'document', fileId: 'file_1' } } as const;
  const writing = createWriting();
  const text = { kind: 'text', text: 'Said', citations: [citation, { ...citation }, file] } as const;
  const reply = encodeReply({ parts: [text], stopReason: 'end' }, writing);
  const [choice] = reply.choices as readonly { readonly message: { readonly annotations: readonly unknown[] } }[];
  assert.equal(choice?.message.annotations.length, 1);
  assert.deepEqual(
    writing.notes.list().map(({ kind, field }) => `${kind} ${field}`),
    ['dropped tools'],
  );
});

test('images and audio are written, video is noted as lost, and tool runs of the vendor are omitted', () => {
  const writing = createWriting();
  const reply = encodeReply(
    replyOf([
      { kind: 'media', media: 'image', source: { kind: 'inline', mediaType: 'image/png', data: 'QUJD' } },
      { kind: 'media', media: 'audio', source: { kind: 'inline', mediaType: 'audio/wav', data: 'UklG' } },
      { kind: 'media', media: 'video', source: { kind: 'url', url: 'https://a.example/v' } },
      { kind: 'server-tool', tool: 'web-search', id: 's', input: ['q'], wire: [] },
    ]),
    writing,
  );
  assert.deepEqual(reply.choices, [
    {
      index: 0,
      message: {
        role: 'assistant',
        content: '',
        refusal: null,
        images: [{ type: 'image_url', image_url: { url: 'data:image/png;base64,QUJD' } }],
        audio: { id: 'audio_new', data: 'UklG', transcript: '', expires_at: 1_790_000_000 },
      },
      logprobs: null,
      finish_reason: 'stop',
    },
  ]);
  assert.equal(writing.notes.list().length, 1);
});

test('text before and after a tool run is in paragraphs, and offsets of sources count the break', () => {
  const search = { kind: 'server-tool', tool: 'web-search', id: 's', input: ['q'], wire: [] } as const;
  const cited = {
    kind: 'text',
    text: 'Found.',
    citations: [{ source: { kind: 'url', url: 'https://a.example/' }, start: 0, end: 6 }],
  } as const;
  const contentOf = (parts: InferenceReply['parts']): unknown => {
    const [choice] = encodeReply(replyOf(parts), createWriting()).choices as readonly { readonly message: JsonObject }[];
    return choice?.message;
  };
  const { content, annotations } = contentOf([{ kind: 'text', text: 'I look.' }, search, cited]) as JsonObject;
  assert.equal(content, 'I look.\n\nFound.');
  assert.match(JSON.stringify(annotations), /"start_index":9,"end_index":15/);
  const lines = contentOf([{ kind: 'text', text: 'I look:\n' }, search, cited, { kind: 'text', text: ' More.' }]) as JsonObject;
  assert.equal(lines.content, 'I look:\nFound. More.');
});

test('the service tier is written if the vendor has a name for it', () => {
  const of = (serviceTier: string): unknown =>
    encodeReply({ ...replyOf([]), usageReport: { ...usageReport, serviceTier } }, createWriting()).service_tier;
  assert.deepEqual(['priority', 'standard', 'ON_DEMAND', 'constructor'].map(of), ['priority', 'default', 'default', undefined]);
});

/** The message that the official SDK builds from a stream. */
async function accumulate(stream: string): Promise<unknown> {
  const client = new OpenAI({
    apiKey: 'k',
    baseURL: 'http://localhost/v1',
    fetch: () => Promise.resolve(new Response(stream, { headers: { 'content-type': 'text/event-stream' } })),
  });
  const accumulated: ChatCompletionStream = client.chat.completions.stream({ model: 'm', messages: [], stream: true });
  return accumulated.finalChatCompletion();
}

const proofs = [undefined, { origin: 'openai', blob: 'b' }, { origin: 'anthropic', blob: 'h', hidden: true }];
const texts = fc.constantFrom('x', 'é 🌊', 'two\n\nlines', '"q"\\');
const replies = fc
  .array(
    fc.oneof(
      fc.record({ kind: fc.constant('text' as const), text: texts }),
      fc.record({ kind: fc.constant('refusal' as const), text: texts }),
      fc
        .tuple(texts, fc.constantFrom(...proofs))
        .map(([text, proof]): ReplyPart => ({ kind: 'reasoning', text: [text], ...(proof && { proof }) })),
      fc
        .constantFrom('{"a":1}', '{}')
        .map((args): ReplyPart => ({ kind: 'tool-call', id: 'its position, below', name: 'f', arguments: args })),
      fc.constant<ReplyPart>({
        kind: 'text',
        text: 'cited',
        citations: [{ start: 0, end: 2, title: 'A', source: { kind: 'url', url: 'https://a.example' } }],
      }),
    ),
    { maxLength: 6 },
  )
  // Two calls never share an id: data with the id of a call belongs to it.
  .map((parts) => parts.map((part, position) => (part.kind === 'tool-call' ? { ...part, id: `c${position}` } : part)))
  .map((parts): InferenceReply => ({ parts, replyId: 'r1', servedModel: 'm-2', stopReason: 'end', usageReport }));

test('the official SDK reads the same from a stream and a wholeReply reply', async () => {
  await fc.assert(
    fc.asyncProperty(replies, async (reply) => {
      const wholeReply = encodeReply(reply, createWriting()) as { choices: { message: Record<string, unknown> }[] };
      const streamed = (await accumulate(streamOf(reply))) as { choices: { message: Record<string, unknown> }[] };
      for (const { message } of [...wholeReply.choices, ...streamed.choices]) {
        message.content ??= '';
        // The SDK keeps only the last delta of unknown members.
        delete message.reasoning_content;
        delete message.parsed;
        for (const call of (message.tool_calls ?? []) as { function: Record<string, unknown> }[]) delete call.function.parsed_arguments;
      }
      assert.deepEqual(streamed, wholeReply);
    }),
    { numRuns: 60 },
  );
});

test('a written reply is read back unchanged, streamed or wholeReply', () => {
  fc.assert(
    fc.property(replies, (reply) => {
      const decoder = createEventDecoder(createReading());
      const events: readonly InferenceEvent[] = [
        ...readFrames(Buffer.from(streamOf(reply))).flatMap((frame) => decoder.read(frame)),
        ...decoder.end(),
      ];
      const streamed = foldEvents(events);
      const textOf = (kind: ReplyPart['kind'], from: InferenceReply): string =>
        from.parts.flatMap((part) => (part.kind === kind && 'text' in part ? [part.text].flat() : [])).join('');
      const callsOf = (from: InferenceReply): unknown =>
        from.parts.filter((part) => part.kind === 'tool-call').map(({ name, arguments: args }) => [name, args]);
      const wholeReply = decodeReply(encodeReply(reply, createWriting()), createReading());
      for (const read of [streamed, wholeReply]) {
        assert.equal(textOf('text', read), textOf('text', reply));
        assert.equal(textOf('refusal', read), textOf('refusal', reply));
        assert.deepEqual(callsOf(read), callsOf(reply));
        assert.equal(read.stopReason, wholeReply.stopReason);
      }
    }),
  );
});

test('a reply without proofs is marked with the origin of its server', () => {
  const { parts } = decodeReply({ choices: [{ message: { reasoning_content: 'hm', content: 'x' } }] }, createReading());
  assert.deepEqual(parts[0], { kind: 'reasoning', text: ['hm'], proof: { origin, blob: '' } });
});

test('a body of another form is read as an empty reply', () => {
  for (const reply of [undefined, 3, [], {}, { choices: 'x' }, { choices: [{}] }]) {
    assert.deepEqual(decodeReply(reply, createReading()), { parts: [], stopReason: 'end' });
  }
});

import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { test } from 'node:test';
import { GoogleGenAI, type Content, type GenerateContentConfig } from '@google/genai';
import { foldEvents } from '../../../inference/fold-events.ts';
import type { InferenceEvent } from '../../../inference/inference-event.ts';
import type { InferenceReply, StopReason } from '../../../inference/inference-reply.ts';
import { replayReply } from '../../../inference/replay-reply.ts';
import type { Proof } from '../../../inference/proof.ts';
import { membersOf, objectsOf, textOf } from '../../../platform/json/json-readers.ts';
import type { JsonObject } from '../../../platform/json/json-value.ts';
import { createStreamTap } from '../create-stream-tap.ts';
import { encodeStreamError } from '../encode-error.ts';
import { GatewayError } from '../../../inference/gateway-error.ts';
import { createJsonArrayFrameReader } from '../../../platform/sse/json-array-frame-reader.ts';
import { decodeReply } from './decode-reply.ts';
import { encodeReply } from './encode-reply.ts';
import { createEventEncoder } from './event-encoder.ts';
import { chunksOf, createReading, createWriting, decode, decodeStream, encodeStream, thoughtfulRequest } from './testing/test-kit.ts';

const anthropic: Proof = { origin: 'anthropic', blob: 'c2ln' };
const hidden: Proof = { origin: 'openai', blob: 'enc', hidden: true };
const gemini: Proof = { origin: 'gemini', blob: 'AbCd' };

/** The vendor's documented substitute for calls that its models did not make. */
const dummy = 'skip_thought_signature_validator';

const usage = {
  usageReport: {
    usage: { inputTokens: 10, cacheReadTokens: 4, cacheWrite5mTokens: 1, outputTokens: 9, reasoningTokens: 3 },
    raw: {},
    trustworthy: true,
  },
};

const fullReply: InferenceReply = {
  replyId: 'msg_1',
  servedModel: 'served',
  parts: [
    { kind: 'reasoning', text: ['First.', 'Second.'], proof: anthropic },
    { kind: 'text', text: 'Héllo\n"you"' },
    { kind: 'reasoning', text: [], proof: hidden, itemId: 'rs_1' },
    { kind: 'tool-call', id: 'toolu_1', name: 'f', arguments: '{"a":1}' },
    { kind: 'tool-call', id: 'toolu_2', name: 'f', arguments: '' },
  ],
  stopReason: 'tool-calls',
  ...usage,
};

const contentOf = (reply: InferenceReply, request: JsonObject = thoughtfulRequest): readonly JsonObject[] =>
  (encodeReply(reply, createWriting(request)).candidates as unknown as [{ content: { parts: readonly JsonObject[] } }])[0].content.parts;

test('a whole reply is written', () => {
  const { candidates, ...rest } = encodeReply(fullReply, createWriting(thoughtfulRequest));
  assert.deepEqual(rest, {
    usageMetadata: {
      promptTokenCount: 15,
      cachedContentTokenCount: 4,
      candidatesTokenCount: 6,
      thoughtsTokenCount: 3,
      totalTokenCount: 24,
    },
    modelVersion: 'served',
    responseId: 'msg_1',
  });
  const [{ content, ...candidate }] = candidates as unknown as [{ content: { role: string; parts: JsonObject[] } }];
  assert.deepEqual(candidate, { finishReason: 'STOP', index: 0 });
  assert.equal(content.role, 'model');
  const signatures = content.parts.map((part) => part.thoughtSignature);
  assert.deepEqual(
    content.parts.map(({ thoughtSignature: _signature, ...part }) => part),
    [
      { text: 'First.\n\nSecond.', thought: true },
      { text: 'Héllo\n"you"' },
      { functionCall: { id: 'toolu_1', name: 'f', args: { a: 1 } } },
      { functionCall: { id: 'toolu_2', name: 'f', args: {} } },
    ],
  );
  // Signatures are on the part after the reasoning, in plain base64.
  assert.deepEqual(
    signatures.map((signature) => typeof signature),
    ['undefined', 'string', 'string', 'undefined'],
  );
  for (const signature of signatures) if (typeof signature === 'string') assert.match(signature, /^[A-Za-z0-9+/]+=*$/);
});

test('content that a client returns is what the vendor wrote, including signatures and empty thoughts (openai/openai-agents-python#4155)', () => {
  const [, turn] = decode({
    contents: [{ parts: [{ text: 'q' }] }, { role: 'model', parts: contentOf(fullReply) }],
  }).turns;
  const expected = fullReply.parts.map((part) =>
    part.kind === 'tool-call' && part.arguments === '' ? { ...part, arguments: '{}' } : part,
  );
  assert.deepEqual(
    turn?.parts.map(({ path: _path, ...part }) => part),
    expected,
  );
});

test('only clients that requested thoughts see them, but they and their signatures are always carried', () => {
  const parts = contentOf(fullReply, {});
  assert.ok(parts.every((part) => part.thought === undefined));
  const [, turn] = decode({ contents: [{ parts: [{ text: 'q' }] }, { role: 'model', parts }] }).turns;
  assert.deepEqual(
    turn?.parts.map(({ kind }) => kind),
    fullReply.parts.map(({ kind }) => kind),
  );
  assert.deepEqual(turn?.parts[0]?.kind === 'reasoning' && turn.parts[0].text, ['First.', 'Second.']);
  const snake = { generation_config: { thinking_config: { include_thoughts: true } } };
  assert.equal(contentOf(fullReply, snake)[0]?.thought, true);
});

test('signatures of this vendor are unchanged: on the text, on the call, on the part after a thought', () => {
  const reply: InferenceReply = {
    parts: [
      { kind: 'reasoning', text: ['T'], proof: gemini },
      { kind: 'text', text: 'x', proof: gemini },
      { kind: 'tool-call', id: '1', name: 'f', arguments: '{}', proof: gemini },
      { kind: 'reasoning', text: [], proof: gemini },
    ],
    stopReason: 'tool-calls',
  };
  assert.deepEqual(contentOf(reply), [
    { text: 'T', thought: true },
    { text: 'x', thoughtSignature: 'AbCd' },
    { text: '', thoughtSignature: 'AbCd' },
    { functionCall: { id: '1', name: 'f', args: {} }, thoughtSignature: 'AbCd' },
    { text: '', thoughtSignature: 'AbCd' },
  ]);
});

test('the proof of another vendor’s call or text returns on that call or text', () => {
  const proof: Proof = { origin: 'compatible', blob: 'x' };
  const parts: InferenceReply['parts'] = [
    { kind: 'reasoning', text: ['T'] },
    { kind: 'text', text: 'x', proof },
    { kind: 'tool-call', id: '1', name: 'f', arguments: '{}', proof },
  ];
  const written = contentOf({ parts, stopReason: 'tool-calls' });
  const [, turn] = decode({ contents: [{ parts: [{ text: 'q' }] }, { role: 'model', parts: written }] }).turns;
  assert.deepEqual(
    turn?.parts.map(({ path: _path, ...part }) => part),
    parts,
  );
});

test('the first call of a reply always has a signature, so that the conversation can continue with a model of this vendor', () => {
  const call = (id: string) => ({ kind: 'tool-call', id, name: 'f', arguments: '' }) as const;
  const parts = contentOf({ parts: [{ kind: 'text', text: 'x' }, call('1'), call('2')], stopReason: 'tool-calls' });
  assert.deepEqual(
    parts.map((part) => part.thoughtSignature),
    [undefined, dummy, undefined],
  );
});

test('arguments that are not JSON are kept as text, never as a string where an object belongs (Jerome-Cappe/hass-agent-llm#42)', () => {
  const [part] = contentOf({ parts: [{ kind: 'tool-call', id: '1', name: 'f', arguments: '{"a":' }], stopReason: 'output-limit' });
  assert.deepEqual(part, { functionCall: { id: '1', name: 'f', args: { _raw: '{"a":' } }, thoughtSignature: dummy });
});

test('stop reasons are written', () => {
  const reasons: readonly (readonly [StopReason, string | undefined, string, string | undefined])[] = [
    ['end', undefined, 'STOP', undefined],
    ['stop-sequence', undefined, 'STOP', undefined],
    ['tool-calls', undefined, 'STOP', undefined],
    ['pause', undefined, 'STOP', undefined],
    ['output-limit', undefined, 'MAX_TOKENS', undefined],
    ['context-limit', undefined, 'MAX_TOKENS', undefined],
    ['refusal', undefined, 'SAFETY', undefined],
    ['refusal', 'RECITATION', 'RECITATION', undefined],
    ['refusal', 'Not that.', 'SAFETY', 'Not that.'],
    ['failed', undefined, 'OTHER', undefined],
    ['failed', 'MALFORMED_FUNCTION_CALL', 'MALFORMED_FUNCTION_CALL', undefined],
    ['end', 'SAFETY', 'STOP', 'SAFETY'],
  ];
  for (const [stopReason, stopDetail, finishReason, finishMessage] of reasons) {
    const { candidates } = encodeReply({ parts: [], stopReason, ...(stopDetail !== undefined && { stopDetail }) }, createWriting());
    const [candidate] = candidates as unknown as [JsonObject];
    assert.deepEqual([candidate.finishReason, candidate.finishMessage], [finishReason, finishMessage], `${stopReason} ${stopDetail}`);
  }
});

test('a refusal without content still has a readable part', () => {
  assert.deepEqual(contentOf({ parts: [], stopReason: 'refusal' }), [{ text: '' }]);
  assert.deepEqual(contentOf({ parts: [{ kind: 'refusal', text: 'No.' }], stopReason: 'refusal' }), [{ text: 'No.' }]);
});

test('code and media are written', () => {
  const reply: InferenceReply = {
    parts: [
      { kind: 'server-tool', tool: 'code-execution', id: '1', input: ['print(1)'], results: [{ text: '1' }], failed: true, wire: [] },
      { kind: 'media', media: 'image', source: { kind: 'inline', mediaType: 'image/png', data: 'AA==' } },
      { kind: 'media', media: 'image', source: { kind: 'vendor-file', id: 'x' } },
      { kind: 'server-tool', tool: 'other', id: '2', input: [], wire: [] },
    ],
    stopReason: 'end',
  };
  assert.deepEqual(contentOf(reply), [
    { executableCode: { language: 'PYTHON', code: 'print(1)' } },
    { codeExecutionResult: { outcome: 'OUTCOME_FAILED', output: '1' } },
    { inlineData: { mimeType: 'image/png', data: 'AA==' } },
  ]);
});

test('unknown counts are left out, zeros are zeros (BerriAI/litellm#9812, envoyproxy/ai-gateway#2239)', () => {
  const written = (reported: object): unknown =>
    encodeReply({ parts: [], stopReason: 'end', usageReport: { usage: reported, raw: {}, trustworthy: true } }, createWriting())
      .usageMetadata;
  assert.deepEqual(written({}), {});
  assert.deepEqual(written({ inputTokens: 0 }), { promptTokenCount: 0 });
  assert.deepEqual(written({ outputTokens: 5 }), { candidatesTokenCount: 5 });
  assert.deepEqual(written({ inputTokens: 1, cacheWrite1hTokens: 2, outputTokens: 3, reasoningTokens: 3 }), {
    promptTokenCount: 3,
    candidatesTokenCount: 0,
    thoughtsTokenCount: 3,
    totalTokenCount: 6,
  });
  assert.deepEqual(written({ inputTokens: 10, inputAudioTokens: 4, outputTokens: 2, outputAudioTokens: 2 }), {
    promptTokenCount: 10,
    candidatesTokenCount: 2,
    totalTokenCount: 12,
    promptTokensDetails: [
      { modality: 'TEXT', tokenCount: 6 },
      { modality: 'AUDIO', tokenCount: 4 },
    ],
    candidatesTokensDetails: [
      { modality: 'TEXT', tokenCount: 0 },
      { modality: 'AUDIO', tokenCount: 2 },
    ],
  });
});

/** Splits deltas into pieces, as upstreams do. */
const inPieces = (events: readonly InferenceEvent[]): readonly InferenceEvent[] =>
  events.flatMap((event): readonly InferenceEvent[] =>
    event.type === 'delta' ? Array.from(event.text, (text) => ({ ...event, text })) : [event],
  );

test('a stream equals the whole reply, in both framings', () => {
  for (const framing of ['sse', 'json-array'] as const) {
    const stream = Buffer.from(encodeStream(inPieces(replayReply(fullReply)), framing, thoughtfulRequest));
    const folded = foldEvents(decodeStream(stream, framing));
    const whole = decodeReply(encodeReply(fullReply, createWriting(thoughtfulRequest)), createReading());
    assert.deepEqual({ ...folded, usageReport: folded.usageReport?.usage }, { ...whole, usageReport: whole.usageReport?.usage });
    const tap = createStreamTap({ framing, request: {} });
    const reader = createJsonArrayFrameReader({ frameBytesMax: 1e6 });
    if (framing === 'json-array') for (const frame of reader.push(stream)) tap.read(frame);
    if (framing === 'json-array') assert.deepEqual([tap.state(), reader.closed()], ['complete', true]);
  }
});

test('chunks have the vendor’s form: one line between CR LF pairs, text at once, whole calls, end and usage in the last', () => {
  const stream = encodeStream(
    [
      { type: 'started', replyId: 'r', servedModel: 's' },
      { type: 'usage', usageReport: { usage: { inputTokens: 3 }, raw: {}, trustworthy: true } },
      { type: 'block-started', index: 0, block: { kind: 'text' } },
      { type: 'delta', index: 0, text: 'a\nb' },
      { type: 'block-ended', index: 0 },
      { type: 'block-started', index: 1, block: { kind: 'tool-call', id: '1', name: 'f' } },
      { type: 'delta', index: 1, text: '{"x":' },
      { type: 'delta', index: 1, text: '1}' },
      { type: 'block-ended', index: 1 },
      { type: 'usage', usageReport: { usage: { inputTokens: 3, outputTokens: 2 }, raw: {}, trustworthy: true } },
      { type: 'finished', stopReason: 'tool-calls' },
    ],
    'sse',
  );
  assert.ok(stream.endsWith('\r\n\r\n') && !stream.includes('event:') && !stream.includes('[DONE]'));
  const names = { modelVersion: 's', responseId: 'r' };
  const chunk = (part: unknown, more: object = {}) => ({ candidates: [{ content: { parts: [part], role: 'model' }, ...more, index: 0 }] });
  assert.deepEqual(chunksOf(stream), [
    { ...chunk({ text: 'a\nb' }), usageMetadata: { promptTokenCount: 3 }, ...names },
    {
      ...chunk({ functionCall: { id: '1', name: 'f', args: { x: 1 } }, thoughtSignature: dummy }),
      usageMetadata: { promptTokenCount: 3 },
      ...names,
    },
    {
      ...chunk({ text: '' }, { finishReason: 'STOP' }),
      usageMetadata: { promptTokenCount: 3, candidatesTokenCount: 2, totalTokenCount: 5 },
      ...names,
    },
  ]);
});

test('an array opens with its first chunk and closes with the last, or with the error that ends it', () => {
  const encoder = createEventEncoder(createWriting(), 'json-array');
  assert.deepEqual([encoder.write({ type: 'started' }), encoder.position()], ['', { framesSent: 0 }]);
  let array = encoder.write({ type: 'block-started', index: 0, block: { kind: 'text' } });
  array += encoder.write({ type: 'delta', index: 0, text: 'a' });
  array += encoder.write({ type: 'delta', index: 0, text: 'b' });
  assert.deepEqual(encoder.position(), { framesSent: 2 });
  const failure = encodeStreamError(new GatewayError('upstream_error', 'm'), { framing: 'json-array', requestId: 'r', framesSent: 2 });
  assert.equal((JSON.parse(array + failure.toString()) as unknown[]).length, 3);
  array += encoder.write({ type: 'block-ended', index: 0 }) + encoder.write({ type: 'finished', stopReason: 'end' });
  assert.match(array, /^\[\{[\s\S]*\},\r\n\{[\s\S]*\}\r\n\]$/);
  assert.equal((JSON.parse(array) as unknown[]).length, 3);
});

/** Serves this body for every request, and returns the last request. */
async function serve(body: string, contentType: string): Promise<{ url: string; lastBody: () => JsonObject; close: () => void }> {
  let lastBody = '';
  const server = createServer((request, response) => {
    lastBody = '';
    request.on('data', (chunk: Buffer) => (lastBody += chunk.toString()));
    request.on('end', () => response.writeHead(200, { 'content-type': contentType }).end(body));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}`, lastBody: () => JSON.parse(lastBody) as JsonObject, close: () => server.close() };
}

test('the vendor’s SDK reads a stream and returns content that restores every proof, with or without thoughts', async () => {
  for (const includeThoughts of [true, false]) {
    const config: GenerateContentConfig = { thinkingConfig: { includeThoughts } };
    const request = includeThoughts ? thoughtfulRequest : {};
    const server = await serve(encodeStream(inPieces(replayReply(fullReply)), 'sse', request), 'text/event-stream');
    try {
      const chat = new GoogleGenAI({ apiKey: 'k', httpOptions: { baseUrl: server.url } }).chats.create({ model: 'm', config });
      let text = '';
      const calls: unknown[] = [];
      let last: unknown;
      for await (const chunk of await chat.sendMessageStream({ message: 'q' })) {
        text += chunk.candidates?.[0]?.content?.parts?.map((part) => (part.thought === true ? '' : (part.text ?? ''))).join('') ?? '';
        calls.push(...(chunk.functionCalls ?? []));
        last = [chunk.candidates?.[0]?.finishReason, chunk.usageMetadata?.totalTokenCount, chunk.responseId, chunk.modelVersion];
      }
      assert.equal(text, 'Héllo\n"you"');
      assert.deepEqual(calls, [
        { id: 'toolu_1', name: 'f', args: { a: 1 } },
        { id: 'toolu_2', name: 'f', args: {} },
      ]);
      assert.deepEqual(last, ['STOP', 24, 'msg_1', 'served']);
      await chat
        .sendMessage({ message: [{ functionResponse: { id: 'toolu_1', name: 'f', response: { output: 'r' } } }] })
        .catch(() => undefined);
      const [, turn, answer] = decode({ contents: server.lastBody().contents }).turns;
      assert.deepEqual(
        turn?.parts.map((part) => (part.kind === 'reasoning' ? [part.text, part.proof] : part.kind === 'text' ? part.text : part.kind)),
        [[['First.', 'Second.'], anthropic], 'Héllo\n"you"', [[], hidden], 'tool-call', 'tool-call'],
      );
      assert.equal(answer?.parts[0]?.kind === 'tool-result' && answer.parts[0].callId, 'toolu_1');
    } finally {
      server.close();
    }
  }
});

test('the vendor’s SDK reads a whole reply', async () => {
  const server = await serve(JSON.stringify(encodeReply(fullReply, createWriting(thoughtfulRequest))), 'application/json');
  try {
    const contents: Content[] = [{ role: 'user', parts: [{ text: 'q' }] }];
    const reply = await new GoogleGenAI({ apiKey: 'k', httpOptions: { baseUrl: server.url } }).models.generateContent({
      model: 'm',
      contents,
    });
    assert.deepEqual(
      reply.functionCalls?.map(({ id }) => id),
      ['toolu_1', 'toolu_2'],
    );
    assert.deepEqual([reply.usageMetadata?.thoughtsTokenCount, reply.candidates?.[0]?.finishReason], [3, 'STOP']);
  } finally {
    server.close();
  }
});

for (const [title, text, bare] of [
  ['an object that holds it', '{"value": "wet"}', 'wet'],
  ['a text in quotes', '"wet"', 'wet'],
  ['the value itself', 'wet', 'wet'],
  ['what was cut', '{"val', '{"val'],
] as const) {
  test(`a client that requested a bare value gets it from ${title}, whole and streamed`, () => {
    const request = { generation_config: { response_mime_type: 'text/x.enum' } };
    const reply: InferenceReply = { parts: [{ kind: 'text', text }], stopReason: 'end' };
    const [candidate] = encodeReply(reply, createWriting(request)).candidates as readonly { readonly content: JsonObject }[];
    assert.deepEqual(candidate?.content.parts, [{ text: bare }]);
    const encoder = createEventEncoder(createWriting(request), 'sse');
    const events: readonly InferenceEvent[] = [
      { type: 'started' },
      { type: 'block-started', index: 0, block: { kind: 'text' } },
      ...Array.from(text, (delta): InferenceEvent => ({ type: 'delta', index: 0, text: delta })),
      { type: 'block-ended', index: 0 },
      { type: 'finished', stopReason: 'end' },
    ];
    const written = events.map((event) => encoder.write(event)).join('');
    const parts = chunksOf(written).flatMap(({ candidates }) =>
      objectsOf(candidates).flatMap(({ content }) => objectsOf(membersOf(content).parts)),
    );
    assert.equal(parts.map((part) => textOf(part.text) ?? '').join(''), bare);
  });
}

import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { assertEventGrammar } from '../../../inference/assert-event-grammar.ts';
import { foldEvents } from '../../../inference/fold-events.ts';
import type { InferenceEvent } from '../../../inference/inference-event.ts';
import type { StreamFraming } from '../../../platform/frames.ts';
import type { JsonObject } from '../../../platform/json/json-value.ts';
import { openFixtures } from '../../testing/fixture-suite.ts';
import { decodeReply } from './decode-reply.ts';
import { createReading, decodeStream } from './testing/test-kit.ts';

const { casesOf, readBytes, readJson, files } = openFixtures(join(import.meta.dirname, '..', 'fixtures'));

const streams: readonly (readonly [ending: string, framing: StreamFraming])[] = [
  ['.stream.sse', 'sse'],
  ['.stream.json', 'json-array'],
];

for (const [ending, framing] of streams) {
  for (const name of casesOf(ending)) {
    test(`stream ${name}${ending} gives the same events for any chunk size, in the expected order`, () => {
      const body = readBytes(`${name}${ending}`);
      const whole = decodeStream(body, framing);
      const { state } = readJson(`${name}.expected.json`);
      assertEventGrammar(whole, { isWhole: state === 'complete' });
      for (let chunkBytes = 1; chunkBytes < 40; chunkBytes++)
        assert.deepEqual(decodeStream(body, framing, chunkBytes), whole, `chunks of ${chunkBytes}`);
    });

    if (files.includes(`${name}.reply.json`)) {
      test(`stream ${name}${ending} folds to the whole reply`, () => {
        const streamed = foldEvents(decodeStream(readBytes(`${name}${ending}`), framing));
        const reply = decodeReply(readJson(`${name}.reply.json`), createReading());
        assert.deepEqual({ ...streamed, usageReport: streamed.usageReport?.usage }, { ...reply, usageReport: reply.usageReport?.usage });
      });
    }
  }
}

test('a stream that is cut never finishes, wherever it is cut', () => {
  const body = readBytes('text.stream.sse');
  const end = body.lastIndexOf('finishReason');
  for (let at = 0; at < end; at += 7) {
    assert.ok(
      decodeStream(body.subarray(0, at), 'sse').every((event) => event.type !== 'finished'),
      `cut at ${at}`,
    );
  }
  const array = readBytes('text-array.stream.json');
  const events = decodeStream(array.subarray(0, array.lastIndexOf(']')), 'json-array');
  assert.ok(events.every((event) => event.type !== 'finished'));
});

const chunk = (parts: unknown, more: JsonObject = {}): JsonObject => ({
  candidates: [{ content: { parts: parts as JsonObject[], role: 'model' }, index: 0, ...more }],
  responseId: 'r',
});
const stop = { finishReason: 'STOP' };

/** The events of chunks, without the events of every stream. */
function read(...chunks: readonly unknown[]): readonly InferenceEvent[] {
  const body = chunks.map((one) => `data: ${typeof one === 'string' ? one : JSON.stringify(one)}\n\n`).join('');
  return decodeStream(Buffer.from(body), 'sse').filter(({ type }) => type !== 'started' && type !== 'usage');
}

const summary = (events: readonly InferenceEvent[]): readonly string[] =>
  events.map((event) => {
    if (event.type === 'block-started') return `${event.index} ${event.block.kind}`;
    if (event.type === 'delta') return `${event.index} +${event.text}`;
    if (event.type === 'proof') return `${event.index} proof ${event.proof.blob}`;
    if (event.type === 'part') return `${event.index} part ${event.part.kind}`;
    if (event.type === 'finished') return `finished ${event.stopReason}`;
    return 'index' in event ? `${event.index} ${event.type}` : event.type;
  });

test('text continues in one block over chunks, and opens a new one after a call', () => {
  const call = { functionCall: { name: 'f', args: { a: 1 } } };
  assert.deepEqual(summary(read(chunk([{ text: 'a' }]), chunk([{ text: 'b' }, call, { text: 'c' }]), chunk([{ text: '' }], stop))), [
    '0 text',
    '0 +a',
    '0 +b',
    '0 block-ended',
    '1 tool-call',
    '1 +{"a":1}',
    '1 block-ended',
    '2 text',
    '2 +c',
    '2 block-ended',
    'finished tool-calls',
  ]);
});

test('a call anywhere in the stream makes the end one of calls; ids are kept or created', () => {
  const events = read(
    chunk([{ functionCall: { name: 'f', id: 'given' } }, { functionCall: { name: 'f' } }]),
    chunk([{ text: 'ok' }]),
    chunk([], stop),
  );
  assert.deepEqual(
    events.flatMap((event) => (event.type === 'block-started' && event.block.kind === 'tool-call' ? [event.block.id] : [])),
    ['given', 'call_1'],
  );
  assert.deepEqual(events.at(-1), { type: 'finished', stopReason: 'tool-calls' });
});

test('signatures prove the part that has them (BerriAI/litellm#16893, anomalyco/opencode#4832)', () => {
  const signed = (part: JsonObject, thoughtSignature: string): JsonObject => ({ ...part, thoughtSignature });
  assert.deepEqual(
    summary(
      read(
        chunk([{ text: 'T', thought: true }, signed({ text: 'a' }, 'S1'), { text: 'b' }, signed({ functionCall: { name: 'f' } }, 'S2')]),
        chunk([signed({ text: '' }, 'S3')], stop),
      ),
    ),
    [
      '0 reasoning',
      '0 +T',
      '0 block-ended',
      '1 text',
      '1 +a',
      '1 proof S1',
      '1 block-ended',
      '2 text',
      '2 +b',
      '2 block-ended',
      '3 tool-call',
      '3 proof S2',
      '3 +{}',
      '3 block-ended',
      '4 reasoning',
      '4 proof S3',
      '4 block-ended',
      'finished tool-calls',
    ],
  );
});

test('a signature alone on the last part belongs to the text before it', () => {
  assert.deepEqual(summary(read(chunk([{ text: 'a' }]), chunk([{ text: '', thoughtSignature: 'S' }], stop))), [
    '0 text',
    '0 +a',
    '0 proof S',
    '0 block-ended',
    'finished end',
  ]);
});

test('code waits for its result over chunks, and is written without one at the end', () => {
  const code = { executableCode: { language: 'PYTHON', code: 'x' } };
  const done = { codeExecutionResult: { outcome: 'OUTCOME_OK', output: '1' } };
  const results = (events: readonly InferenceEvent[]): unknown =>
    events.flatMap((event) =>
      event.type === 'part' && event.part.kind === 'server-tool' ? [[event.index, event.part.input, event.part.results]] : [],
    );
  assert.deepEqual(results(read(chunk([{ text: 'a' }, code]), chunk([done, { text: 'b' }], stop))), [[1, ['x'], [{ text: '1' }]]]);
  assert.deepEqual(results(read(chunk([code, { text: 'b' }], stop))), [[0, ['x'], undefined]]);
  assert.deepEqual(results(read(chunk([code], stop))), [[0, ['x'], undefined]]);
});

test('finish reasons are read', () => {
  const reasons: readonly (readonly [string, string, string | undefined])[] = [
    ['STOP', 'end', undefined],
    ['stop', 'end', undefined],
    ['MAX_TOKENS', 'output-limit', undefined],
    ['SAFETY', 'refusal', 'SAFETY'],
    ['RECITATION', 'refusal', 'RECITATION'],
    ['PROHIBITED_CONTENT', 'refusal', 'PROHIBITED_CONTENT'],
    ['IMAGE_SAFETY', 'refusal', 'IMAGE_SAFETY'],
    ['MALFORMED_FUNCTION_CALL', 'failed', 'MALFORMED_FUNCTION_CALL'],
    ['LANGUAGE', 'failed', 'LANGUAGE'],
    ['OTHER', 'failed', 'OTHER'],
    ['A_REASON_OF_NEXT_YEAR', 'end', undefined],
  ];
  for (const [finishReason, stopReason, stopDetail] of reasons) {
    const expected = { type: 'finished', stopReason, ...(stopDetail === undefined ? {} : { stopDetail }) };
    assert.deepEqual(read(chunk([{ text: 'a' }], { finishReason })).at(-1), expected, finishReason);
  }
  assert.deepEqual(read(chunk([], { finishReason: 'MALFORMED_FUNCTION_CALL', finishMessage: 'Malformed: f(' })), [
    { type: 'finished', stopReason: 'failed', stopDetail: 'Malformed: f(' },
  ]);
});

test('a blocked prompt is a reply without content and not an error', () => {
  const body = {
    promptFeedback: { blockReason: 'SAFETY', blockReasonMessage: 'No.' },
    usageMetadata: { promptTokenCount: 3, totalTokenCount: 3 },
  };
  assert.deepEqual(read(body), [{ type: 'finished', stopReason: 'refusal', stopDetail: 'No.' }]);
  const reply = decodeReply(body, createReading());
  assert.deepEqual([reply.parts, reply.stopReason, reply.usageReport?.usage.inputTokens], [[], 'refusal', 3]);
});

test('input of bad servers is tolerated: invalid JSON, keep-alive chunks, an end mark of another dialect, content without parts, calls without names, other candidates', () => {
  const events = read(
    '{"usageMetadata":{}}',
    'no json',
    '[1, null]',
    { candidates: [{ content: {} }] },
    { candidates: 'x' },
    chunk([null, 3, { functionCall: {} }, { text: 4 }, { inlineData: 5 }, { text: 'ok' }]),
    { candidates: [{ index: 1, content: { parts: [{ text: 'other' }] }, finishReason: 'STOP' }] },
    chunk([], stop),
    '[DONE]',
  );
  assert.deepEqual(summary(events), ['0 text', '0 +ok', '0 block-ended', 'finished end']);
});

test('usage after the finish reason counts, and keep-alive chunks begin nothing', () => {
  const body = [
    '{"usageMetadata":{}}',
    JSON.stringify(chunk([{ text: 'a' }], stop)),
    '{"usageMetadata":{"promptTokenCount":5,"candidatesTokenCount":2,"thoughtsTokenCount":3,"totalTokenCount":10}}',
  ];
  const events = decodeStream(Buffer.from(body.map((json) => `data: ${json}\r\n\r\n`).join('')), 'sse');
  assert.equal(events[0]?.type, 'started');
  const usages = events.flatMap((event) => (event.type === 'usage' ? [event.usageReport.usage] : []));
  assert.deepEqual(usages.at(-1), { inputTokens: 5, outputTokens: 5, reasoningTokens: 3 });
  assert.equal(events.at(-1)?.type, 'finished');
});

test('an error in the middle finishes nothing', () => {
  const events = read(chunk([{ text: 'a' }]), { error: { code: 503, message: 'm', status: 'UNAVAILABLE' } });
  assert.deepEqual(summary(events), ['0 text', '0 +a']);
  const late = read(chunk([{ text: 'a' }], stop), { error: { code: 500, message: 'm' } });
  assert.deepEqual(summary(late), ['0 text', '0 +a']);
});

test('images and files in a reply are read', () => {
  const inline = { inlineData: { mimeType: 'image/png', data: 'AA==' } };
  const uri = (fileUri: string) => ({ fileData: { mimeType: 'video/mp4', fileUri } });
  const { parts } = decodeReply(
    chunk(
      [
        { text: 'a' },
        inline,
        uri('https://example.org/v.mp4'),
        uri('gs://bucket/v.mp4'),
        uri('https://generativelanguage.googleapis.com/v1beta/files/x'),
      ],
      stop,
    ),
    createReading(),
  );
  assert.deepEqual(
    parts.map((part) => part.kind === 'media' && part.source),
    [
      false,
      { kind: 'inline', mediaType: 'image/png', data: 'AA==' },
      { kind: 'url', url: 'https://example.org/v.mp4', mediaType: 'video/mp4' },
      { kind: 'vendor-file', id: 'gs://bucket/v.mp4', mediaType: 'video/mp4' },
      { kind: 'vendor-file', id: 'https://generativelanguage.googleapis.com/v1beta/files/x', mediaType: 'video/mp4' },
    ],
  );
});

test('a whole reply without a finish reason has ended, and an empty one has failed', () => {
  assert.equal(decodeReply(chunk([{ text: 'a' }]), createReading()).stopReason, 'end');
  assert.equal(decodeReply(chunk([{ functionCall: { name: 'f' } }]), createReading()).stopReason, 'tool-calls');
  assert.deepEqual(decodeReply({}, createReading()), { stopReason: 'failed', parts: [] });
  assert.deepEqual(decodeReply('x', createReading()), { stopReason: 'failed', parts: [] });
});

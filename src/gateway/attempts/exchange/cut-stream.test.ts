import assert from 'node:assert/strict';
import { describe, test } from 'node:test';

import type { ChatDialect } from '../../../dialects/chat-dialect.ts';
import { chatDialects } from '../../../dialects/registry.ts';
import type { InferenceEvent } from '../../../inference/inference-event.ts';
import { createTranslationNotes } from '../../../inference/translation-notes.ts';
import type { StreamFraming } from '../../../platform/frames.ts';
import { createJsonArrayFrameReader } from '../../../platform/sse/json-array-frame-reader.ts';
import { createSseFrameReader } from '../../../platform/sse/sse-frame-reader.ts';

type Case = { readonly dialect: ChatDialect; readonly framing: StreamFraming; readonly request: Record<string, unknown> };

const cases: readonly Case[] = [
  { dialect: chatDialects['anthropic-messages'], framing: 'sse', request: {} },
  { dialect: chatDialects['openai-responses'], framing: 'sse', request: {} },
  { dialect: chatDialects['openai-chat'], framing: 'sse', request: { stream_options: { include_usage: true } } },
  { dialect: chatDialects['openai-chat'], framing: 'sse', request: {} },
  { dialect: chatDialects['gemini-generate-content'], framing: 'sse', request: {} },
  { dialect: chatDialects['gemini-generate-content'], framing: 'json-array', request: {} },
];

const limitWords: Readonly<Record<string, RegExp>> = {
  'anthropic-messages': /max_tokens/,
  'openai-responses': /max_output_tokens/,
  'openai-chat': /length/,
  'gemini-generate-content': /MAX_TOKENS/,
};

const readerOf = (framing: StreamFraming) =>
  framing === 'sse' ? createSseFrameReader({ frameBytesMax: 1e6 }) : createJsonArrayFrameReader({ frameBytesMax: 1e6 });

/** A stream as the dialect's own encoder writes it. */
function writeStream({ dialect, framing, request }: Case): Buffer {
  const encoder = dialect.codec.createEventEncoder(
    {
      requestId: 'req_1',
      requestedModel: 'm',
      request: request as never,
      createdAtMs: 0,
      nowMs: () => 2000,
      inputTokensEstimate: 5,
      newId: (prefix) => `${prefix}_1`,
      notes: createTranslationNotes(dialect.codec.fieldNames, false),
    },
    framing,
  );
  const words = Array.from({ length: 12 }, (_none, at): InferenceEvent => ({ type: 'delta', index: 1, text: `word${at} ` }));
  const events: readonly InferenceEvent[] = [
    { type: 'started', replyId: 'reply_1', servedModel: 'm-1' },
    { type: 'block-started', index: 0, block: { kind: 'reasoning' } },
    { type: 'delta', index: 0, text: 'thinking' },
    { type: 'block-ended', index: 0 },
    { type: 'block-started', index: 1, block: { kind: 'text' } },
    ...words,
    { type: 'block-ended', index: 1 },
    { type: 'block-started', index: 2, block: { kind: 'tool-call', id: 'call_1', name: 'look' } },
    { type: 'delta', index: 2, text: '{"at":' },
    { type: 'delta', index: 2, text: '"this"}' },
    { type: 'block-ended', index: 2 },
    { type: 'finished', stopReason: 'tool-calls' },
  ];
  return Buffer.from(events.map((event) => encoder.write(event)).join(''));
}

for (const one of cases) {
  const { dialect, framing, request } = one;
  describe(`M6: a stream that is cut ends well, ${dialect.id}, ${framing}, ${JSON.stringify(request)}`, () => {
    const frames = readerOf(framing).push(writeStream(one));
    const options = { framing, request: request as never };

    test('it ends properly at any position, and reports that the bound of tokens is reached', () => {
      for (let at = 0; at < frames.length - 1; at += 1) {
        const cutter = dialect.createStreamCutter(options);
        const before = frames.slice(0, at);
        for (const frame of before) cutter.pass(frame);
        const ending = cutter.end({ inputTokens: 5, outputTokens: 7 });
        const tap = dialect.createStreamTap(options);
        for (const frame of before) tap.read(frame);
        if (tap.state() !== 'open') continue;
        const reader = readerOf(framing);
        const whole = Buffer.concat([...before.map(({ bytes }) => bytes), ending]);
        const again = dialect.createStreamTap(options);
        for (const frame of reader.push(whole)) again.read(frame);
        const report = again.report();
        assert.equal(again.state(), 'complete', `after ${at} frames: ${ending.toString()}`);
        assert.equal(report.malformedFrames, 0);
        assert.match(report.stopReason ?? '', limitWords[dialect.id] ?? /-/, `after ${at} frames`);
        assert.equal(reader.rest().toString().trim(), '');
        if (framing === 'json-array') assert.ok(Array.isArray(JSON.parse(whole.toString())), 'the array is closed');
      }
    });

    test('a translator reads the same reply up to the cut', () => {
      const at = Math.floor(frames.length / 2);
      const cutter = dialect.createStreamCutter(options);
      const decoder = dialect.codec.createEventDecoder(
        { proofOrigin: 'x', newId: (prefix) => prefix, notes: createTranslationNotes(dialect.codec.fieldNames, false) },
        framing,
      );
      const before = frames.slice(0, at);
      for (const frame of before) cutter.pass(frame);
      const bytes = Buffer.concat([...before.map((frame) => frame.bytes), cutter.end({ outputTokens: 7 })]);
      const events = [
        ...readerOf(framing)
          .push(bytes)
          .flatMap((frame) => decoder.read(frame)),
        ...decoder.end(),
      ];
      const finished = events.find(({ type }) => type === 'finished');
      assert.equal(finished?.type === 'finished' ? finished.stopReason : undefined, 'output-limit');
      const open =
        events.filter(({ type }) => type === 'block-started').length - events.filter(({ type }) => type === 'block-ended').length;
      assert.equal(open, 0, 'no block is left open');
    });
  });
}

test('several choices each end once: a finished one is not ended again', () => {
  const dialect = chatDialects['openai-chat'];
  const cutter = dialect.createStreamCutter({ framing: 'sse', request: { n: 3 } });
  const chunk = (index: number, reason: string | null): string =>
    `data: {"id":"c","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":${index},"delta":{"content":"a"},"finish_reason":${JSON.stringify(reason)}}]}\n\n`;
  const reader = createSseFrameReader({ frameBytesMax: 1e6 });
  for (const frame of reader.push(Buffer.from(chunk(0, null) + chunk(1, 'stop') + chunk(2, null)))) cutter.pass(frame);
  const ended = cutter.end({ outputTokens: 1 }).toString();
  assert.deepEqual(
    [...ended.matchAll(/"index":(\d)/g)].map(([, index]) => index),
    ['0', '2'],
  );
  assert.match(ended, /"id":"c".*data: \[DONE\]\n\n$/s);
});

test('a call with incomplete arguments is never reported as done', () => {
  const dialect = chatDialects['openai-responses'];
  const cutter = dialect.createStreamCutter({ framing: 'sse', request: {} });
  const events = [
    { type: 'response.created', sequence_number: 0, response: { id: 'resp_1', object: 'response', status: 'in_progress', output: [] } },
    {
      type: 'response.output_item.added',
      sequence_number: 1,
      output_index: 0,
      item: { type: 'function_call', id: 'fc_1', name: 'pay', arguments: '' },
    },
    { type: 'response.function_call_arguments.delta', sequence_number: 2, output_index: 0, item_id: 'fc_1', delta: '{"amount":1' },
  ];
  const reader = createSseFrameReader({ frameBytesMax: 1e6 });
  const text = events.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`).join('');
  for (const frame of reader.push(Buffer.from(text))) cutter.pass(frame);
  const ended = cutter.end({ outputTokens: 1 }).toString();
  assert.doesNotMatch(ended, /arguments\.done|output_item\.done/);
  const last = JSON.parse(/data: (.*)\n\n$/.exec(ended)?.[1] ?? '{}') as {
    sequence_number: number;
    response: { id: string; output: { status: string; arguments: string }[] };
  };
  assert.equal(last.sequence_number, 3);
  assert.equal(last.response.id, 'resp_1');
  assert.deepEqual(
    last.response.output.map(({ status, arguments: said }) => [status, said]),
    [['incomplete', '{"amount":1']],
  );
});

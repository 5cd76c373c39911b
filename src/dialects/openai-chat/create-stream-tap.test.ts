import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { JsonObject } from '../../platform/json/json-value.ts';
import type { FrameVerdict, StreamReport } from '../chat-dialect.ts';
import { Frame } from '../../platform/frames.ts';
import { createStreamTap } from './create-stream-tap.ts';

type Tapped = { readonly report: StreamReport; readonly verdicts: readonly FrameVerdict[] };

function tapChunks(chunks: readonly unknown[], request: JsonObject = {}, event?: string): Tapped {
  const tap = createStreamTap({ framing: 'sse', request });
  const verdicts = chunks.map((chunk) => {
    const data = typeof chunk === 'string' ? chunk : JSON.stringify(chunk);
    return tap.read(new Frame(Buffer.from(`data: ${data}\n\n`), event, data));
  });
  assert.equal(tap.state(), tap.report().state);
  return { report: tap.report(), verdicts };
}

const text = (content: string, index = 0) => ({ choices: [{ index, delta: { content }, finish_reason: null }] });
const finish = (index = 0) => ({ choices: [{ index, delta: {}, finish_reason: 'stop' }] });
const usage = { prompt_tokens: 3, completion_tokens: 2, total_tokens: 5 };
const usageChunk = { choices: [], usage };

test('the usage chunk is hidden unless the client requested it', () => {
  const hides = (request: JsonObject) => tapChunks([usageChunk], request).verdicts[0];
  assert.equal(hides({ stream: true }), 'hide');
  assert.equal(hides({ stream_options: null }), 'hide');
  assert.equal(hides({ stream_options: { include_usage: false } }), 'hide');
  assert.equal(hides({ stream_options: { include_usage: true } }), 'forward');
});

test('a chunk with any other content is never hidden', () => {
  const { verdicts, report } = tapChunks([
    { ...finish(), usage },
    { choices: [], prompt_filter_results: [] },
    { choices: [], usage: null },
    { choices: [], usage, error: { message: 'x' } },
    '[DONE]',
  ]);
  assert.deepEqual(new Set(verdicts), new Set(['forward']));
  assert.deepEqual(report.usageReport?.usage, { inputTokens: 3, outputTokens: 2 });
});

test('missing and null choices are accepted', () => {
  const { report } = tapChunks([{ usage }, { choices: null }, { choices: [null, 7, {}] }, { choices: {} }, '[DONE]']);
  assert.equal(report.state, 'complete');
  assert.equal(report.malformedFrames, 0);
});

test('the last usage counts, and an empty one after it is ignored', () => {
  const { report } = tapChunks([
    { ...text('a'), usage: { prompt_tokens: 3, completion_tokens: 1 } },
    { ...text('b'), usage: { prompt_tokens: 3, completion_tokens: 2 } },
    { ...finish(), usage: {} },
    '[DONE]',
  ]);
  assert.deepEqual(report.usageReport?.usage, { inputTokens: 3, outputTokens: 2 });
});

test('usage after [DONE] counts', () => {
  const { report } = tapChunks([finish(), '[DONE]', usageChunk]);
  assert.deepEqual(report.usageReport?.usage, { inputTokens: 3, outputTokens: 2 });
});

test('an end without [DONE] is complete only after all finish reasons and the usage', () => {
  assert.equal(tapChunks([text('a')]).report.state, 'open');
  assert.equal(tapChunks([text('a'), finish()]).report.state, 'open');
  assert.equal(tapChunks([text('a'), usageChunk]).report.state, 'open');
  assert.equal(tapChunks([text('a'), finish(), usageChunk]).report.state, 'complete');
  assert.equal(tapChunks([text('a'), text('b', 1), finish(), usageChunk]).report.state, 'open');
  assert.equal(tapChunks([text('a'), finish(), usageChunk], { n: 2 }).report.state, 'open');
  assert.equal(tapChunks([text('a'), text('b', 1), finish(), finish(1), usageChunk], { n: 2 }).report.state, 'complete');
});

test('an error fails the stream, even if [DONE] follows', () => {
  const { report } = tapChunks([text('a'), { error: { message: 'boom', code: 503 } }, '[DONE]']);
  assert.equal(report.state, 'failed');
  assert.deepEqual(report.error, { message: 'boom', status: 503 });
});

test('errors are read in the forms of imitating servers', () => {
  assert.deepEqual(tapChunks([{ error: 'model unloaded' }]).report.error, { message: 'model unloaded' });
  assert.deepEqual(tapChunks([{ error: { code: 'server_error' } }]).report.error, { message: 'server_error', status: 500 });
  assert.deepEqual(tapChunks([{ message: 'no memory', code: 500 }], {}, 'error').report.error, { message: 'no memory', status: 500 });
  assert.deepEqual(tapChunks(['out of memory'], {}, 'error').report.error, { message: 'out of memory' });
  assert.equal(tapChunks([{ ...text('a'), error: null }]).report.error, undefined);
});

test('text, reasoning, refusals and arguments are counted in every form', () => {
  const delta = (fields: object) => ({ choices: [{ index: 0, delta: fields }] });
  const count = (fields: object) => tapChunks([delta(fields)]).report.outputCharacters;
  assert.equal(count({ content: 'abc' }), 3);
  assert.equal(count({ content: [{ type: 'text', text: 'abc' }] }), 7);
  assert.equal(count({ reasoning: 'abc', reasoning_content: 'abc' }), 3);
  assert.equal(count({ reasoning: 'abc' }), 3);
  assert.equal(count({ refusal: 'no' }), 2);
  assert.equal(count({ function_call: { name: 'f', arguments: '{}' } }), 2);
  assert.equal(count({ tool_calls: [{ custom: { input: 'abc' } }, { function: { arguments: { a: 1 } } }, null, { function: 'x' }] }), 10);
  assert.equal(count({ content: null, tool_calls: null, audio: { data: 'AAAA', transcript: 'hi' } }), 2);
});

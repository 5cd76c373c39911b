import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { StreamReport } from '../chat-dialect.ts';
import { Frame } from '../../platform/frames.ts';
import { createStreamTap } from './create-stream-tap.ts';

type Event = { readonly event?: string; readonly data: unknown };

function tapEvents(events: readonly Event[]): StreamReport {
  const tap = createStreamTap();
  for (const { event, data } of events) {
    const text = typeof data === 'string' ? data : JSON.stringify(data);
    assert.equal(tap.read(new Frame(Buffer.from(text), event, text)), 'forward');
  }
  return tap.report();
}

const start = { data: { type: 'message_start', message: { model: 'm', usage: { input_tokens: 5, output_tokens: 1 } } } };
const stop = { data: { type: 'message_stop' } };

test('a stream without data is open and has no usage', () => {
  assert.deepEqual(tapEvents([]), { state: 'open', malformedFrames: 0, outputCharacters: 0 });
});

test('usage after the finish counts', () => {
  const report = tapEvents([start, stop, { data: { type: 'message_delta', delta: {}, usage: { output_tokens: 40 } } }]);
  assert.equal(report.state, 'complete');
  assert.deepEqual(report.usageReport?.usage, { inputTokens: 5, outputTokens: 40 });
});

test('cumulative usage is never added', () => {
  const delta = (outputTokens: number) => ({
    data: { type: 'message_delta', delta: {}, usage: { input_tokens: 5, output_tokens: outputTokens } },
  });
  assert.deepEqual(tapEvents([start, delta(10), delta(20), delta(20)]).usageReport?.usage, { inputTokens: 5, outputTokens: 20 });
});

test('an error after the end leaves the reply finished, and an end after an error leaves it failed', () => {
  const error = { event: 'error', data: { type: 'error', error: { type: 'api_error', message: 'late' } } };
  const late = tapEvents([start, stop, error]);
  assert.equal(late.state, 'complete');
  assert.equal(late.error, undefined);
  const early = tapEvents([start, error, stop]);
  assert.equal(early.state, 'failed');
  assert.deepEqual(early.error, { message: 'late', status: 500 });
});

test('an error event that is not JSON still fails the stream', () => {
  const report = tapEvents([start, { event: 'error', data: 'upstream connect error' }]);
  assert.equal(report.state, 'failed');
  assert.equal(report.malformedFrames, 1);
  assert.deepEqual(report.error, { message: 'upstream connect error' });
});

test('an error without a type, as imitating servers send it, fails the stream', () => {
  const report = tapEvents([start, { data: { error: { message: 'out of memory', code: 503 } } }]);
  assert.equal(report.state, 'failed');
  assert.deepEqual(report.error, { message: 'out of memory', status: 503 });
});

test('an event whose type is only in the event line is read', () => {
  assert.equal(tapEvents([{ event: 'message_stop', data: {} }]).state, 'complete');
});

test('events with members of the wrong type are tolerated', () => {
  const report = tapEvents([
    { data: { type: 'message_start', message: 'hello' } },
    { data: { type: 'message_start' } },
    { data: { type: 'content_block_start', content_block: null } },
    { data: { type: 'content_block_start', content_block: { type: 'text', text: 7 } } },
    { data: { type: 'content_block_delta', delta: 'text' } },
    { data: { type: 'content_block_delta', delta: { text: 7 } } },
    { data: { type: 'message_delta', delta: null, usage: [1] } },
    { data: { type: 7 } },
    { data: [] },
    stop,
  ]);
  assert.equal(report.state, 'complete');
  assert.equal(report.outputCharacters, 0);
  assert.equal(report.malformedFrames, 1);
  assert.deepEqual(report.usageReport, { usage: {}, raw: [1], trustworthy: false });
});

test('a tool whose whole input comes with the block start is counted', () => {
  const block = { type: 'tool_use', id: 't', name: 'n', input: { a: 1 } };
  assert.equal(tapEvents([{ data: { type: 'content_block_start', index: 0, content_block: block } }]).outputCharacters, '{"a":1}'.length);
});

test('heartbeats and the end mark of another dialect change nothing', () => {
  const report = tapEvents([{ event: 'ping', data: '{"type": "ping"}' }, { data: '' }, { data: '[DONE]' }]);
  assert.deepEqual(report, { state: 'open', malformedFrames: 0, outputCharacters: 0 });
});

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { StreamReport, StreamTap } from '../chat-dialect.ts';
import { Frame } from '../../platform/frames.ts';
import { createStreamTap } from './create-stream-tap.ts';

const createTap = (): StreamTap => createStreamTap({ framing: 'sse', request: {} });

function pass(tap: StreamTap, chunk: object): StreamReport['state'] {
  const data = JSON.stringify(chunk);
  tap.read(new Frame(Buffer.from(`data: ${data}\r\n\r\n`), undefined, data));
  return tap.state();
}

const done = (index?: number): object => ({ candidates: [{ content: { parts: [{ text: 'x' }] }, finishReason: 'STOP', index }] });

test('usage after the finish counts', () => {
  const tap = createTap();
  pass(tap, { ...done(), usageMetadata: { promptTokenCount: 5, totalTokenCount: 8 } });
  assert.equal(pass(tap, { usageMetadata: { promptTokenCount: 5, candidatesTokenCount: 3, totalTokenCount: 8 } }), 'complete');
  assert.deepEqual(tap.report().usageReport?.usage, { inputTokens: 5, outputTokens: 3 });
});

test('usage is cumulative: a later chunk replaces counts, never adds to them, and keeps missing ones', () => {
  const tap = createTap();
  pass(tap, { candidates: [], usageMetadata: { promptTokenCount: 9, cachedContentTokenCount: 4, candidatesTokenCount: 1 } });
  pass(tap, { usageMetadata: { promptTokenCount: 9, candidatesTokenCount: 5 } });
  pass(tap, { usageMetadata: {} });
  pass(tap, done());
  assert.deepEqual(tap.report().usageReport?.usage, { inputTokens: 5, cacheReadTokens: 4, outputTokens: 5 });
});

test('a late candidate opens the stream again', () => {
  const tap = createTap();
  assert.equal(pass(tap, done(0)), 'complete');
  assert.equal(pass(tap, { candidates: [{ index: 1, content: {} }] }), 'open');
  assert.equal(pass(tap, done(1)), 'complete');
});

test('an unspecified finish reason is none, an unknown one is one', () => {
  const tap = createTap();
  assert.equal(pass(tap, { candidates: [{ finishReason: 'FINISH_REASON_UNSPECIFIED' }] }), 'open');
  assert.equal(pass(tap, { candidates: [{ finishReason: 'TOO_MANY_TOOL_CALLS' }] }), 'complete');
  assert.equal(tap.report().stopReason, 'TOO_MANY_TOOL_CALLS');
});

test('an error after the finish fails the stream', () => {
  const tap = createTap();
  pass(tap, done());
  assert.equal(pass(tap, { error: { code: 500, message: 'late' } }), 'failed');
  assert.deepEqual(tap.report().error, { message: 'late', status: 500 });
});

test('odd shapes are read without errors', () => {
  const tap = createTap();
  for (const chunk of [
    { candidates: {} },
    { candidates: [null, 5, { content: [] }] },
    { candidates: [{ content: { parts: {} } }] },
    { usageMetadata: 'x' },
    [],
  ]) {
    assert.equal(pass(tap, chunk), 'open');
  }
  assert.equal(tap.report().outputCharacters, 0);
});

import assert from 'node:assert/strict';
import { test } from 'node:test';

import { beginTrace, readTraceContext, writeTraceContext } from './call-trace.ts';

const traceId = '0af7651916cd43dd8448eb211c80319c';
const spanId = 'b7ad6b7169203331';
const valid = `00-${traceId}-${spanId}-01`;

test('a valid context is read as it was written', () => {
  const context = readTraceContext(valid, 'a=1,b=2');
  assert.deepEqual(context, { traceId, spanId, sampled: true, traceState: 'a=1,b=2' });
  assert.deepEqual(context && writeTraceContext(context), { traceparent: valid, tracestate: 'a=1,b=2' });
  assert.equal(readTraceContext(`00-${traceId}-${spanId}-00`, undefined)?.sampled, false);
  // A later version may have more flags and more members behind them.
  assert.equal(readTraceContext(`01-${traceId}-${spanId}-ff-more`, undefined)?.sampled, true);
});

test('an invalid context begins a new trace', () => {
  const wrong = [
    undefined,
    '',
    'x',
    valid.toUpperCase(),
    `ff-${traceId}-${spanId}-01`,
    `${valid}-more`,
    `00-${'0'.repeat(32)}-${spanId}-01`,
    `00-${traceId}-${'0'.repeat(16)}-01`,
    `00-${traceId}-${spanId}`,
    ` ${valid}`,
    `${valid}, ${valid}`,
  ];
  for (const parent of wrong) assert.equal(readTraceContext(parent, 'a=1'), undefined, String(parent));
});

test('a state that is too long, or not plain text, is dropped', () => {
  for (const state of ['', 'a'.repeat(513), 'a=\u00e9', 'a=\u0001']) assert.equal(readTraceContext(valid, state)?.traceState, undefined);
  assert.equal(readTraceContext(valid, ['a=1', 'b=2'])?.traceState, 'a=1,b=2');
});

test('every attempt has a span of its own in the trace of the client', () => {
  const trace = beginTrace({ traceparent: valid, tracestate: 'a=1' }, { followsCaller: true, ratio: 0 });
  assert.deepEqual([trace.context.traceId, trace.parentSpanId, trace.context.sampled], [traceId, spanId, true]);
  const headers = [trace.beginAttempt(5), trace.beginAttempt(9)];
  const seen = [spanId, trace.context.spanId, ...headers.map((header) => header['traceparent']?.split('-')[2])];
  assert.equal(new Set(seen).size, 4);
  assert.ok(headers.every((header) => header['traceparent']?.startsWith(`00-${traceId}-`) === true && header['tracestate'] === 'a=1'));
  assert.deepEqual(
    trace.attempts.map(({ startedMs }) => startedMs),
    [5, 9],
  );
});

test("the caller's sampling is followed, unless it is not trusted; of the rest the configured share is sampled", () => {
  const of = (parent: string | undefined, followsCaller: boolean, ratio: number): boolean =>
    beginTrace(parent === undefined ? {} : { traceparent: parent }, { followsCaller, ratio }).context.sampled;
  assert.equal(of(valid, true, 0), true);
  assert.equal(of(`00-${traceId}-${spanId}-00`, true, 1), false);
  assert.equal(of(valid, false, 0), false);
  assert.equal(of(`00-${traceId}-${spanId}-00`, false, 1), true);
  let sampled = 0;
  for (let index = 0; index < 2000; index++) if (of(undefined, true, 0.25)) sampled += 1;
  assert.ok(sampled > 350 && sampled < 650, `${sampled} of 2000`);
});

test('a trace that is not sampled is still passed on, as not sampled', () => {
  const trace = beginTrace({}, { followsCaller: true, ratio: 0 });
  assert.match(trace.beginAttempt(1)['traceparent'] ?? '', /-00$/);
  assert.deepEqual(trace.attempts, []);
});

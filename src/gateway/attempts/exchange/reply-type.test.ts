import assert from 'node:assert/strict';
import { test } from 'node:test';

import { asStream } from './reply-type.ts';

test('a stream of events or of an array has the type that its clients read, and a right one is kept', () => {
  const typed = (type: string | undefined, framing: 'sse' | 'json-array') =>
    asStream({ 'x-request-id': 'a', ...(type !== undefined && { 'content-type': type }) }, framing);
  const events = 'text/event-stream; charset=utf-8';
  for (const [sent, framing, received] of [
    [undefined, 'sse', events],
    ['text/plain', 'sse', events],
    ['application/octet-stream', 'sse', events],
    ['text/event-stream', 'sse', 'text/event-stream'],
    ['text/event-stream;charset=UTF-8', 'sse', 'text/event-stream;charset=UTF-8'],
    [undefined, 'json-array', 'application/json'],
    ['text/plain', 'json-array', 'application/json'],
    ['application/json; charset=UTF-8', 'json-array', 'application/json; charset=UTF-8'],
  ] as const)
    assert.deepEqual(typed(sent, framing), { 'x-request-id': 'a', 'content-type': received });
});

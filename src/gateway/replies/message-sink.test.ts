import assert from 'node:assert/strict';
import { test } from 'node:test';

import { openaiResponses } from '../../dialects/openai-responses/openai-responses.ts';
import { GatewayError } from '../../inference/gateway-error.ts';
import { StreamEvent } from '../../platform/frames.ts';
import { EventReply, type WholeAnswer } from './event-reply.ts';
import { MessageSink } from './connection-sink.ts';

const { events, voice } = openaiResponses;
assert.ok(events);
const head = { 'content-type': 'text/event-stream' };
const broken = new GatewayError('upstream_connection_error', 'it broke');
const delta = new StreamEvent('response.output_text.delta', '{"type":"response.output_text.delta","delta":"hi"}');

function start(isFull = false) {
  const heard: StreamEvent[] = [];
  const answers: WholeAnswer[] = [];
  let ended = 0;
  const reply = new EventReply({
    event: (event) => heard.push(event),
    whole: (answer) => answers.push(answer),
    ended: () => (ended += 1),
    isFull: () => isFull,
    destroyed: () => {},
  });
  const takeEvents = reply.takeEvents.bind(reply);
  const sink = new MessageSink({ callId: 'req_1', response: reply, voice, framing: 'sse', takeEvents, events: events ?? assert.fail() });
  return { sink, reply, heard, answers, ended: () => ended };
}

test('events arrive unchanged, without heartbeats', () => {
  const { sink, heard, answers, ended } = start();
  sink.begin(head);
  assert.equal(sink.take([delta, new StreamEvent(undefined, '')]), true);
  sink.beat();
  sink.end();
  assert.equal(heard.length, 1);
  assert.equal(heard[0], delta);
  assert.deepEqual([answers, ended()], [[], 1]);
});

test('a reader that does not keep up pauses the call, and resumes it', () => {
  const { sink, reply } = start(true);
  let hasRoom = false;
  sink.begin(head);
  assert.equal(sink.take([delta]), false);
  sink.onRoom(() => (hasRoom = true));
  reply.resume();
  assert.equal(hasRoom, true);
});

test('a failure before the reply begins is an answer with a status', () => {
  const { sink, heard, answers, ended } = start();
  sink.fail(broken);
  assert.deepEqual([heard.length, answers.length, answers[0]?.status, ended()], [0, 1, 503, 1]);
});

test('a failure after the reply began is events that continue the numbers, and nothing follows', () => {
  const { sink, heard, answers, ended } = start();
  sink.begin(head);
  sink.take([delta]);
  sink.fail(broken, { framesSent: 1, lastSequenceNumber: 7, partialResponse: { id: 'resp_1' } });
  sink.take([delta]);
  assert.deepEqual(
    heard.slice(1).map((event) => [event.event, event.object()?.sequence_number]),
    [
      ['error', 8],
      ['response.failed', 9],
    ],
  );
  assert.deepEqual([answers.length, ended()], [0, 1]);
});

test('a whole reply is one stream', () => {
  const { sink, heard, answers, ended } = start();
  sink.takeWhole(head, [delta, delta]);
  assert.deepEqual([heard.length, answers.length, ended()], [2, 0, 1]);
});

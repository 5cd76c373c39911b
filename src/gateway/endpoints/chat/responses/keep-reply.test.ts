import assert from 'node:assert/strict';
import { describe, test } from 'node:test';

import { chatDialects } from '../../../../dialects/registry.ts';
import { GatewayError } from '../../../../inference/gateway-error.ts';
import type { JsonObject } from '../../../../platform/json/json-value.ts';
import { createFakeExchange } from '../../../attempts/exchange/testing/fake-exchange.ts';
import { StreamReply } from '../../../attempts/exchange/stream-reply.ts';
import { WholeReply } from '../../../attempts/exchange/whole-reply.ts';
import type { ClientReply } from '../../../replies/client-reply.ts';
import { createEventSink } from '../../../replies/connection-sink.ts';
import { createEventForm } from '../reply-form.ts';
import { createPassthroughRelay } from '../plan/passthrough-relay.ts';
import { keepReplies } from './keep-reply.ts';

const dialect = chatDialects['openai-responses'];
assert.ok(dialect.events);
const form = createEventForm(dialect.events);

const response = (status: string, output: readonly JsonObject[] = []): JsonObject => ({ id: 'resp_1', object: 'response', status, output });
const message = { id: 'msg_1', type: 'message', status: 'completed', role: 'assistant', content: [{ type: 'output_text', text: 'hi' }] };
const event = (type: string, members: JsonObject): string => `event: ${type}\ndata: ${JSON.stringify({ type, ...members })}\n\n`;
const opening = event('response.created', { sequence_number: 0, response: response('in_progress') });
const delta = event('response.output_text.delta', { sequence_number: 1, item_id: 'msg_1', output_index: 0, content_index: 0, delta: 'hi' });
const closing = event('response.completed', { sequence_number: 2, response: response('completed', [message]) });

function start(framing: 'sse' | undefined) {
  const fake = createFakeExchange({ dialect, framing });
  const stored: JsonObject[] = [];
  const storing = Promise.withResolvers<void>();
  const keep = (reply: JsonObject): Promise<void> => {
    stored.push(reply);
    return storing.promise;
  };
  const { passing, eventsOf } = form;
  const relay = createPassthroughRelay({ ...fake.context, dialect, form: passing, streamRequest: {} });
  const sink = createEventSink({ callId: 'req_1', response: fake.response as unknown as ClientReply, voice: dialect.voice, framing });
  const context = { ...fake.context, sink, relay: keepReplies(relay, { keep, eventsOf, isPassthrough: true }) };
  const flow = { pause: () => {}, resume: () => {}, stop: () => {} };
  return { ...fake, context, flow, stored, finishStoring: storing.resolve };
}

const settle = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

describe('a stream that is stored', () => {
  test('the end of a stream waits until the reply is stored, and earlier events do not', async () => {
    const call = start('sse');
    const reply = new StreamReply(call.context, call.flow, { 'content-type': 'text/event-stream' }, 'sse');
    reply.data(Buffer.from(opening + delta));
    reply.data(Buffer.from(closing));
    reply.end();
    await settle();
    assert.equal(call.response.text(), opening + delta);
    assert.equal(call.response.writableEnded, false);
    assert.deepEqual(call.stored, [response('completed', [message])]);
    assert.equal(call.outcomes[0]?.end, 'finished');
    call.finishStoring();
    await settle();
    assert.equal(call.response.text(), opening + delta + closing);
    assert.equal(call.response.writableEnded, true);
  });

  test('a stream that arrives in one piece ends in the same way', async () => {
    const call = start('sse');
    const reply = new StreamReply(call.context, call.flow, { 'content-type': 'text/event-stream' }, 'sse');
    reply.data(Buffer.from(opening + delta + closing));
    reply.end();
    assert.equal(call.response.chunks.length, 0);
    call.finishStoring();
    await settle();
    assert.equal(call.response.text(), opening + delta + closing);
  });

  test('a stream that breaks is stored as failed with its output so far, and nothing waits for that', () => {
    const call = start('sse');
    const reply = new StreamReply(call.context, call.flow, { 'content-type': 'text/event-stream' }, 'sse');
    reply.data(Buffer.from(opening + delta));
    reply.end();
    assert.equal(call.response.writableEnded, true);
    const [{ status, error, id } = {}] = call.stored;
    assert.deepEqual([call.stored.length, id, status], [1, 'resp_1', 'failed']);
    assert.match(JSON.stringify(error), /terminated early/);
  });

  test('a stream that breaks before the client received anything is not stored', () => {
    const call = start('sse');
    const reply = new StreamReply(call.context, call.flow, { 'content-type': 'text/event-stream' }, 'sse');
    reply.data(Buffer.from(opening));
    reply.end();
    assert.deepEqual(call.stored, []);
  });

  test('a stream whose client disconnects in the middle is not stored', () => {
    const call = start('sse');
    const reply = new StreamReply(call.context, call.flow, { 'content-type': 'text/event-stream' }, 'sse');
    reply.data(Buffer.from(opening + delta));
    reply.clientLeft();
    assert.deepEqual(call.stored, []);
  });

  test('a connection that breaks behind the last event breaks nothing', async () => {
    const call = start('sse');
    const reply = new StreamReply(call.context, call.flow, { 'content-type': 'text/event-stream' }, 'sse');
    reply.data(Buffer.from(opening + delta + closing));
    reply.fail(new GatewayError('upstream_connection_error', 'it broke'));
    call.finishStoring();
    await settle();
    assert.equal(call.response.status, 200);
    assert.equal(call.response.text(), opening + delta + closing);
    assert.equal(call.response.writableEnded, true);
    assert.equal(call.outcomes[0]?.end, 'finished');
  });

  test('a reply is stored even if the client disconnects meanwhile', async () => {
    const call = start('sse');
    const reply = new StreamReply(call.context, call.flow, { 'content-type': 'text/event-stream' }, 'sse');
    reply.data(Buffer.from(opening + delta + closing));
    call.response.close();
    call.finishStoring();
    await settle();
    assert.equal(call.stored.length, 1);
    assert.equal(call.response.chunks.length, 0);
  });
});

test('a whole reply is answered when it is stored', async () => {
  const call = start(undefined);
  const sink = new WholeReply(call.context, call.flow, { 'content-type': 'application/json' }, true);
  sink.data(Buffer.from(JSON.stringify(response('completed', [message]))));
  sink.end();
  await settle();
  assert.equal(call.response.headersSent, false);
  assert.deepEqual(call.stored, [response('completed', [message])]);
  call.finishStoring();
  await settle();
  assert.equal(call.response.status, 200);
});

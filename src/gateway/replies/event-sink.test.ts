import assert from 'node:assert/strict';
import { test } from 'node:test';

import { chatDialects } from '../../dialects/registry.ts';
import { GatewayError } from '../../inference/gateway-error.ts';
import { StreamEvent } from '../../platform/frames.ts';
import { createSseFrameReader } from '../../platform/sse/sse-frame-reader.ts';
import { createFakeExchange } from '../attempts/exchange/testing/fake-exchange.ts';
import type { ClientReply } from './client-reply.ts';
import { createEventSink } from './connection-sink.ts';

const { voice } = chatDialects['openai-responses'];
const head = { 'content-type': 'text/event-stream' };

function start() {
  const { response } = createFakeExchange({ dialect: chatDialects['openai-responses'], framing: 'sse' });
  const sink = createEventSink({ callId: 'req_1', response: response as unknown as ClientReply, voice, framing: 'sse' });
  return { sink, response };
}

test('frames of an upstream pass byte for byte, including comments and line ends', () => {
  const body = ': a comment\r\n\r\nevent:a\r\ndata:{ "x" : 1 }\r\n\r\ndata: {"y":\ndata: 2}\n\n';
  const frames = createSseFrameReader({ frameBytesMax: 1000 }).push(Buffer.from(body));
  for (const pieces of [frames.map((frame) => [frame]), [frames]]) {
    const { sink, response } = start();
    sink.begin(head);
    for (const some of pieces) sink.take(some);
    assert.equal(response.text(), body);
  }
  const bytes = frames.reduce((sum, { bytes: { length } }) => sum + length, 0);
  const { sink } = start();
  assert.equal(
    frames.reduce((sum, frame) => sum + sink.sizeOf(frame), 0),
    bytes,
  );
});

test('the gateway’s own events are written as an event stream, also among frames of an upstream', () => {
  const { sink, response } = start();
  const own = new StreamEvent('response.created', '{"type":"response.created"}');
  const [frame] = createSseFrameReader({ frameBytesMax: 1000 }).push(Buffer.from('data:{}\n\n'));
  assert.ok(frame);
  sink.begin(head);
  sink.take([own, own]);
  sink.take([frame, own]);
  const written = 'event: response.created\ndata: {"type":"response.created"}\n\n';
  assert.equal(response.text(), `${written}${written}data:{}\n\n${written}`);
});

test('a failure is a status before the reply begins, and the dialect’s last event after it', () => {
  const early = start();
  early.sink.fail(new GatewayError('upstream_connection_error', 'it broke'));
  assert.equal(early.response.status, 503);
  const late = start();
  late.sink.begin(head);
  late.sink.fail(new GatewayError('upstream_connection_error', 'it broke'), { framesSent: 3 });
  assert.equal(late.response.status, 200);
  assert.match(late.response.text(), /^event: error\ndata: .*"sequence_number":3/);
  assert.equal(late.response.writableEnded, true);
});

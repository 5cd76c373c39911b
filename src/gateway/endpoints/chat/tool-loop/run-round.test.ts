import assert from 'node:assert/strict';
import { test } from 'node:test';

import { GatewayError } from '../../../../inference/gateway-error.ts';
import type { InferenceEvent } from '../../../../inference/inference-event.ts';
import { RoundSink } from './run-round.ts';

const broken = new GatewayError('upstream_connection_error', 'it broke');
const word: InferenceEvent = { type: 'delta', index: 0, text: 'hi' };

function start() {
  const received: unknown[] = [];
  const sink = new RoundSink({
    head: (headers) => received.push(headers),
    events: (events) => {
      received.push(...events);
      return false;
    },
    ended: (error) => received.push(error ?? 'ended'),
    abandoned: () => received.push('abandoned'),
  });
  sink.onClose(() => received.push('closed'));
  return { sink, received };
}

test('a successful round passes its head, its events and its end', () => {
  const { sink, received } = start();
  sink.setHeader('x-a', '1');
  sink.begin({ 'x-b': '2' });
  assert.equal(sink.take([word]), false);
  let hasRoom = false;
  sink.onRoom(() => (hasRoom = true));
  sink.resume();
  sink.end();
  sink.fail(broken);
  assert.deepEqual(received, [{ 'x-a': '1', 'x-b': '2' }, word, 'ended', 'closed']);
  assert.deepEqual([hasRoom, sink.isDelivered, sink.isGone], [true, true, false]);
});

test('a failure is reported once', () => {
  const { sink, received } = start();
  sink.fail(broken);
  sink.fail(new GatewayError('internal_error', 'once more'));
  assert.deepEqual(received, [broken, 'closed']);
});

test('nothing passes after the reader has left', () => {
  const { sink, received } = start();
  sink.leave();
  sink.fail(broken);
  sink.takeWhole({}, [word]);
  assert.deepEqual(received, ['closed']);
  assert.equal(sink.isGone, true);
});

test('a round that the exchange aborts reports that', () => {
  const { sink, received } = start();
  sink.destroy();
  sink.destroy();
  assert.deepEqual(received, ['closed', 'abandoned']);
});

test('an HTTP status, which a round cannot have, is a failure', () => {
  const { sink, received } = start();
  sink.answer(418);
  assert.ok(received[0] instanceof GatewayError);
});

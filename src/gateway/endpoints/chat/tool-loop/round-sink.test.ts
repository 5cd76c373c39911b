import assert from 'node:assert/strict';
import { test } from 'node:test';

import { GatewayError } from '../../../../inference/gateway-error.ts';
import type { InferenceEvent } from '../../../../inference/inference-event.ts';
import { RoundSink } from './round-sink.ts';

const broken = new GatewayError('upstream_connection_error', 'it broke');
const word: InferenceEvent = { type: 'delta', index: 0, text: 'hi' };

function start() {
  const heard: unknown[] = [];
  const sink = new RoundSink({
    head: (headers) => heard.push(headers),
    events: (events) => {
      heard.push(...events);
      return false;
    },
    ended: (error) => heard.push(error ?? 'ended'),
    givenUp: () => heard.push('given up'),
  });
  sink.onClose(() => heard.push('closed'));
  return { sink, heard };
}

test('a round that goes well passes its head, its events and its end', () => {
  const { sink, heard } = start();
  sink.setHeader('x-a', '1');
  sink.begin({ 'x-b': '2' });
  assert.equal(sink.take([word]), false);
  let hasRoom = false;
  sink.onRoom(() => (hasRoom = true));
  sink.resume();
  sink.end();
  sink.fail(broken);
  assert.deepEqual(heard, [{ 'x-a': '1', 'x-b': '2' }, word, 'ended', 'closed']);
  assert.deepEqual([hasRoom, sink.isDelivered, sink.isGone], [true, true, false]);
});

test('a failure is reported once', () => {
  const { sink, heard } = start();
  sink.fail(broken);
  sink.fail(new GatewayError('internal_error', 'once more'));
  assert.deepEqual(heard, [broken, 'closed']);
});

test('nothing passes after the reader has left', () => {
  const { sink, heard } = start();
  sink.leave();
  sink.fail(broken);
  sink.takeWhole({}, [word]);
  assert.deepEqual(heard, ['closed']);
  assert.equal(sink.isGone, true);
});

test('a round that the exchange aborts reports that', () => {
  const { sink, heard } = start();
  sink.destroy();
  sink.destroy();
  assert.deepEqual(heard, ['closed', 'given up']);
});

test('a status, which a round cannot have, is a failure', () => {
  const { sink, heard } = start();
  sink.answer(418);
  assert.ok(heard[0] instanceof GatewayError);
});

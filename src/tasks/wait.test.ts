import assert from 'node:assert/strict';
import { getEventListeners } from 'node:events';
import { test } from 'node:test';

import { waitByTimer, withinTime, WorkTimeoutError } from './wait.ts';

const never = new AbortController().signal;

test('a wait ends after its time or with its signal, and leaves no timer', async () => {
  const controller = new AbortController();
  await waitByTimer(1, controller.signal);
  const waiting = waitByTimer(60_000, controller.signal);
  controller.abort();
  await waiting;
  await waitByTimer(60_000, controller.signal);
  assert.equal(getEventListeners(controller.signal, 'abort').length, 0);
});

test('work is limited in time, whether or not it observes the signal', async () => {
  assert.equal(await withinTime(waitByTimer, { ms: 60_000, signal: never }, async () => 5), 5);
  await assert.rejects(
    withinTime(waitByTimer, { ms: 60_000, signal: never }, () => Promise.reject(new RangeError('its own'))),
    RangeError,
  );
  let heard: unknown;
  const deaf = withinTime(waitByTimer, { ms: 5, signal: never }, (signal) => {
    signal.addEventListener('abort', () => (heard = signal.reason));
    return new Promise(() => {});
  });
  await assert.rejects(deaf, WorkTimeoutError);
  assert.ok(heard instanceof WorkTimeoutError);
  const outer = new AbortController();
  const stopped = withinTime(waitByTimer, { ms: 60_000, signal: outer.signal }, () => new Promise(() => {}));
  outer.abort(new Error('closing'));
  await assert.rejects(stopped, /closing/);
  await assert.rejects(
    withinTime(waitByTimer, { ms: 60_000, signal: outer.signal }, async () => 5),
    /closing/,
  );
  assert.equal(getEventListeners(outer.signal, 'abort').length, 0);
});
